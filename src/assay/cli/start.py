"""The commands of a first hour: demo, doctor."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from assay.cli.options import Command, out_folder_option, print_answer, say, table_options
from assay.errors import EngineError

MATCH, EVENT = "kasparov-deep-blue-1997.pgn", "simulated-event.pgn"
# What is shown: a sentence, and the words of a command. Real analyses, small enough for two minutes on two cores.
WITH_ENGINE = (
    ("Kasparov - Deep Blue, New York 1997: one rating for each side", f"rate {MATCH} --quick"),
    ("The same from the moves alone", f"ipr {MATCH} --quick"),
    ("A simulated event: whose moves are unusual for the rating?", f"screen {EVENT}"),
    ("The report", f"report {EVENT} -o demo.html"),
)
WITHOUT = (
    ("Kasparov - Deep Blue, New York 1997: one rating for each side", f"rate {MATCH}"),
    ("A simulated event: ratings from its results", f"results {EVENT}"),
)
STORED = {"rate", "ipr", "screen", "report"}


@click.command(cls=Command)
@out_folder_option.but(default=Path("assay-demo"))
@click.pass_context
def demo(ctx: click.Context, out: Path) -> None:
    """Show what Assay does, on the sample games that come with it.

    Writes the samples into a folder, rates the match Kasparov - Deep Blue by results, moves and the learned model,
    screens a simulated event in which one player was helped (simulated-event.manifest.json has the truth), and writes
    a report to open in a browser. The commands are shown as they are run. Takes a minute or two with a chess engine;
    without one, what can be said without.

    \b
    Examples:
      assay demo
      assay demo -o samples
    """
    from assay import engines, samples

    samples(out)
    steps: Sequence[tuple[str, str]] = WITH_ENGINE
    try:
        engines()
    except EngineError as error:
        say(f"Without a chess engine, moves cannot be judged. {error}", err=True)
        steps = WITHOUT
    for sentence, line in steps:
        words = [str(out / word) if "." in word else word for word in line.split()]
        if words[0] in STORED:
            words += ["--store", str(out / "demo.db")]
        say(f"\n== {sentence}\n$ assay {shlex.join(words)}")
        ctx.find_root().command.main(args=words, prog_name="assay", standalone_mode=False)
    if steps is WITH_ENGINE:
        say(f"\nOpen {(out / 'demo.html').absolute()} in a browser.")
    say("Now your own: assay rate GAMES.pgn, assay report GAMES.pgn, or lichess:NAME for a file. More: assay --help")


@click.command(cls=Command)
@table_options
def doctor() -> None:
    """Say what is installed, whether it works, and what to do where it does not.

    Looks at chess engines (each is started and asked), calibrations, learned models, the extras, a browser for PDF,
    cores, and the folder for analyses. What lacks is no error; the exit status is 1 where something is broken.

    \b
    Examples:
      assay doctor
      assay doctor --format json
    """
    from assay import doctor as look

    answer = look()
    print_answer(answer)
    answer.refuse_damage()
