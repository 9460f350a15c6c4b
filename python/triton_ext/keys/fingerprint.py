# SPDX-License-Identifier: Apache-2.0
"""A text that changes whenever a Python function may behave differently, for cache keys that outlive the process.

Covers the bytecode, the defaults, what the function closes over, and the globals that it reads: other functions and
classes in the same way, data by value and by its class, modules by the bytes of their file and by what the function
takes from them. Packages that are installed are known by their files' size and time, and are not looked into. What
cannot be told apart reliably is refused, and so is what reads from outside of the program (`outside`).
"""

from __future__ import annotations

import hashlib

from .description import Description


def fingerprint(function: object, *, watched: bool = False, lenient: bool = False) -> str:
    """SHA-256, as hex digits, of what `function` does.

    An object with an attribute ``cache_key`` (a string, as `triton.jit` functions have) is known by it, together with
    its name and, if it is a function, its own code: two passes may have the same text.

    Args:
        function: what to describe.
        watched: whether a `Guard` sees which files it opens to read, so that it may open others to write.
        lenient: whether to refuse nothing; then the files of all modules that it may reach, and that are not
            installed, stand in for what cannot be described.

    Raises:
        PipelineError: it depends on an object that has no stable description.
    """
    description = Description(watched=watched, lenient=lenient)
    text = repr(description.of(function, ""))
    description.refuse_called()
    return hashlib.sha256(text.encode()).hexdigest()
