"""The commands on games: fetch, index, month, stats, filter, balance, sample."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import (
    FILE,
    Command,
    Shared,
    band_width_option,
    draw_plots,
    files_argument,
    is_quiet,
    keep_duplicates_option,
    out_folder_option,
    out_option,
    plots_option,
    print_answer,
    print_data,
    say,
    seed_option,
    selection_of,
    selection_options,
    table_options,
    tell,
    where_option,
)
from assay.table import counted

if TYPE_CHECKING:
    from assay.games.listings import IndexTable


out_pgn_option = Shared("--out-pgn", type=FILE, metavar="FILE", help="Write the games there.")
movetext_option = click.option("--movetext", is_flag=True, help="Keep the text of the games too (Parquet only).")


@click.command(cls=Command)
@files_argument
@out_option.but(metavar="INDEX.parquet|INDEX.csv")
@where_option
@movetext_option
@table_options
def index(files: tuple[str, ...], out: Path, where: str | None, movetext: bool) -> None:
    """Make an index of PGN files: one row per game with its tags, typed, and where its bytes are.

    FILE is PGN, plain or packed (.zst, .gz, .bz2, .xz, .zip), a folder of such files, - for stdin, or another index. An
    index is a table that any tool reads. Every command takes it in the place of the games; 'assay stats', 'filter' and
    'balance' work on it alone and go back to the games only to write them.

    What is damaged is read as far as it goes and counted by reason; the exit code is then 1.

    \b
    Examples:
      assay index games.pgn.zst -o games.parquet
      assay index tournaments/ club.pgn -o all.parquet
      zstdcat games.pgn.zst | assay index - -o games.parquet --movetext
    """
    from assay import index as make_index

    _print_index(make_index(files, out, where=where, movetext=movetext, quiet=is_quiet()))


def _print_index(answer: IndexTable) -> None:
    """What was indexed; damage of whole files ends with exit code 1."""
    print_answer(answer)
    answer.refuse_damage()


@click.command(cls=Command)
@click.argument("month", metavar="YYYY-MM")
@out_folder_option
@click.option("--url", metavar="URL", help="Where the archives are.  [default: https://database.lichess.org/standard]")
@movetext_option
@click.option("--pgn", is_flag=True, help="Unpack the games beside the archive, too (.pgn).")
@click.option("--csv", is_flag=True, help="Write the index as CSV, too.")
@table_options
def month(month: str, out: Path, **options: Any) -> None:
    """Fetch the standard rated games of a month from Lichess and index them.

    The index is NAME_index.parquet beside NAME.pgn.zst, with --csv also NAME_index.csv. A broken download goes on where
    it stopped, in this run and in the next; the archive is checked against the published SHA-256. What is there already
    is used as it is. A recent month has about 90 million games in 30 GB.

    \b
    Examples:
      assay month 2013-01 -o lichess
      assay month 2013-01 -o lichess --pgn --csv
      assay month 2018-06 -o lichess --url https://mirror.example.org/lichess
    """
    from assay import month as fetch_month

    _print_index(fetch_month(month, out, quiet=is_quiet(), **options))


@click.command(cls=Command)
@files_argument
@where_option
@plots_option
@click.option(
    "--top", type=click.IntRange(1, 10**9), default=20, show_default=True, help="Time controls in the text tables."
)
@keep_duplicates_option
@table_options
def stats(files: tuple[str, ...], plots: Path | None, **options: Any) -> None:
    """Count games by rating band and time control.

    A game belongs to the band of its players' average rating, [600,700) to [3000,3100); games whose players differ
    by more than two bands are dropped, and all drops are counted by reason. With --plots: rating_hist.png,
    time_control.png, rating_tc_heatmap_pct.png and rating_tc_heatmap_log.png.

    \b
    Examples:
      assay stats games.parquet
      assay stats *.parquet --where 'speed == "blitz"' --plots pictures
    """
    from assay import stats as count

    answer = count(files, **options)
    draw_plots(answer, plots)  # first: whoever reads only the first lines of the tables (`| head`) wants them, too
    print_answer(answer)


@click.command(cls=Command)
@files_argument
@where_option
@selection_options
@click.option("--count-only", is_flag=True, help="Print the number of games alone.")
@click.option("--preview", type=click.IntRange(0, 10**9), metavar="N", help="Print the first N games, tags and moves.")
@out_pgn_option
@keep_duplicates_option
@table_options
def filter(
    files: tuple[str, ...],
    where: str | None,
    exclude_team: bool,
    max_swiss: float | None,
    archive: tuple[str, ...],
    count_only: bool,
    preview: int | None,
    out_pgn: Path | None,
    keep_duplicates: bool,
) -> None:
    """Count, show or write the games for which a condition holds.

    --exclude-team and --max-swiss N leave out what Regan and Haworth leave out: games between teams, as far as the
    names of events tell, and events with more than N players a round, counted in the files and in --archive.

    EXPR is written like Python, over the columns of the index: comparisons (1900 <= white_elo < 2000), and, or, not,
    in, + - * / // %, abs(x), startswith(text, "..."), contains(text, "..."), is None. A comparison with a missing
    value does not hold, except !=. Nothing in it is ever run as a program.

    \b
    Columns:
      source start_offset end_offset event site date round white black result white_elo black_elo
      white_title black_title white_rating_diff black_rating_diff time_control base_seconds
      increment_seconds speed termination eco opening variant plies has_clock has_eval fen variation;
      and avg_elo, the mean of both ratings

    The games are written byte for byte as they stand in the files, which must not have changed since.

    \b
    Examples:
      assay filter games.parquet --where 'white_elo >= 1900 and result == "1-0" and has_clock' --count-only
      assay filter games.parquet --where 'abs(white_elo - black_elo) < 50 and speed in ("blitz", "rapid")' --preview 5
      assay filter games.parquet --where 'startswith(opening, "Sicilian") and plies > 40' --out-pgn sicilians.pgn
      assay filter games.parquet --exclude-team --max-swiss 6 --archive all.parquet --out-pgn chosen.pgn
    """
    from assay import choose

    selection = selection_of(exclude_team, max_swiss, archive)
    if where is None and selection is None:
        raise click.UsageError("give --where EXPR, --exclude-team or --max-swiss N.")
    answer = choose(
        files,
        where=where,
        selection=selection,
        preview=preview,
        count_only=count_only,
        out_pgn=out_pgn,
        keep_duplicates=keep_duplicates,
        quiet=is_quiet(),
    )
    if count_only:
        say(answer.games)
    if preview is not None or not count_only:
        print_answer(answer)
    else:
        tell(answer.remarks)


@click.command(cls=Command)
@files_argument
@click.option("--per-band", type=click.IntRange(1, 10**12), required=True, metavar="N", help="Games from each band.")
@out_pgn_option.but(required=True)
@band_width_option
@where_option
@seed_option
@keep_duplicates_option
@table_options
def balance(files: tuple[str, ...], per_band: int, out_pgn: Path, **options: Any) -> None:
    """Draw the same number of games from every rating band, or all where there are fewer.

    A game belongs to the band of its players' average rating from 600 up; games whose players differ by more than two
    bands are left out. The games are drawn over the whole of the files and written in their order.

    \b
    Examples:
      assay balance games.parquet --per-band 500 --out-pgn balanced.pgn
      assay balance games.parquet --per-band 100 --band-width 200 --where 'speed == "rapid"' --seed 7 --out-pgn r.pgn
    """
    from assay import balance as draw

    answer = draw(files, per_band, out_pgn, quiet=is_quiet(), **options)
    print_answer(answer)


@click.command(cls=Command)
@out_folder_option
@table_options
def sample(out: Path) -> None:
    """Write the sample games that come with Assay into a folder.

    The six games of the match Kasparov - Deep Blue (1997), and a simulated event of 15 games in which one player was
    helped, with the truth about it. The tutorials (docs/tutorials) use them.

    \b
    Examples:
      assay sample
      assay sample -o samples
    """
    from assay import samples

    print_answer(samples(out))


@click.command(cls=Command)
@click.argument("sources", nargs=-1, metavar="SOURCE...")
@out_option.but(required=False)
@click.option("--since", metavar="DATE", help="Games begun on this day or later (2024, 2024-03 or 2024-03-31).")
@click.option("--until", metavar="DATE", help="Games begun on this day or earlier.")
@click.option("--max", "max", type=click.IntRange(1, 10**9), metavar="N", help="The newest N games of each source.")
@click.option("--speed", metavar="SPEED", help="bullet, blitz, rapid, classical, correspondence; with commas, several.")
@click.option("--rated/--casual", "rated", default=None, help="Only rated games, or only casual ones.")
@click.option("--color", type=click.Choice(["white", "black"]), help="Only games with these pieces.")
@click.option("--vs", metavar="NAME", help="Only games against this opponent.")
@click.option("--analysed", is_flag=True, default=None, help="Only games that the service has analysed.")
@click.option("--forget", is_flag=True, help="Remove what is kept of these accounts, or of all; fetch nothing.")
@table_options
def fetch(sources: tuple[str, ...], out: Path | None, forget: bool, **wanted: Any) -> None:
    """Fetch games from Lichess or chess.com, by a name or a link.

    SOURCE is lichess:USER, lichess:USER/rapid, chess.com:USER, or a link: to a profile, game, study, Swiss, arena,
    broadcast tournament or round of Lichess, to a profile or game of chess.com. Every command takes the same words in
    the place of a FILE; 'lichess:USER?max=50&since=2024' asks for less there. Evals and clocks come along.

    One request at a time. What was fetched of an account is kept by month: the second time only new games are asked
    for. A broken download goes on where it stopped. Without -o the games are printed.

    \b
    Examples:
      assay fetch lichess:DrNykterstein --max 50 -o games.pgn
      assay fetch chess.com:Hikaru --since 2024-01 --speed blitz,rapid --rated -o hikaru.pgn
      assay fetch https://lichess.org/broadcast/name/round/AbCdEfGh -o round.pgn
      assay ipr 'lichess:DrNykterstein/rapid?max=20'
      assay fetch --forget lichess:DrNykterstein
    """
    from assay import fetch_games
    from assay import forget as forget_accounts

    def told(text: str) -> None:
        say(f"assay: {text}", err=True)

    if forget:
        for account, count in forget_accounts(*sources).items():
            told(f"forgot {account} ({counted(count, 'file')}).")
        return
    if not sources:
        raise click.UsageError("Missing argument 'SOURCE...'.")
    answer = fetch_games(*sources, out=out, quiet=is_quiet(), told=told, **wanted)
    games = answer.texts
    if out is not None and games:
        print_answer(answer)
    else:
        for game in games:
            print_data(game.decode("utf-8", "replace").rstrip("\n") + "\n\n")
        if not is_quiet():
            tell(answer.remarks)
    answer.refuse_damage()
