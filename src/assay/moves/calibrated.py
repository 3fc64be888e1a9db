"""Calibrations as answers: shown and told in words, made, transferred to another engine; and which engine has which."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.curve import Estimate
from assay.engine.identity import Search, find, installed
from assay.engine.local import identify
from assay.engine.store import Store
from assay.errors import EngineError, OutputError
from assay.games import Games
from assay.games.selection import GameSelection
from assay.games.stream import Paths
from assay.manifest import describe_inputs
from assay.moves.by_fit import rated_games
from assay.moves.calibrating import make_calibration
from assay.moves.calibration import POOL, Calibration, for_engine, load, save, slug
from assay.moves.calibration import shipped as shipped_calibrations
from assay.moves.choice.model import Model
from assay.moves.fits import PROJECTED, Fitting
from assay.moves.reference import read as read_reference
from assay.moves.transfer import SHIPPED, pair, shipped_turns, transferred, value_turns
from assay.paths import File, own_calibrations, store_place
from assay.policy.chances import Network, open_network, shipped
from assay.presets import DEEP, DEFAULT_DEPTH, QUICK
from assay.records import dataclass
from assay.table import Answer, Table, columns_of

MARK_COLUMNS = (
    *("period", "elo", "games", "turns", "s", "s_error", "c", "c_error", "c_fit", "s_fit", "mm_predicted", "mm_actual"),
    *("ad_predicted", "ad_actual", "qfit", "ae_r", "ae_printed", "ipr", "ipr_error"),
)
_MARK_WIDE = ("s", "s_error", "c_error", "mm_predicted", "ad_predicted", "qfit", "ipr_error")
_PRINT_WIDE = ("turns", "ae_r", "ae_printed", "ipr")
TRANSFER_COLUMNS = (
    *("model", "games", "turns", "apart", "apart_error", "apart_per_400", "apart_per_400_error", "untouched"),
    *("untouched_error", "untouched_per_400", "untouched_per_400_error"),
)
_TRANSFER_WIDE = ("apart_per_400_error", "untouched_per_400", "untouched_per_400_error")
MOST = 8
NAMES = {"engine": "Values alone", "policy": "With the policy"}


@dataclass(frozen=True, eq=False, kw_only=True)
class CalibrationTable(Answer):
    """A calibration: its marks as a table, what identifies it in words above; `calibration` is it."""

    calibration: Calibration
    values: NDArray[np.float64] | None = None

    def save(self, path: File | None = None) -> Path:
        """Write it, for `calibration=` of later ratings: to a file, or to where it is found without being named."""
        place = own_calibrations() / f"{self.calibration.name}.json" if path is None else Path(path)
        if path is None:
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise OutputError(f"cannot make the folder {place.parent}: {error.strerror or error}.") from error
        save(self.calibration, self.values, place)
        return place


def calibrated(found: Calibration, values: NDArray[np.float64] | None = None) -> CalibrationTable:
    """A calibration as an answer; the estimates are the ratings of its marks."""
    if said := found.figures.get("transfer"):
        rows = [{"model": kind} | dict(figures) for kind, figures in said.items()]
        decimals = dict.fromkeys(TRANSFER_COLUMNS, 0)
        shown = Table(rows, columns_of(TRANSFER_COLUMNS, decimals=decimals, wide=_TRANSFER_WIDE))
        return CalibrationTable(calibration=found, values=values, shown=shown, head=describe(found))
    names = [name for name in MARK_COLUMNS if any(mark.get(name) is not None for mark in found.marks)]
    decimals = {name: 3 for name in names if name[0] in "sc" or name.startswith(("mm", "ad"))}
    decimals |= {"qfit": 3, "ae_r": 4, "ae_printed": 4, "ipr": 0, "ipr_error": 0}
    # Print is shown as it was printed; of a calibration made here what its line rests on stands first.
    wide = _PRINT_WIDE if found.published else _MARK_WIDE if "s_fit" in names else ()
    columns = columns_of(names, decimals=decimals, titles=PROJECTED, wide=wide)
    marks = {str(mark["elo"]): (mark.get("ipr"), mark.get("ipr_error")) for mark in found.marks}
    return CalibrationTable(
        calibration=found,
        values=values,
        shown=Table(found.marks, columns),
        head=describe(found),
        estimates={
            name: Estimate(ipr, ipr - 1.96 * error, ipr + 1.96 * error)
            for name, (ipr, error) in marks.items()
            if ipr is not None and error is not None
        },
    )


def calibration(name: str | None = None, *, depth: int | None = None) -> CalibrationTable:
    """A calibration as a table, as `assay calibration show` prints it; without a name that of the depth.

    >>> import assay
    >>> assay.calibration("rybka-3-d13").calibration.depth
    13
    """
    return calibrated(load(name, depth=depth))


def transfer(
    engine: str,
    *,
    reference: File | None = None,
    name: str | None = None,
    store: File | None = None,
    depth: int | None = None,
    turns: int | None = None,
    policy: Network | bool | str = True,
    workers: int | None = None,
    seed: int = 1,
    quiet: bool = True,
    told: Callable[[str], None] | None = None,
) -> CalibrationTable:
    """Make a calibration for an engine that has none, as `assay calibrate --engine PATH --transfer` does.

    The engine values 4,320 positions that come with Assay (or a `reference` set; `turns` takes the first of them), what
    the `store` has costs nothing, and the model of Stockfish 15.1 is fitted anew to its values. The table tells how far
    apart the two are on held-out games.

    >>> import assay
    >>> assay.transfer("no-such-engine", store="nowhere.db")
    Traceback (most recent call last):
        ...
    assay.errors.EngineError: no chess engine 'no-such-engine' found: give a path, or a name on PATH.
    """
    base = load(depth=depth or DEFAULT_DEPTH)
    found = read_reference(Path(reference), base.depth) if reference else shipped_turns(base.depth)
    found = found.first(turns) if turns else found
    place = store_place(store)
    outcome = value_turns(
        found, Search(engine, depth=base.depth, lines=base.lines), place, workers=workers, quiet=quiet
    )
    identity = outcome.identity
    with Store(place) as opened:
        paired = pair(found, opened, identity, base.depth)
    network = open_network(policy) if isinstance(policy, str) else shipped() if policy is True else policy or None
    made = transferred(
        paired,
        base,
        name=name or slug(identity.engine, base.depth),
        network=network,
        inputs=list(describe_inputs(sorted(Path(reference or SHIPPED).glob("*.parquet")))),
        seed=seed,
        told=told or (lambda text: None),
    )
    remarks = [f"Set aside after three tries ({position.why}): {position.fen}" for position in outcome.set_aside]
    return replace(calibrated(made), remarks=remarks)


def calibrations() -> Answer:
    """The calibrations that come with Assay, as `assay calibration list` prints them.

    >>> import assay
    >>> "stockfish-15.1-d8" in assay.calibrations().table["name"]
    True
    """
    rows = []
    for name in shipped_calibrations():
        found = load(name)
        figures = found.figures.get("policy", found.figures.get("engine", {}))
        rows.append(
            {
                "name": name,
                "engine": found.engine,
                "depth": found.depth,
                "lines": found.lines,
                "games": found.games or None,
                "turns": found.turns or None,
                "noise": figures.get("noise"),
                "line": f"{found.line.intercept:.0f} - {found.line.slope:.0f} AE" if found.line else None,
            }
        )
    names = ("name", "engine", "depth", "lines", "games", "turns", "noise", "line")
    return Answer(shown=Table(rows, columns_of(names, decimals={"noise": 0})))


ENGINE_COLUMNS = ("engine", "program", "net", "calibration", "off", "quick", "quick_off", "deep", "deep_off", "note")


def engines(programs: Sequence[str] = ()) -> Answer:
    """The chess engines of this machine, and `programs`, with the calibration each would use: `assay engines`.

    >>> import assay
    >>> assay.engines(["no-such-engine"]).table["note"][0]
    "no chess engine 'no-such-engine' found: give a path, or a name on PATH."
    """
    rows = engine_rows([*programs, *installed()])
    if not rows:
        find()  # says how to install one
    columns = columns_of(
        ENGINE_COLUMNS,
        decimals=dict.fromkeys(("off", "quick_off", "deep_off"), 0),
        below=("note",),
        wide=("net", "quick", "quick_off", "deep", "deep_off"),
    )
    return Answer(shown=Table(rows, columns))


def engine_rows(programs: Sequence[str]) -> list[dict[str, Any]]:
    """What each program says that it is, and which calibrations its analyses would be judged by."""
    rows: list[dict[str, Any]] = []
    asked = set[tuple[str, ...]]()
    for program in programs:
        row: dict[str, Any] = {"engine": None, "program": program, "note": ""}
        try:
            command = find(program)
            if command in asked:
                continue
            asked.add(command)
            identity = asyncio.run(identify(Search(program)))
        except EngineError as error:
            rows.append(row | {"note": str(error)})
            continue
        row |= {"engine": identity.engine, "net": identity.net}
        for prefix, wanted in (("", DEFAULT_DEPTH), ("quick", QUICK), ("deep", DEEP)):
            judge = for_engine(identity, wanted)
            off = judge.stand_in.off if judge.stand_in else None
            row |= {prefix or "calibration": judge.name, f"{prefix}_off".strip("_"): off}
        rows.append(row)
    return rows


def calibrate(
    what: Paths | Games,
    *,
    name: str = "calibration",
    store: File | None = None,
    depth: int | None = None,
    marks: Sequence[int] = range(1600, 2701, 100),
    within: float = 20.0,
    method: str = "equations",
    engine: Sequence[str] | str | None = None,
    policy: Network | bool | str = True,
    seed: int = 1,
    keep_duplicates: bool = False,
    where: str | None = None,
    selection: GameSelection | None = None,
    told: Callable[[str], None] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> CalibrationTable:
    """Calibrate the scale from moves to Elo on rated games that are analysed already, as `assay calibrate` does.

    `method` and `settings` (model, curve, k, cap, tie, scale) are for Regan's part. Several engines are a jury, which
    has Regan's part alone. `selection` leaves out team events and large Swisses, as the papers do.

    `.save(path)` of the answer writes a file that `calibration=` takes elsewhere. docs/rating.md explains the rest.

    >>> import assay
    >>> assay.calibrate(assay.SAMPLE, store="nowhere.db")
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    from_move, depth = 9, depth or DEFAULT_DEPTH
    found = rated_games(
        what,
        depth,
        store_place(store),
        engine=engine,
        marks=marks,
        within=within,
        from_move=from_move,
        keep_duplicates=keep_duplicates,
        where=where,
        selection=selection,
    )
    remarks = list(found.remarks)
    if found.engines > 1:
        remarks.append("A jury has no choice model, which needs one engine: this calibration is for --method regan.")
    network = open_network(policy) if isinstance(policy, str) else shipped() if policy is True else policy or None
    made, values = make_calibration(
        found.turns,
        found.identity,
        depth,
        name=name,
        network=network,
        choice=found.engines == 1,
        fitting=Fitting(method=method, **settings or {}),  # type: ignore[arg-type]
        from_move=from_move,
        settings=found.settings,
        exclusions=found.excluded,
        inputs=found.inputs,
        seed=seed,
        told=told or (lambda text: None),
    )
    return replace(calibrated(made, values), remarks=remarks)


