"""The command `assay`: the table of commands, loaded when called, and the place where errors become sentences."""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import click

from assay import __version__
from assay.cli.options import ENVIRONMENT, EXIT, say
from assay.errors import AssayError, AssayWarning

# command: (module in assay.cli, function, one line of help), by section. A new command needs a line here and a
# function in the file of its room; nothing is imported until the command is called.
COMMANDS: dict[str, dict[str, tuple[str, str, str]]] = {
    "The answer": {
        "rate": ("answer", "rate", "Rate players by results, moves and the learned model together."),
        "compare": ("answer", "compare", "Tell how far two players, or parts of one's games, are apart."),
    },
    "First steps": {
        "demo": ("reports", "demo", "Show what Assay does, on the sample games that come with it."),
        "doctor": ("reports", "doctor", "Say what is installed, whether it works, and what to do."),
    },
    "Games": {
        "index": ("games", "index", "Make an index of PGN files: one typed row per game."),
        "month": ("games", "month", "Fetch a month of Lichess games and index it."),
        "stats": ("games", "stats", "Count games by rating and time control, with plots."),
        "filter": ("games", "filter", "Count, show or write the games for which a condition holds."),
        "balance": ("games", "balance", "Draw the same number of games from every rating band."),
        "fetch": ("games", "fetch", "Fetch games from Lichess or chess.com, by a name or a link."),
        "players": ("event", "players", "List who plays in some games, with ids, spellings and ratings."),
        "ratings": ("event", "ratings", "Take in FIDE's rating lists, for --rating fide."),
        "sample": ("games", "sample", "Write the sample games that come with Assay into a folder."),
    },
    "Analysis": {
        "analyse": ("analysis", "analyse", "Value every move of the games' positions with a chess engine."),
        "engines": ("analysis", "engines", "List the engines on this machine and their calibrations."),
        "analyses": ("analysis", "analyses", "List what an analysis store holds."),
        "export-analyses": ("analysis", "export_analyses", "Write a store as Parquet or JSON lines."),
        "import-analyses": ("analysis", "import_analyses", "Read analyses from Parquet or JSON lines into a store."),
    },
    "Ratings from moves": {
        "fit": ("model", "fit", "Fit the model of a fallible player to games: the paper's table."),
        "show": ("model", "show", "Show a game turn by turn, as the model sees it."),
        "export-turns": ("model", "export_turns", "Write analysed turns for other programs."),
        "difference": ("model", "difference", "Average difference between the moves played and the engine's."),
        "simulate": ("model", "simulate", "Play a tournament among agents of known strength."),
        "ipr": ("moves", "ipr", "Rate players by their moves, with intervals."),
        "posterior": ("moves", "posterior", "Follow the rating through one game, move by move."),
        "screen": ("moves", "screen", "Compare players' moves with what is expected of their ratings."),
        "calibrate": ("model", "calibrate", "Calibrate the scale from error to Elo on rated games."),
        "calibration": ("model", "calibration", "Show calibrations: how an average error becomes Elo."),
    },
    "Ratings from results": {
        "results": ("results", "results", "Rate players from the results of their games, as Ordo does."),
        "match": ("event", "match", "Tell how a match of two players stands: Elo, pairs, a sequential test."),
        "event": ("event", "event", "Show the table of an event: points, performances, changes of ratings."),
        "prep": ("results", "prep", "Shrink games to their results and leave out what cannot be rated."),
    },
    "Learned ratings": {
        "guess": ("learned", "guess", "Guess both players' ratings from the moves, move by move."),
        "planes": ("learned", "planes", "Show what the learned rating reads of a move."),
        "encode": ("learned", "encode", "Encode games into a dataset."),
        "train": ("learned", "train", "Train a model on a dataset."),
        "evaluate": ("learned", "evaluate", "Judge a trained model on games it has not seen."),
    },
    "What people play": {
        "chances": ("policy", "chances", "Tell what people of some ratings would play in a position."),
        "policy": ("policy", "policy", "Make a policy: a network that foretells what people play."),
    },
    "Reports": {
        "review": ("reports", "review", "Review a game: accuracy, mistakes, critical moments, annotated PGN."),
        "report": ("reports", "report", "Write a report on some games: HTML, PDF, CSV, JSON, annotated PGN."),
        "serve": ("reports", "serve", "Open a page in the browser: give a name or a PGN, read the report."),
    },
}


