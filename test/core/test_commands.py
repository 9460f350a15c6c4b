# SPDX-License-Identifier: Apache-2.0
"""Extensions add subcommands to ``triton-ext``: a file for each, whose name is the command's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from triton_ext import backends
from triton_ext.cli import _COMMANDS, cli
from triton_ext.errors import TritonExtError


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a directory whose directories are extensions."""
    monkeypatch.setattr(backends, "_with_apis", lambda: [tmp_path])
    backends.commands.cache_clear()
    monkeypatch.setattr(backends, "commands", backends.commands.__wrapped__)
    return tmp_path


def add(directory: Path, extension: str, name: str, text: str) -> Path:
    file = directory / extension / "api" / "commands" / f"{name}.py"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


GREETS = "import click\n@click.command()\ndef command():\n    'Greet.'\n    click.echo('hello')\n"


def test_a_command_of_an_extension(directory: Path) -> None:
    add(directory, "first", "say_hello", GREETS)
    assert CliRunner().invoke(cli, ["say-hello"]).output == "hello\n"
    assert "say-hello  Greet." in CliRunner().invoke(cli, ["--help"]).output
    assert CliRunner().invoke(cli, ["say_hello"]).exit_code == 2


def test_a_name_that_two_extensions_claim(directory: Path) -> None:
    files = [add(directory, extension, "greet", GREETS) for extension in ("first", "second")]
    error = CliRunner().invoke(cli, ["greet"]).exception
    assert isinstance(error, TritonExtError)
    assert str(error) == f"the command 'greet' is claimed by {files[0]} and {files[1]} (fix: rename one of the files)"


def test_a_name_of_our_own(directory: Path) -> None:
    file = add(directory, "first", "list", GREETS)
    error = CliRunner().invoke(cli, ["list"]).exception
    assert str(error) == f"the command 'list' is claimed by triton-ext itself and {file} (fix: rename one of the files)"


def test_a_file_without_a_command(directory: Path) -> None:
    file = add(directory, "first", "greet", "greet = 1\n")
    error = CliRunner().invoke(cli, ["greet"]).exception
    assert str(error).startswith(f"{file} defines no click command 'command'")


def test_an_extension_whose_needs_are_missing_has_no_command(directory: Path) -> None:
    add(directory, "first", "greet", GREETS)
    (directory / "first" / "api" / "__init__.py").touch()
    (directory / "first" / "api" / "api.json").write_text('{"name": "greetings", "needs": ["second"]}')
    assert CliRunner().invoke(cli, ["greet"]).exit_code == 2
    assert backends._api_files.__wrapped__() == {}
    (directory / "second").mkdir()
    assert CliRunner().invoke(cli, ["greet"]).output == "hello\n"
    assert list(backends._api_files.__wrapped__()) == ["greetings"]


BROKEN = {
    "imports": ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'"),
    "syntax": ("def command(:\n", "SyntaxError: "),
    "exits": ("raise SystemExit(3)\n", "SystemExit: 3"),
}


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("arguments", [["greet"], ["greet", "--help"], ["greet", "--loud", "x"]])
def test_a_file_that_cannot_be_imported(kind: str, arguments: list[str], directory: Path) -> None:
    text, reason = BROKEN[kind]
    file = add(directory, "first", "greet", text)
    error = CliRunner().invoke(cli, arguments).exception
    assert isinstance(error, TritonExtError)
    assert str(error).startswith(f"{file} cannot be imported: {reason}")


@pytest.mark.parametrize("text", [*(text for text, _ in BROKEN.values()), "greet = 1\n"])
def test_help_is_not_lost_for_one_bad_file(text: str, directory: Path) -> None:
    add(directory, "first", "greet", text)
    add(directory, "second", "list", GREETS)
    for arguments in (["--help"], []):
        shown = CliRunner().invoke(cli, arguments).output
        assert "greet      Not usable; `triton-ext greet` says why." in shown
        assert "list       Not usable" in shown
        assert "trace      Compile KERNEL" in shown
    assert CliRunner().invoke(cli, ["doctor", "--help"]).exit_code == 0


def test_a_file_with_a_dataclass(directory: Path) -> None:
    """`dataclasses` looks for the module of a class whose annotations are texts."""
    text = "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    a: int\n"
    add(directory, "first", "greet", text + GREETS)
    assert CliRunner().invoke(cli, ["greet"]).output == "hello\n"


def test_examples_in_help_keep_their_lines() -> None:
    """Click keeps the lines of a paragraph that begins with a backspace, and would show an escaped one."""

    def pages(command: click.Command, *names: str) -> Iterator[str]:
        yield CliRunner().invoke(cli, [*names, "--help"]).output
        if isinstance(command, click.Group):
            with click.Context(command) as context:
                for name in command.list_commands(context):
                    found = command.get_command(context, name)
                    assert found is not None
                    yield from pages(found, *names, name)

    shown = list(pages(cli))
    assert len(shown) > len(_COMMANDS)
    assert [page for page in shown if "\\b" in page or "\b" in page] == []


@pytest.mark.parametrize("command", cli.list_commands(click.Context(cli)))
def test_a_mistyped_option_is_not_taken_for_an_argument(command: str) -> None:
    done = CliRunner().invoke(cli, [command, "--no-such-option", __file__])
    assert (done.exit_code, "No such option" in done.output) == (2, True)
