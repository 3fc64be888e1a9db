"""`assay prep`: games shrunk to their results, as Ordoprep does."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click

from assay.cli.options import Command, print_data, say, stacked, tell_duplicates
from assay.cli.switches import FILE, Number, flag, input_options, read_input
from assay.errors import RatingError
from assay.table import counted, described


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
    from assay.paths import atomic
    from assay.results.encounters import connect, select, tabulate
    from assay.results.ordo import group_report

    if not (switches["files"] or switches["pgn"] or switches["pgn_list"]):
        raise RatingError("there is no input: name a file of games ('assay prep -h' tells more).")
    if switches["include"] and switches["exclude"]:
        raise RatingError("-i and -x cannot be used together: leave out one of them.")
    found = read_input(switches, lambda text: None)
    if found.duplicates is not None:
        tell_duplicates(found.duplicates)
    kept = select(
        found.white,
        found.black,
        found.outcome,
        len(found.players),
        no_perfects=switches["no_perfects"],
        min_games=switches["min_games"],
        min_percent=switches["min_perf"],
        major_only=switches["major_only"],
    )
    white, black, outcome = (column[kept.games] for column in (found.white, found.black, found.outcome))
    if not len(outcome):
        raise RatingError("nothing is left: no game fulfils all conditions.")
    text = "".join(found.written(kept.games))
    if switches["groups"]:
        table = tabulate(white, black, outcome, len(found.players))
        with atomic(switches["groups"]) as part:
            part.write_text(group_report(found.players, table, connect(table)), encoding="utf-8")
    if switches["output"]:
        with atomic(switches["output"]) as part:
            part.write_text(text, encoding="utf-8")
    else:
        print_data(text)
    players = {
        "a perfect score": kept.perfect,
        "too few games": kept.few_games,
        "too low a score": kept.low_percent,
        "outside the largest group": kept.other_groups,
    }
    gone = {why: int(who.sum()) for why, who in players.items() if who.any()}
    reasons = Counter(found.skipped)
    reasons['without a result ("*")'] = found.unfinished
    reasons["occurs again"] = 0 if found.duplicates is None else len(found.duplicates)
    told = [f"{len(outcome):,} of {counted(len(found.outcome), 'game')} kept"]
    told += [f"players left out: {described(gone)}"] if gone else []
    told += [f"games left out: {described(+reasons)}"] if +reasons else []
    say(f"{'; '.join(told)}.", err=True)
