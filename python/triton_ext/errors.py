# SPDX-License-Identifier: Apache-2.0
"""The exceptions of triton-ext: one base class and its kinds, each with the command that mends the problem."""

from __future__ import annotations


class TritonExtError(Exception):
    """The base class of all errors that triton-ext raises on purpose.

    Args:
        message: what went wrong and where, what was found and what was expected.
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

    #: Whether a pass or a function failed while it ran, and the message does not say yet whether the kernel compiles
    #: without the edits.
    while_running = False


class UnsupportedError(PipelineError, RuntimeError):
    """A kernel uses what its target does not support; each line gives place, operation, reason and a way out."""


class PipelineTypeError(PipelineError, TypeError):
    """A value has another type than the pipeline, the text of one or the edit that is expected."""
