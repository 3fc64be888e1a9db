"""The commands of the analysis: analyse, analyses, export-analyses, import-analyses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from assay.cli.options import (
    Command,
    depth_options,
    engine_option,
    files_argument,
    from_move_option,
    is_quiet,
    likely_option,
    one_engine,
    out_option,
    print_answer,
    say,
    store_option,
    table_options,
    tell,
    where_option,
    workers_option,
)
from assay.presets import ALL_LINES, ALL_MOVES_TO


def _lines(ctx: click.Context, param: click.Parameter, value: str) -> int:
    """A number of lines, or `all`."""
    if value == "all":
        return ALL_LINES
    if not value.isdecimal() or len(value) > 9 or int(value) < 1:
        raise click.BadParameter(f"{value!r} is neither a number from 1 on nor 'all'.")
    return min(int(value), ALL_LINES)


@click.command(cls=Command)
@files_argument
@store_option
@engine_option
@depth_options
@click.option(
    "--lines", callback=_lines, default="50", show_default=True, metavar="N|all", help="Moves to value, best first."
)
@click.option(
    "--nodes", type=click.IntRange(1), help="Limit each search to so many nodes; there is then no depth but one given."
)
@workers_option
@click.option("--hash", "hash_mb", type=click.IntRange(1), default=16, show_default=True, help="Hash table, in MB.")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="Another option of the engine; part of the identity.",
)
@likely_option
@click.option("--cluster", metavar="ADDRESS", help="Run on this Dask cluster; 'local' starts one here.")
@from_move_option
@where_option
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Take only the first N games.")
@click.option(
    "--patience",
    type=click.FloatRange(0.1),
    metavar="SECONDS",
    help="Silence after which an engine counts as hung.  [default: 20 times the longest search, at least 10]",
)
def analyse(
    files: Sequence[str],
    engines: Sequence[str],
    depth: int | None,
    nodes: int | None,
    options: Sequence[str],
    calibration: str | None,
    **asked: Any,
) -> None:
    """Value every move of the games' positions with a chess engine.

    Takes PGN (also .zst, .gz, .bz2, .zip, - for stdin, folders, index files) and stores the value of every move at
    every depth for each distinct position from move 9 on. Positions with a single legal move, positions that occurred
    before in their game and positions that a shallow look finds decided (more than 5 pawns) are left out.

    What the store holds already costs nothing: run the same command again after an interruption, or with more games,
    and it goes on with the rest. A second engine, depth or width lives beside the first in the same store.

    \b
    Examples:
      assay analyse tournament.pgn
      assay analyse games.pgn.zst --store club.db --depth 12 --workers 4
      assay analyse games.pgn --where 'white_elo >= 2400 and black_elo >= 2400' --limit 100
      assay analyse games.pgn --engine stockfish --engine ethereal
      assay analyse games.pgn --cluster tcp://192.168.1.10:8786
    """
    from assay import store_analyses

    if calibration and (nodes or (depth is not None and depth <= ALL_MOVES_TO)):
        raise click.UsageError("--likely goes deeper than --quick with some moves: give a greater --depth alone.")
    try:
        store_analyses(
            files,
            engine=engines,
            depth=depth,
            nodes=nodes,
            options=[_named(option) for option in options],
            likely=bool(calibration),
            quiet=is_quiet(),
            told=lambda text: say(text, err=True),
            **asked,
        )
    except KeyboardInterrupt:
        say("\nWhat was finished is stored. Run the same command again to go on.", err=True)
        raise


def _named(option: str) -> tuple[str, str]:
    name, equals, value = option.partition("=")
    if not equals or name in ("Threads", "MultiPV", "Hash"):
        raise click.UsageError(f"--option {option!r}: expected NAME=VALUE, and not Threads, MultiPV or Hash.")
    return name.strip(), value.strip()


@click.command(cls=Command)
@engine_option
@table_options
def engines(engines: Sequence[str]) -> None:
    """List the chess engines on this machine, and which calibration each would use.

    Looks on PATH and in the usual places for programs that are called like engines, and asks each for its name, version
    and net. A row for each: the calibration of the default depth, by how much it may be off where it is another
    engine's, and those of --quick and --deep. 'assay calibrate --engine PATH --transfer' makes one for any engine.

    \b
    Examples:
      assay engines
      assay engines --engine 'node node_modules/stockfish/bin/stockfish-19-single.js'
    """
    from assay import engines as list_engines

    print_answer(list_engines(engines))


@click.command(cls=Command)
@store_option
@click.option("--mend", is_flag=True, help="First take out what is damaged; 'assay analyse' makes it anew.")
@table_options
def analyses(store: Path | None, mend: bool) -> None:
    """List what an analysis store holds.

    One row per analysis (engine, net, options, limits): the depths that its positions reach, the number of positions
    valued and of those left out as forced or decided, and the games whose positions are all there.

    \b
    Examples:
      assay analyses
      assay analyses --store club.db --format json
      assay analyses --store club.db --mend
    """
    from assay import analyses as list_analyses

    print_answer(list_analyses(store, mend=mend))


@click.command(cls=Command)
@store_option
@out_option.but("--output", metavar="FILE.parquet|FILE.jsonl[.zst|.gz]")
def export_analyses(store: Path | None, out: Path) -> None:
    """Write a store as Parquet or JSON lines, by the name of the output.

    One row or object per position: fen, engine, limit, moves, scores by depth. The schema is in docs/analysis.md.

    \b
    Examples:
      assay export-analyses --store club.db -o club.parquet
      assay export-analyses -o all.jsonl.zst
    """
    from assay import export_analyses as write

    tell(write(out, store=store, quiet=is_quiet()).remarks)


@click.command(cls=Command)
@files_argument
@store_option
@engine_option
@click.option("--engine-name", metavar="NAME", help="Who made the rows that name no engine; they are not compared.")
def import_analyses(files: Sequence[str], store: Path | None, engines: Sequence[str], engine_name: str | None) -> None:
    """Read analyses from Parquet or JSON lines (also .zst, .gz) into a store.

    Rows that name no engine are recognised: a few of their positions are analysed again with the engine here, and if
    every value agrees, they are its analyses. A depth that the store has already is not replaced.

    \b
    Examples:
      assay import-analyses club.parquet --store mine.db
      assay import-analyses old.jsonl --engine-name 'Rybka 3'
    """
    from assay import import_analyses as take_in

    take_in(
        files,
        store=store,
        engine=one_engine(engines),
        engine_name=engine_name,
        quiet=is_quiet(),
        told=lambda text: say(text, err=True),
    )
