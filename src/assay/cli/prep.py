"""`assay prep`: games shrunk to their results, as Ordoprep does."""

from __future__ import annotations

from typing import Any

import click

from assay.cli.options import Command, print_data, stacked, tell
from assay.cli.switches import FILE, Number, as_warned, counting, flag, input_files, input_options
from assay.errors import RatingError


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@input_options
@stacked(
    click.option("-o", "--output", type=FILE, metavar="FILE",
                 help="Write the games here instead of to the screen."),
    flag("-d", "--no-perfects", text="Leave out players with only wins or only losses."),
    click.option("-g", "-M", "--min-games", type=click.IntRange(0), default=0, metavar="NUM",
                 help="Leave out players with fewer games."),
    click.option("-m", "--min-perf", type=Number(0, 100), default=0.0, metavar="NUM",
                 help="Leave out players who scored less than NUM %."),
    flag("--major-only", text="Keep only the largest group that games connect."),
    click.option("--groups", type=FILE, metavar="FILE",
                 help="Write which players the games that are kept connect."),
)  # fmt: skip
def prep(**switches: Any) -> None:
    """Shrink games to their results, and leave out players that cannot be rated well.

    The output is PGN without moves, in the order of the input: White, Black and Result, and what tells openings (FEN,
    ECO, Opening, Variation), time controls and terminations. Rules are applied until nothing changes, for without the
    games of one player another may fall below a limit. What was left out is told on stderr.

    \b
    Examples:
      assay prep games.pgn.zst -o results.pgn
      assay prep -d -g 20 -m 5 -p raw.pgn -o shrunk.pgn
      assay prep --major-only *.pgn | assay results -W -D -
    """
    from assay import shrink

    if not (switches["files"] or switches["pgn"] or switches["pgn_list"]):
        raise RatingError("there is no input: name a file of games ('assay prep -h' tells more).")
    if switches["include"] and switches["exclude"]:
        raise RatingError("-i and -x cannot be used together: leave out one of them.")
    names = ("no_perfects", "min_games", "major_only")
    with as_warned(switches):
        answer = shrink(
            input_files(switches),
            **{name: switches[name] for name in names},
            min_percent=switches["min_perf"],
            **counting(switches),
        )
    if switches["groups"]:
        answer.groups.write_text(switches["groups"], "table")
    if switches["output"]:
        answer.write_text(switches["output"], "table")
    else:
        print_data(answer.pgn)
    tell(answer.remarks)
