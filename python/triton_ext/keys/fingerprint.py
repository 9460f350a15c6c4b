# SPDX-License-Identifier: Apache-2.0
"""Makes a text that changes whenever a Python function may behave differently, for cache keys that outlive the process.

The text covers the bytecode, the defaults, the variables of the closure, and the globals that the function reads: other
functions and classes in the same way, data by its value and class, modules by the bytes of their file and by the
attributes that are read from them. Installed packages are identified by size and time of their files. A value without a
stable description is refused, and so is a function that reads from outside of the program (`outside`).
"""

from __future__ import annotations

import hashlib

from .description import Description


def fingerprint(function: object, *, watched: bool = False, lenient: bool = False) -> str:
    """Returns the SHA-256 of the description of `function`, as hex digits.

    An object with an attribute ``cache_key`` (a str, as `triton.jit` functions have) is described by it, by its name
    and, if it is a function, by its own code, because two functions may declare the same text.

    Args:
        function: a function or a callable object.
        watched: whether a `Guard` sees which files the function opens. Then the function may open files, because the
            guard refuses those that it reads.
        lenient: whether to refuse nothing. Then the files of all modules that the function may reach, except installed
            ones, take the place of a description.

    Raises:
        PipelineError: the function depends on an object that has no stable description.
    """
    description = Description(watched=watched, lenient=lenient)
    text = repr(description.of(function, ""))
    description.refuse_called()
    return hashlib.sha256(text.encode()).hexdigest()