def describe(found: Calibration) -> str:
    """Lines for a reader."""
    lines = [f"Calibration {found}; net {found.net or 'none'}"]
    if found.games:
        lines.append(f"{found.games:,} games, {found.turns:,} turns")
    if selected := found.settings.get("selection"):
        lines.append(f"Games selected: {selected}")
    for name, figures in found.figures.items():
        if name == "transfer":
            lines += ["", *(_transfer(NAMES[kind], said) for kind, said in figures.items())]
        else:
            lines += ["", *_figures(NAMES.get(name, name), figures, found.models[name])]
    if found.models:
        lines += ["", *_model(found.model())]
        pool = found.pools[POOL]
        lines += ["", f"Ratings of slow games over the board, {pool.low:.0f} to {pool.high:.0f}"]
    if found.line is not None:
        lines += [
            "",
            f"Regan's way: IPR = {found.line.intercept:.0f} - {found.line.slope:.0f} x AE_R "
            f"(misfit {found.line.misfit:.2f}), c = {found.c_at_2000:.4f} at 2000, {found.c_per_100:+.4f} per 100 Elo",
        ]
    if found.scale is not None:
        how = found.fitting
        lines.append(
            f"  {how.method} fits, {how.model} rule, {how.curve} curve, {how.scale} scale with k {how.k:g}, cap "
            f"{how.cap:g}, tie {how.tie:g}"
        )
        if found.scale.layers is not None:
            layers = found.scale.layers
            each = zip(layers.depths, layers.weights.tolist(), strict=True)
            lines.append(f"  weights over depths: {', '.join(f'{weight:.2f} of {depth}' for depth, weight in each)}")
    if found.published:
        lines.append(f"Published, for reading: {found.made['source']}")
    return "\n".join(lines)


