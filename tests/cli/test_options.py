"""Options that have one name have one meaning: one help text and one type on all commands."""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Iterator

import click
import pytest

from assay.cli.main import COMMANDS
from assay.presets import DEEP, QUICK

# Where a word has two meanings that people know from elsewhere: the command, and why.
OTHERWISE = {
    ("report", "--format"): "what kind of file is written",
    ("review", "--format"): "a game, too",
    ("event", "--format"): "what kind of file is written",
    ("show", "--format"): "the listing of the papers, too",
    ("screen", "--rating"): "a file of ratings, too",
    ("match", "--watch"): "a file that grows",
    ("match", "--every"): "a file of one's own may be looked at more often",
    ("fetch", "--analysed"): "by the service",
    ("simulate", "--store"): "analyses are kept only if asked for",
    ("policy gather", "--without"): "games of a file, not a number",
    ("analyse", "--lines"): "a number or all of them",
    ("analyse", "--limit"): "games, not pawns",
    ("simulate", "--games"): "games to play",
    ("simulate", "--s"): "once for each player",
    ("simulate", "--c"): "once for each player",
    ("chances", "--pool"): "whose ratings are asked for",
    ("chances", "--top"): "moves, not time controls",
    ("chances", "--ply"): "any position of a file",
    ("chances", "--policy"): "a network",
    ("screen", "--by"): "a row for each player, too",
    ("rate", "--by"): "a row for each player, too",
}
# These are choices of their own for each command, or settings of another thing: only the help texts are alike.
ANY_TYPE = {"--by", "--out"}
# Ordo's own switches keep the meaning they have in Ordo; settings of two kinds of training have names in common.
ORDO = {"results", "prep"}
TRAINING = {"train", "policy train"}
OWN = {"--method", "--model", "--prior", "--elo", "--name", "--games", "--min-turns", "--patience"}


def all_commands() -> Iterator[tuple[str, click.Command]]:
    for section in COMMANDS.values():
        for name, (module, function, _) in section.items():
            found = getattr(importlib.import_module(f"assay.cli.{module}"), function)
            if isinstance(found, click.Group):
                yield from ((f"{name} {each}", command) for each, command in found.commands.items())
            else:
                yield name, found


def said(option: click.Option, name: str) -> tuple[str, ...]:
    kind = "any" if name in ANY_TYPE else repr(option.type)
    return (option.help or "", kind, str(option.multiple), str(option.is_flag))


def test_options_of_one_name_are_one_option() -> None:
    found: dict[str, dict[tuple[str, ...], list[str]]] = defaultdict(lambda: defaultdict(list))
    for command, each in all_commands():
        for param in each.params:
            for name in param.opts:
                skip = (
                    (command, name) in OTHERWISE or (command in TRAINING | ORDO and name not in SHARED) or name in OWN
                )
                if isinstance(param, click.Option) and name.startswith("--") and not skip:
                    found[name][said(param, name)].append(command)
    twice = {name: dict(ways) for name, ways in found.items() if len(ways) > 1}
    assert not twice


SHARED = {
    "--depth", "--quick", "--deep", "--engine", "--store", "--workers", "--player", "--without", "--aliases", "--where",
    "--format", "--wide", "--keep-duplicates", "--seed", "--out",
}  # fmt: skip


@pytest.mark.parametrize(
    ("commands", "options"),
    [
        ("ipr posterior screen review report", "--store --depth --quick --deep --engine --workers --no-analysis"),
        (
            "analyse fit difference show export-turns calibrate encode simulate chances serve",
            "--depth --quick --deep",
        ),
        ("fit calibrate ipr", "--method --model --curve --k --cap --tie --scale --engine"),
        ("serve import-analyses analyse", "--engine --store"),
        ("ipr posterior screen results prep", "--aliases"),
        (
            "index stats filter balance analyse encode ipr posterior screen report fit show difference calibrate",
            "--where",
        ),
        ("results prep guess planes", "--where"),
        ("index calibrate export-analyses report train encode simulate", "-o --out"),
    ],
)
def test_commands_that_ask_the_same_ask_it_in_the_same_words(commands: str, options: str) -> None:
    known = dict(all_commands())
    for command in commands.split():
        has = {name for param in known[command].params for name in param.opts}
        assert set(options.split()) <= has, command


def depth_asked(command: str, *words: str) -> int | None:
    """What depth a command takes its words to ask for."""
    context = dict(all_commands())[command].make_context(command, list(words))
    return context.params["depth"]


@pytest.mark.parametrize(
    ("command", "words"),
    [("fit", ["g.pgn"]), ("analyse", ["g.pgn"]), ("show", ["g.pgn"]), ("simulate", ["--elo", "1500", "-o", "g.pgn"])],
)
def test_a_preset_is_its_depth_wherever_a_depth_is_asked_for(command: str, words: list[str]) -> None:
    assert depth_asked(command, *words) is None
    assert depth_asked(command, *words, "--depth", "7") == 7
    assert depth_asked(command, *words, "--quick") == QUICK
    assert depth_asked(command, *words, "--deep") == DEEP


@pytest.mark.parametrize("command", ["fit", "rate"])
@pytest.mark.parametrize("both", [["--quick", "--deep"], ["--deep", "--depth", "6"]])
def test_two_depths_are_wrong_usage(command: str, both: list[str]) -> None:
    with pytest.raises(click.UsageError, match="exclude each other"):
        depth_asked(command, "g.pgn", *both)


def test_every_table_can_be_had_wide_and_as_data() -> None:
    for command, each in all_commands():
        has = {name for param in each.params for name in param.opts}
        assert ("--wide" in has) == ("--format" in has) or command == "report", command
