# SPDX-License-Identifier: Apache-2.0
"""Runs the ABI self-test, which compares the headers and the compiler with the installed libtriton.

It runs in a separate process, because a layout that differs may crash it. The process reports each check before it
begins and after it ends, so that the check that crashed is known.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..support import resources
from ..support.child import Ended, run_module

LIBRARY = "libTritonExtAbiSelfTest.so"
_CALLBACK = ctypes.CFUNCTYPE(
    None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p
)  # group, check, -1: begins / 0: disagrees / 1: agrees, detail, user
_ABI_SYMBOLS = {
    "DisableABIBreakingChecks": "it was built with LLVM_ENABLE_ABI_BREAKING_CHECKS 0, libtriton has 1",
    "EnableABIBreakingChecks": "it was built with LLVM_ENABLE_ABI_BREAKING_CHECKS 1, libtriton has 0",
}


@dataclass(frozen=True)
class Check:
    """One check that disagrees, or agrees with a remark.

    Attributes:
        group: its group, e.g. ``properties``.
        name: what was compared, e.g. ``llvm.call``.
        detail: the difference.
    """

    group: str
    name: str
    detail: str

    def __str__(self) -> str:
        return f"{self.group}: {self.name}" + (f" ({self.detail})" if self.detail else "")


@dataclass(frozen=True)
class SelfTestResult:
    """The result of the self-test.

    Attributes:
        library: the library with the self-test.
        checks: the number of checks per group.
        failures: the checks in which headers and libtriton disagree.
        guarded: known disagreements that the SDK's headers guard, so that no extension can run into them.
        crashed: the check during which the process died, and how; None if it finished.
        problem: why the library could not be run; None if it could.
    """

    library: Path
    checks: dict[str, int]
    failures: tuple[Check, ...] = ()
    guarded: tuple[Check, ...] = ()
    crashed: str | None = None
    problem: str | None = None

    @property
    def ok(self) -> bool:
        """Whether headers and libtriton agree in everything."""
        return not (self.failures or self.crashed or self.problem)


def run_selftest(library: Path | None = None) -> SelfTestResult:
    """Runs the self-test in a new process.

    Args:
        library: the built self-test; by default the one of this installation.

    Returns:
        The result, also if the library is missing, does not load or crashes.
    """
    library = library or resources.library_dir() / LIBRARY
    if not library.is_file():
        return SelfTestResult(library, {}, problem=f"{library} does not exist")
    return _result(library, run_module("triton_ext.authoring.selftest", str(library.resolve())))


def _result(library: Path, ended: Ended) -> SelfTestResult:
    """Reads the result from the answer of the process, which has a line for each event."""
    begun = None
    checks: Counter[str] = Counter()
    notable: dict[bool, list[Check]] = {True: [], False: []}
    for line in ended.answer.splitlines():
        event: dict[str, Any] = json.loads(line)
        if "problem" in event:
            return SelfTestResult(library, {}, problem=event["problem"])
        begun = Check(event["group"], event["check"], event["detail"])
        if event["ok"] >= 0:
            checks[begun.group] += 1
            if begun.detail or not event["ok"]:
                notable[bool(event["ok"])].append(begun)
    crashed = None
    if ended.status:
        crashed = f"{ended.how} in {begun or 'no check yet'}" + (f": {ended.last_words}" if ended.last_words else "")
    return SelfTestResult(library, dict(checks), tuple(notable[False]), tuple(notable[True]), crashed)


def _run(library: str, descriptor: int) -> None:
    """Loads and runs the library in this process, and writes a line of JSON for each event to `descriptor`."""

    def send(**event: object) -> None:
        os.write(descriptor, json.dumps(event).encode() + b"\n")

    def report(group: bytes, check: bytes, ok: int, detail: bytes, _user: object) -> None:
        group_, check_, detail_ = (text.decode(errors="replace") for text in (group, check, detail))
        send(group=group_, check=check_, ok=ok, detail=detail_)

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        import triton._C.libtriton  # noqa: F401  # the library is linked to this copy
    except ImportError as error:
        return send(problem=f"libtriton does not load: {error}")
    try:
        run = ctypes.CDLL(library).tritonExtAbiSelfTest
    except (OSError, AttributeError) as error:
        reasons = (reason for symbol, reason in _ABI_SYMBOLS.items() if symbol in str(error))
        return send(problem=f"it does not load: {next(reasons, error)}")
    run(_CALLBACK(report), None)
    return None


if __name__ == "__main__":
    _run(sys.argv[1], int(sys.argv[2]))
    sys.stderr.flush()
    os._exit(0)  # an ordinary exit would destroy what the self-test registered in libtriton, in an undefined order