class Sections(click.Group):
    """A group that knows its commands by name and loads each when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in the order of the table."""
        return [name for section in COMMANDS.values() for name in section]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Load a command by its name."""
        for section in COMMANDS.values():
            if name in section:
                module, function, _ = section[name]
                command: click.Command = getattr(importlib.import_module(f"assay.cli.{module}"), function)
                return command
        return None

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What holds for all commands, and where to read on."""
        for title, rows in (("Environment", ENVIRONMENT), ("Exit status", EXIT)):
            with formatter.section(title):
                formatter.write_dl(rows)
        with formatter.section("See also"):
            formatter.write_text("assay COMMAND --help; the tutorials and all pages: docs/index.md")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is called; a wrong name is told with the nearest one."""
        if args and args[0] not in self.list_commands(ctx):
            from difflib import get_close_matches

            near = get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"there is no command {args[0]!r}.{hint} 'assay --help' lists them.")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands of the help text, section by section."""
        for title, section in COMMANDS.items():
            if section:
                with formatter.section(title):
                    formatter.write_dl([(name, text) for name, (_, _, text) in section.items()])


@click.group(cls=Sections, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="assay")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def assay(debug: bool) -> None:
    """How strong is this chess play? Ratings from results, from moves, and learned, with error bars.

    Games are PGN: .pgn, .pgn.zst, .pgn.gz, .pgn.bz2, .zip, folders of these, - for stdin. Tables print as text, CSV or
    JSON (--format). Progress and remarks go to stderr, results to stdout.

    \b
    Examples:
      assay demo                                    see it work, on games that come with it
      assay rate games.pgn                          how well did they play?
      assay results games.pgn                       ratings from results alone, as Ordo does
      assay screen tournament.pgn                   whose moves are unusual for the rating?
      assay report tournament.pgn -o event.html     all of it in one file to open and mail
      assay index games.pgn.zst -o games.parquet    a table of a whole archive
    """


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    say(f"assay: warning: {message}", err=True)


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line; end with 0 (done), 1 (a sentence says why not), 2 (wrong usage) or 130 (interrupted)."""
    words = list(sys.argv[1:] if args is None else args)
    if args is None:
        # Whoever is asked to end winds up, too: engines are ended, half-written files removed.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        # Loading a command makes many objects that stay: to look for garbage among them takes longer than a small list.
        gc.set_threshold(50_000, 20, 20)
        # Registered first, so run last: what is left at the end goes with the process.
        atexit.register(gc.freeze)
    # One thread for the linear algebra: the matrices are small, and idle threads cost more than all the work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    debug = "--debug" in words
    warnings.simplefilter("always", AssayWarning)
    warnings.showwarning = _show_warning
    try:
        code = assay.main(args=words, prog_name="assay", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.Exit as error:
        sys.exit(error.exit_code)
    except click.UsageError as error:
        text = io.StringIO()
        error.show(text)
        say(text.getvalue(), err=True, nl=False)
        sys.exit(2)
    except click.ClickException as error:
        _fail(error.format_message(), debug)
    except (KeyboardInterrupt, click.Abort):
        say("assay: interrupted.", err=True)
        sys.exit(130)
    except AssayError as error:
        _fail(str(error), debug)
    except BrokenPipeError:
        # The reader of our output went away (`assay ... | head`); that is no error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except OSError as error:
        where = f" {error.filename}" if error.filename else ""
        _fail(f"the system refused{where}: {error.strerror or error}.", debug)
    except MemoryError:
        _fail("not enough memory for this job on this machine.", debug)
    except Exception as error:
        _fail(
            f"this is a bug in Assay: {type(error).__name__}: {error}. Run again with --debug and report it.",
            debug,
        )


def _fail(sentence: str, debug: bool) -> None:
    if debug:
        import traceback

        for line in traceback.format_exc().splitlines():
            say(line, err=True)
    say(f"assay: {sentence}", err=True)
    sys.exit(1)
