"""The commands of calibrations: calibrate, calibration show, calibration list."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.common import (
    Command,
    OneOf,
    each_once,
    format_option,
    keep_duplicates_option,
    print_table,
    say,
    store_option,
)
from assay.paths import default_store

if TYPE_CHECKING:
    from assay.moves.calibration import Calibration


def _marks(ctx: click.Context, param: click.Parameter, value: str) -> range:
    """`1600:2700:100` as a range, both ends taken."""
    parts = value.split(":")
    if len(parts) != 3 or not all(part.isdecimal() for part in parts) or int(parts[2]) < 1:
        raise click.BadParameter(f"{value!r} is not FIRST:LAST:STEP, such as 1600:2700:100.")
    first, last, step = map(int, parts)
    return range(first, last + 1, step)


@click.command(cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@store_option
@click.option(
    "--depth", type=click.IntRange(1, 60), default=10, show_default=True, help="Depth of the analyses, in plies."
)
@click.option("--mileposts", callback=_marks, default="1600:2700:100", show_default=True, help="The marks.")
@click.option("--within", type=click.FloatRange(1), default=20, show_default=True, help="Points from a mark, at most.")
@click.option(
    "--method",
    type=OneOf("assay.moves.regan.problem", "CRITERIA"),
    default="percentile",
    show_default=True,
    help="How s and c are fitted at each mark.",
)
@click.option("--engine", metavar="NAME", help="Whose analyses, where the store holds several engines'.")
@click.option("--name", help="Name of the calibration.  [default: that of the output file]")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the resampling.")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="CALIBRATION.json",
    help="Where to write it.",
)
@keep_duplicates_option
@format_option
def calibrate(
    files: Sequence[str],
    store: Path | None,
    depth: int,
    mileposts: range,
    within: float,
    method: Any,
    engine: str | None,
    name: str | None,
    seed: int,
    output: Path,
    keep_duplicates: bool,
    format: str,
) -> None:
    """Calibrate the scale from error to Elo on rated, analysed games.

    Takes the games whose players are both within --within points of the same mark, fits s and c at each mark, lays the
    artery c(Elo) through them, refits s, projects the marks on one fixed reference set of positions, and regresses the
    average error on Elo. On the same games it measures how much real play scatters beyond the model, so that intervals
    and screening hold. The games must be analysed before ('assay analyse'); turns that are not are left out.

    A calibration belongs to one engine, version, depth and width, and refuses analyses of any other. Smaller depths
    come from the same analyses: run again with --depth.

    \b
    Examples:
      assay analyse rated.pgn.zst --store rated.db
      assay calibrate rated.pgn.zst --store rated.db -o mine.json
      assay calibrate rated.pgn.zst --store rated.db --depth 8 -o mine-d8.json
      assay ipr tournament.pgn --calibration mine.json
    """
    from assay.engine.store import Store
    from assay.engine.turns import turns as build
    from assay.games.stream import find_files
    from assay.manifest import describe_inputs
    from assay.moves.analysed import read_all
    from assay.moves.calibrating import make_calibration
    from assay.moves.calibration import save
    from assay.moves.regan.difficulty import lesser_depths

    from_move, limit = 9, 3.0
    paths = find_files(list(files))
    games = each_once(read_all(files), keep_duplicates)
    with Store(store or default_store()) as opened:
        turns = build(
            games,
            opened,
            depth=depth,
            from_move=from_move,
            limit=limit,
            engine=engine,
            lesser=lesser_depths(depth),
        )
    calibration, values = make_calibration(
        turns,
        name=name or output.name.removesuffix(".json"),
        marks=mileposts,
        within=within,
        method=method,
        from_move=from_move,
        limit=limit,
        inputs=describe_inputs(path for path in paths if path != "-"),
        seed=seed,
    )
    save(calibration, values, output)
    _print_calibration(calibration, format)
    say(f"Written to {output}.", err=True)


@click.group(cls=click.Group)
def calibration() -> None:
    """Show calibrations: how an average error becomes Elo.

    \b
    Examples:
      assay calibration list
      assay calibration show --depth 8
    """


@calibration.command("show", cls=Command)
@click.argument("name", required=False)
@click.option("--depth", type=click.IntRange(1, 60), help="The default calibration at this depth.")
@click.option(
    "--plots", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Write plots of it here, too."
)
@format_option
def calibration_show(name: str | None, depth: int | None, plots: Path | None, format: str) -> None:
    """Print a calibration: its marks, its line, and what identifies it.

    NAME is one that comes with Assay or the path of a file; without it, the default. 'rybka-3-d13' is the published
    calibration of Regan and Haworth (2011), for reading the papers.

    \b
    Examples:
      assay calibration show
      assay calibration show --depth 8 --plots out
      assay calibration show rybka-3-d13
      assay calibration list
    """
    from assay.moves.calibration import load

    found = load(name, depth=depth)
    _print_calibration(found, format)
    if plots is not None:
        from assay.reports.plots import plot_calibration

        for path in plot_calibration(found, plots):
            say(f"Written: {path}", err=True)


@calibration.command("list", cls=Command)
@format_option
def calibration_list(format: str) -> None:
    """List the calibrations that come with Assay.

    \b
    Examples:
      assay calibration list
      assay calibration list --format json
    """
    from assay.moves.calibration import load, shipped

    rows = []
    for name in shipped():
        found = load(name)
        rows.append(
            {
                "name": name,
                "engine": found.engine,
                "depth": found.depth,
                "lines": found.lines,
                "games": found.games or None,
                "turns": found.turns or None,
                "line": f"{found.line.intercept:.0f} - {found.line.slope:.0f} AE",
            }
        )
    print_table(rows, ["name", "engine", "depth", "lines", "games", "turns", "line"], format=format)


MARK_COLUMNS = (
    *("elo", "games", "turns", "s", "s_error", "c", "c_error", "c_fit", "s_fit", "mm_predicted", "mm_actual"),
    *("ad_predicted", "ad_actual", "qfit", "ae_r", "ipr", "ipr_error"),
)


def _print_calibration(found: Calibration, format: str) -> None:
    """The table of the marks on stdout; in text, what identifies the calibration around it."""
    columns = [name for name in MARK_COLUMNS if any(mark.get(name) is not None for mark in found.marks)]
    if format != "table":
        print_table(list(found.marks), columns, format=format)
        return
    for line in _description(found):
        say(line)
    say()
    decimals = {name: 3 for name in columns if name[0] in "sc" or name.startswith(("mm", "ad"))}
    print_table(list(found.marks), columns, decimals=decimals | {"ae_r": 4, "ipr": 0, "ipr_error": 0})


def _description(found: Calibration) -> list[str]:
    """What identifies a calibration and what it measured, in lines."""
    line = found.line
    lines = [
        f"Calibration {found}; net {found.net or 'none'}",
        f"IPR = {line.intercept:.0f} - {line.slope:.0f} x AE_R (misfit {line.misfit:.2f})",
        f"Artery: c = {found.c_at_2000:.4f} at 2000, {found.c_per_100:+.4f} per 100 Elo",
    ]
    scale = found.scale
    if scale is None:
        return [*lines, f"Published, for reading: {found.made['source']}"]
    k, r, w, v = scale.factors, scale.correlation, scale.weights, scale.screening_weights
    covers = zip((50, 80, 95), found.coverage, strict=True)
    shares = ", ".join(f"{level} % interval covers {share:.0%}" for level, share in covers)
    hard = ", ".join(f"{name} {match:+.3f} {error:+.3f}" for name, match, error in scale.difficulty.strongest(4))
    errors = ", ".join(f"{elo}: {line.variance(elo) ** 0.5:.0f}" for elo in (1600, 2000, 2400, 2700))
    return [
        *lines,
        f"{found.games:,} games, {found.turns:,} turns",
        f"Real games against the model: k {k[0]:.2f} for matches, {k[1]:.2f} for top-3, {k[2]:.2f} for errors",
        f"Difficulty, a standard deviation more adds to matches and errors: {hard}",
        f"Correlation of z's: matches-errors {r[0, 2]:.2f}, matches-top-3 {r[0, 1]:.2f}, top-3-errors {r[1, 2]:.2f}",
        f"Rating: {w[0]:.2f} matches + {w[1]:.2f} top-3 + {w[2]:.2f} errors; prior games {scale.prior_games:.0f}",
        f"Screening: {v[0]:.2f} matches + {v[1]:.2f} top-3 + {v[2]:.2f} errors",
        f"Posterior: power {scale.power:.2f} (on held-out games: {shares})",
        f"Standard error of the scale itself: {errors}",
    ]
