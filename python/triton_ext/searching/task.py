# SPDX-License-Identifier: Apache-2.0
"""The messages to and from a worker of a search: the task, a candidate, and the results."""

from __future__ import annotations

import pickle
import sys
from dataclasses import dataclass
from typing import Any

from ..errors import TritonExtError
from ..pipeline.records import StageRecord
from ..tuning.job import import_named
from ..tuning.outcome import Outcome

#: The arguments of a launch, as `describing.described` returns them.
Description = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class FunctionRef:
    """A function of the user, as another process finds it.

    Attributes:
        module: its module; empty if the function is pickled.
        file: the file of the module.
        name: its qualified name.
        pickled: the function, if it is not a global of a module.
    """

    module: str = ""
    file: str = ""
    name: str = ""
    pickled: bytes = b""

    def load(self) -> Any:
        """Returns the function."""
        if self.pickled:
            return pickle.loads(self.pickled)
        return import_named(self.module, self.file, self.name)


def refer_to(what: str, value: Any) -> FunctionRef:
    """Returns how another process finds the function `value`, or gets the value.

    Args:
        what: the argument that it was given as, for messages.
        value: a function or any value that pickles.

    Raises:
        TritonExtError: it is a function that is not a global of a module, and cloudpickle cannot send it.
    """
    name, module = getattr(value, "__qualname__", ""), getattr(value, "__module__", "")
    there = sys.modules.get(module)
    file = getattr(there, "__file__", None)
    if name.isidentifier() and file and getattr(there, name, None) is value:
        return FunctionRef(module, file, name)
    try:
        if not callable(value):
            return FunctionRef(pickled=pickle.dumps(value))
        import cloudpickle

        return FunctionRef(pickled=cloudpickle.dumps(value))
    except Exception as error:
        raise TritonExtError(
            f"{what} cannot be sent to a worker: {error}", fix="make it a global function of a module in a file"
        ) from None


@dataclass(frozen=True)
class Task:
    """The part of a job that all candidates of a search share.

    Attributes:
        group: an id of the search, whose candidates share the arguments.
        kernel: module, file and name of the kernel.
        grid: the grid, or a function of the launch's arguments that returns it.
        inputs: the user's function that makes arguments.
        reference: the user's reference; None if there is none.
        configs: the declared configurations, as keyword arguments.
        target: the target as text; empty for that of the worker's driver.
        seed: the seed of random numbers.
        tolerance: relative and absolute; None for the default of each type.
        unaligned: whether tensors that begin at an unaligned address are checked, too.
        compile_timeout: seconds for one compilation; None for no limit.
        run_timeout: seconds for the checks and the measurements of a candidate, likewise.
        sender: the id of the process that searches.
        described: the arguments to compile for, if candidates are compiled and never run; None if they are run.
    """

    group: str
    kernel: tuple[str, str, str]
    grid: FunctionRef
    inputs: FunctionRef
    reference: FunctionRef | None
    configs: tuple[dict[str, Any], ...]
    target: str
    seed: int
    tolerance: tuple[float, float] | None
    unaligned: bool
    compile_timeout: float | None
    run_timeout: float | None
    sender: str
    described: tuple[Description, ...] | None = None


@dataclass(frozen=True)
class Candidate:
    """One point of the space, as a worker needs it.

    Attributes:
        launch: constexprs and options.
        edits: the pipeline, as text.
        key: the key of the pipeline in the searching process; the worker's must be the same.
        exact: whether its results have to equal those of the unedited kernel bit by bit.
    """

    launch: dict[str, Any]
    edits: str
    key: str = ""
    exact: bool = True


@dataclass(frozen=True)
class Assignment:
    """The work on one candidate that a worker gets.

    Attributes:
        task: the search.
        candidate: the candidate.
        compared: candidates to measure in turns with it; empty for the check and a few launches.
        rounds: how often each is measured in turns.
        described: the arguments of the launches, where a compilation needs no others; None if it does.
        attempt: how often it was sent before.
    """

    task: Task
    candidate: Candidate
    compared: tuple[Candidate, ...] = ()
    rounds: int = 1
    described: tuple[Description, ...] | None = None
    attempt: int = 0


@dataclass(frozen=True)
class Prepared:
    """The result of the first job.

    Attributes:
        device: the device, by name.
        target: backend, architecture and warp size.
        stages: the passes of the unedited kernel.
        options: the options of its compilation.
        described: the arguments of each launch to check, for compilations without them; None if that is not possible.
        cases: the names of the launches that are checked.
        shapes: the shape class of the first launch, as text.
        exact: whether the unedited kernel gives the same bits each time.
    """

    device: str
    target: tuple[str, Any, int]
    stages: tuple[StageRecord, ...]
    options: dict[str, Any]
    described: tuple[Description, ...] | None
    cases: tuple[str, ...]
    shapes: str
    exact: bool


@dataclass(frozen=True)
class Compiled:
    """The result of compiling a candidate.

    Attributes:
        outcome: how it ended.
        figures: what the binary needs; see `figures`.
        binary: a hash of the binary and of what its launch depends on.
    """

    outcome: Outcome
    figures: dict[str, float]
    binary: str


@dataclass(frozen=True)
class Measured:
    """The result of running a candidate.

    Attributes:
        outcome: how it ended.
        case: the launch that showed a wrong result; empty if none did.
        compared: the milliseconds of `Assignment.compared`, measured in turns with it.
        seconds: how long the device was used for it.
    """

    outcome: Outcome
    case: str = ""
    compared: tuple[float, ...] = ()
    seconds: float = 0.0
