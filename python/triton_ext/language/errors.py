# SPDX-License-Identifier: Apache-2.0
"""The error of a declaration or of a call in a kernel."""

from __future__ import annotations

from ..errors import TritonExtError


class LanguageError(TritonExtError):
    """A declaration of `op` is wrong, or a kernel calls its function in a wrong way.

    In a kernel, Triton makes a ``CompilationError`` of it that points at the line.
    """

    def __repr__(self) -> str:
        return str(self)  # what Triton shows of an error in a with statement
