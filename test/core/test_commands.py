# SPDX-License-Identifier: Apache-2.0
"""Extensions add subcommands to ``triton-ext``: a file for each, whose name is the command's."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from triton_ext import backends
from triton_ext.cli import cli
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


def test_help_is_not_lost_for_one_bad_file(directory: Path) -> None:
    add(directory, "first", "list", GREETS)
    done = CliRunner().invoke(cli, ["doctor", "--help"])
    assert done.exit_code == 0
    assert isinstance(cli, click.Group)