def _transfer(name: str, figures: Mapping[str, Any]) -> str:
    """How far a transferred model is from the one that it was transferred from."""
    return (
        f"{name}, on {figures['turns']:,} turns of {figures['games']} games held out: {figures['apart']:+.0f} "
        f"± {figures['apart_error']:.0f} Elo from Stockfish 15.1 at 2200, {figures['apart_per_400']:+.0f} "
        f"± {figures['apart_per_400_error']:.0f} for each 400 above; without the transfer {figures['untouched']:+.0f} "
        f"± {figures['untouched_error']:.0f}"
    )


def _figures(name: str, figures: Mapping[str, Any], model: Model) -> list[str]:
    marks = ", ".join(f"{mark['elo']} {mark['offset']:+.0f} ± {mark['error']:.0f}" for mark in figures["marks"])
    k, mix = model.scatter.factors, model.scatter.weights
    return [
        f"{name}, on {figures['turns']:,} turns of players held out: noise {figures['noise']:.0f} "
        f"± {figures['noise_error']:.0f} Elo a turn, slope {figures['slope']:.3f} ± {figures['slope_error']:.3f}, "
        f"ln p {figures['log_likelihood']:.4f}, best foretold {figures['top1']:.1%}",
        f"  marks off by {marks}",
        f"  intervals: power {model.honesty.power:.2f}, error of the scale {model.honesty.scale_error:.0f} Elo",
        f"  screening: real games scatter {k[0]:.2f}, {k[1]:.2f}, {k[2]:.2f} times as much as the model's matches, "
        f"top-3 and errors; z of {mix[0]:.2f}, {mix[1]:.2f} and {mix[2]:.2f} of each",
    ]


def _model(model: Model) -> list[str]:
    """The features that count most: a standard deviation more multiplies the odds of a move by exp of these."""
    lines = []
    for words, weights in (
        ("What draws people to a move, at 2200 (log-odds for a standard deviation more)", model.taste.a),
        ("What 400 Elo more change", model.taste.b),
    ):
        order = sorted(range(len(weights)), key=lambda at: -abs(weights[at]))[:MOST]
        lines.append(words)
        lines += [f"  {weights[at]:+.2f}  {model.names[at]}" for at in order]
    return lines
