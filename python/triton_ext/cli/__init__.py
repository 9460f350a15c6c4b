# SPDX-License-Identifier: Apache-2.0
"""The ``triton-ext`` command. Each subcommand is imported only when it runs.

Extensions add subcommands: `triton_ext.backends.commands` finds them.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

import click

from ..errors import TritonExtError

if TYPE_CHECKING:
    from pathlib import Path

_COMMANDS = {
    "build": "triton_ext.cli.build:build",
    "cmake-dir": "triton_ext.cli.cmake_dir:cmake_dir",
    "doctor": "triton_ext.cli.doctor:doctor",
    "layout": "triton_ext.cli.layout:layout",
    "list": "triton_ext.cli.list_extensions:list_extensions",
    "mcp": "triton_ext.cli.mcp:mcp",
    "passes": "triton_ext.cli.passes:passes",
    "new": "triton_ext.cli.new:new",
    "pipeline": "triton_ext.cli.pipeline:pipeline",
    "run": "triton_ext.cli.run:run",
    "sdk": "triton_ext.cli.sdk:sdk",
    "search": "triton_ext.cli.search:search",
    "test": "triton_ext.cli.test:test",
    "trace": "triton_ext.cli.trace:trace",
}


class _LazyGroup(click.Group):
    """A group whose subcommands are imported on first use, so that ``--help`` stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        from ..backends import commands

        return sorted({*_COMMANDS, *commands()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        from ..backends import commands

        added = commands().get(cmd_name, ())
        if added:
            try:
                return _command_of(cmd_name, added)
            except TritonExtError as error:
                return _failing(cmd_name, error)
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name].partition(":")
        command = getattr(importlib.import_module(module), name)
        assert isinstance(command, click.Command)
        return command


def _command_of(name: str, files: tuple[Path, ...]) -> click.Command:
    """Returns the subcommand `name` that an extension adds.

    Raises:
        TritonExtError: the name is taken, or the file cannot be imported or defines no command.
    """
    from ..backends import import_file

    owners = [*(["triton-ext itself"] if name in _COMMANDS else []), *map(str, files)]
    if len(owners) > 1:
        raise TritonExtError(
            f"the command '{name}' is claimed by {' and '.join(owners)}", fix="rename one of the files"
        )
    try:
        module = import_file(files[0], f"triton_ext_command_{files[0].stem}")
    except (Exception, SystemExit) as error:
        raise TritonExtError(
            f"{files[0]} cannot be imported: {type(error).__name__}: {error}", fix=f"triton-ext --debug {name}"
        ) from error
    command = getattr(module, "command", None)
    if not isinstance(command, click.Command):
        raise TritonExtError(f"{files[0]} defines no click command 'command'", fix="@click.command() on def command")
    return command


def _failing(name: str, error: TritonExtError) -> click.Command:
    """Returns the subcommand `name` that raises `error` when it is called, so that the help of all others is shown."""

    def fail() -> None:
        raise error

    return click.Command(
        name,
        callback=fail,
        short_help=f"Not usable; `triton-ext {name}` says why.",
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show the Python traceback of an error.")
@click.version_option(package_name="triton-ext")
def cli(debug: bool) -> None:
    """Extend the Triton compiler that pip installed: no fork, no LLVM build."""


def main() -> None:
    """Runs the command line: an error is printed as one line, with ``--debug`` as a traceback."""
    try:
        sys.exit(cli.main(standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except TritonExtError as error:
        if "--debug" in sys.argv:
            raise
        click.echo(f"triton-ext: error: {error}", err=True)
        sys.exit(1)
