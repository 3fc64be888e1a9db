"""The foot of every help text: files, exit status, and where to read on. One table for all commands."""

from __future__ import annotations

from dataclasses import dataclass

import click

_STORE = ("analyses.db", "the analysis store, in the user's data folder; --store names another")
EXIT = (
    ("0", "the job was done"),
    ("1", "it could not be done; one sentence on stderr says why, and what to do"),
    ("2", "wrong usage"),
    ("130", "interrupted; what was finished is kept"),
)
ENVIRONMENT = (
    ("ASSAY_HOME", "the data folder, in place of the system's usual one (docs/install.md)"),
    ("PATH", "where engines are looked for first"),
)


@dataclass(frozen=True)
class Foot:
    """What stands below the options of a command: related commands, the page of the documentation, files, and what an
    exit status of 1 may mean besides."""

    see: tuple[str, ...]
    page: str
    files: tuple[tuple[str, str], ...] = ()
    failure: str = ""


FOOT = {
    "index": Foot(
        ("stats", "filter", "balance", "month"),
        "games",
        (("INDEX", "Parquet or CSV; its columns are in docs/data-format.md"),),
        "or: the index was written, but a file is damaged",
    ),
    "month": Foot(("index", "stats"), "games", (("DIR", "the archive, its index, and a .part while it is fetched"),)),
    "stats": Foot(("index", "filter", "balance"), "games"),
    "filter": Foot(("index", "stats", "balance"), "games"),
    "balance": Foot(
        ("index", "stats", "filter"), "games", (("FILE.manifest.json", "how the games were drawn, and from what"),)
    ),
    "sample": Foot(("ipr", "screen", "results", "guess"), "index"),
    "analyse": Foot(("analyses", "ipr", "fit", "export-analyses"), "analysis", (_STORE,)),
    "analyses": Foot(("analyse", "export-analyses"), "analysis", (_STORE,)),
    "export-analyses": Foot(("import-analyses", "analyse"), "analysis", (_STORE,)),
    "import-analyses": Foot(("export-analyses", "analyse"), "analysis", (_STORE,)),
    "fit": Foot(("analyse", "show", "difference", "calibrate", "ipr"), "model", (_STORE,)),
    "show": Foot(("fit", "posterior", "report"), "model", (_STORE,)),
    "difference": Foot(("fit", "analyse"), "model", (_STORE,)),
    "simulate": Foot(
        ("fit", "ipr", "screen"), "model", (("F.manifest.json", "the truth about the games; kept beside F.pgn"),)
    ),
    "ipr": Foot(("screen", "posterior", "report", "calibration show"), "rating", (_STORE,)),
    "posterior": Foot(("ipr", "show", "guess"), "rating", (_STORE,)),
    "screen": Foot(("ipr", "show", "report"), "screening", (_STORE,)),
    "calibrate": Foot(("analyse", "calibration show", "ipr"), "rating", (_STORE,)),
    "calibration show": Foot(("calibrate", "calibration list", "ipr"), "rating"),
    "calibration list": Foot(("calibration show", "calibrate"), "rating"),
    "results": Foot(("prep", "index", "ipr"), "results"),
    "prep": Foot(("results", "filter"), "results"),
    "guess": Foot(("posterior", "ipr", "train"), "learned"),
    "planes": Foot(("encode", "guess"), "learned"),
    "encode": Foot(("train", "evaluate", "filter"), "learned", (("DATASET", "shards and a manifest"),)),
    "train": Foot(
        ("encode", "evaluate", "guess"), "learned", (("RUN", "weights, settings, metrics, checkpoint, pictures"),)
    ),
    "evaluate": Foot(("train", "guess"), "learned"),
    "policy gather": Foot(
        ("policy label", "policy train", "filter"), "policy", (("POSITIONS", "blocks of rows, labels, a manifest"),)
    ),
    "policy label": Foot(("policy gather", "policy train"), "policy", (("POSITIONS", "labels are added to it"),)),
    "policy train": Foot(
        ("policy gather", "policy label", "policy export"),
        "policy",
        (("RUN", "checkpoint.npz, policy.npz, curve.csv"),),
    ),
    "policy export": Foot(("policy train",), "policy"),
    "report": Foot(("serve", "ipr", "screen"), "report", (_STORE,)),
    "serve": Foot(("report",), "web", (_STORE, ("jobs/", "jobs and their reports, in the data folder, or --jobs"))),
}


def write_foot(ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the foot of a command's help."""
    foot = FOOT.get(ctx.command_path.partition(" ")[2])
    if foot is None:
        return
    if foot.files:
        with formatter.section("Files"):
            formatter.write_dl(foot.files)
    with formatter.section("Exit status"):
        failure = f"{EXIT[1][1]}{f'; {foot.failure}' if foot.failure else ''}"
        formatter.write_dl([(code, failure if code == "1" else text) for code, text in EXIT])
    with formatter.section("See also"):
        commands = ", ".join(f"assay {name}" for name in foot.see)
        formatter.write_text(f"{commands}; docs/{foot.page}.md")
