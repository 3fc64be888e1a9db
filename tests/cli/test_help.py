"""The help of every command: purpose, options with a text, examples that are right, files, exit status, see also."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from assay.cli.main import COMMANDS, Sections, assay
from assay.cli.options import FOOT

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def every_command() -> Iterator[tuple[str, click.Command]]:
    root = Sections("assay")
    for name in (name for section in COMMANDS.values() for name in section):
        command = root.get_command(click.Context(root), name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", each) for inner, each in command.commands.items())
        else:
            yield name, command


ALL = dict(every_command())


def help_of(name: str) -> str:
    command, context = assay, click.Context(assay, info_name="assay", max_content_width=100)
    for word in name.split():
        assert isinstance(command, click.Group)
        command = command.get_command(context, word) or pytest.fail(f"no command {word}")
        context = click.Context(command, context, info_name=word, max_content_width=100)
    return command.get_help(context)


def examples(text: str) -> list[str]:
    """The commands of the examples: indented lines that begin with `assay`, or have it behind a `;` or `|`."""
    block = re.search(r"^  Examples:\n((?:    .*\n)+)", text, re.MULTILINE)
    lines = block.group(1).splitlines() if block else []
    parts = [part.strip() for line in lines for part in re.split(r"[;|] ", line)]
    return [part for part in parts if part.startswith("assay ")]


@pytest.mark.parametrize("name", ALL)
def test_the_help_of_a_command_is_whole(name: str) -> None:
    text = help_of(name)
    assert examples(text)
    assert "Exit status:" in text
    assert f"docs/{FOOT[name].page}.md" in text
    # The first sentence says what the command does, on a line of its own paragraph.
    assert re.search(r"^  [A-Z].*[.:,]", text, re.MULTILINE)


@pytest.mark.parametrize("name", ALL)
def test_every_option_has_a_text(name: str) -> None:
    silent = [
        param.name
        for param in ALL[name].params
        if isinstance(param, click.Option) and not re.sub(r"\[default:.*?\]", "", param.help or "").strip()
    ]
    assert not silent


def unknown(words: list[str]) -> set[str]:
    """What of a command line Assay does not know: the command, or options of it."""
    called = next((known for known in (" ".join(words[:2]), words[0]) if known in ALL), None)
    if called is None:
        return {words[0]} - {known.split()[0] for known in ALL}
    options = {option for param in ALL[called].params for option in (*param.opts, *param.secondary_opts)}
    given = {word.split("=")[0] for word in words if re.match(r"--\w", word)}
    return given.union(word[:2] for word in words if re.match(r"-[A-Za-z]", word)) - options


@pytest.mark.parametrize("name", ["", *ALL])
def test_the_examples_name_commands_and_options_that_exist(name: str) -> None:
    for example in examples(help_of(name)):
        assert not unknown(shlex.split(re.sub(r" > \S+$", "", example.split("   ")[0]))[1:]), example


def test_the_foot_leads_to_commands_and_pages_that_exist() -> None:
    assert set(FOOT) == set(ALL)
    for foot in FOOT.values():
        assert set(foot.see) <= set(ALL)
        assert (DOCS / f"{foot.page}.md").is_file()


def told(page: Path) -> Iterator[list[str]]:
    """The words of each `assay ...` of a page, in its blocks and in its lines."""
    text = page.read_text(encoding="utf-8")
    blocks, fence = [], re.compile(r"^```.*\n((?s:.*?))^```$", re.MULTILINE)
    for block in fence.findall(text):
        lines = block.replace("\\\n", " ").splitlines()
        found = [re.match(r"(?:\$ )?(?:\S*[/\\])?(assay [\w-].*)", line) for line in lines]
        blocks += [part for each in found if each for part in re.split(r" [|;] | && ", each[1])]
    inline = [" ".join(code.split()) for code in re.findall(r"`(assay [^`]+)`", fence.sub("", text))]
    for line in (*blocks, *inline):
        words = shlex.split(line, comments=True)
        if words[0] == "assay" and not words[1].startswith("-") and words[1] != "COMMAND":
            yield words[1:]


@pytest.mark.parametrize("page", sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")]), ids=lambda page: page.stem)
def test_the_commands_of_a_page_are_those_of_today(page: Path) -> None:
    for words in told(page):
        assert not unknown(words), words
