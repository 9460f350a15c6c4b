# SPDX-License-Identifier: Apache-2.0
"""The exceptions of triton-ext: one base, five kinds, each with the command that mends it."""

from __future__ import annotations


class TritonExtError(Exception):
    """Base of everything that triton-ext raises on purpose.

    Args:
        message: one line that says what went wrong, where, and what was found against what was wanted.
        fix: a command or a sentence that mends it; printed after the message.
    """

    def __init__(self, message: str, *, fix: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.message} (fix: {self.fix})" if self.fix else self.message


class ExtensionNotFoundError(TritonExtError):
    """No extension has the requested name."""


class DuplicateExtensionError(TritonExtError):
    """Two libraries claim the same extension name."""


class AbiMismatchError(TritonExtError):
    """A library, the headers or the compiler do not match the installed libtriton."""


class BuildError(TritonExtError):
    """The SDK could not be installed or an extension could not be built."""


class PipelineError(TritonExtError):
    """A pipeline edit, a pass option or a pass placement is invalid, or a compilation with edits failed."""

    #: Whether something that ran has failed, of which the message does not say yet how it goes without the edits.
    while_running = False


class UnsupportedError(PipelineError, RuntimeError):
    """A kernel asks for what its target does not do; each line has place, operation, reason and a way out."""


class PipelineTypeError(PipelineError, TypeError):
    """A value of another type was given where a pipeline, its text or an edit is expected."""
