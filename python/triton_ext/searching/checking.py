# SPDX-License-Identifier: Apache-2.0
"""The gate: the results of a candidate against those of the unedited kernel and of the user's reference."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import TritonExtError
from ..tuning.check import Arguments, Checker
from ..tuning.outcome import synchronize
from .describing import described, specialised
from .launches import Case, made_launches, variants
from .task import Description, Task

if TYPE_CHECKING:
    from .worker import Kernel


class CheckFailedError(Exception):
    """A result is wrong.

    Attributes:
        case: the name of the launch.
    """

    def __init__(self, case: str, problem: str) -> None:
        super().__init__(f"{case}: {problem}")
        self.case = case


class Cases:
    """The launches of a task, with the results of the unedited kernel.

    Args:
        task: the search.
        kernel: its kernel.

    Attributes:
        cases: the launches that are checked: those of the user, of which the first one is timed, and variants.
    """

    def __init__(self, task: Task, kernel: Kernel) -> None:
        self._task = task
        self._kernel = kernel
        launches = made_launches(task.inputs.load(), task.seed)
        self.cases = list(variants(launches, task.seed, unaligned=task.unaligned))
        self._has_run = False
        self._references: dict[str, Checker] = {}

    @property
    def to_compile(self) -> list[Arguments]:
        """The arguments of one launch for each kernel that Triton compiles for the launches; the timed one first."""
        distinct: dict[object, Arguments] = {}
        for case in self.cases:
            distinct.setdefault(specialised(case.arguments), case.arguments)
        return list(distinct.values())

    @property
    def described(self) -> tuple[Description, ...] | None:
        """`to_compile` as descriptions, for a process without the arguments; None if one cannot be described."""
        found = [described(arguments) for arguments in self.to_compile]
        return tuple(dict.fromkeys(one for one in found if one is not None)) if None not in found else None

    def run_unedited(self) -> None:
        """Runs the unedited kernel on every launch, the first time that it is called.

        Raises:
            TritonExtError: the reference does not agree with the unedited kernel, or raised.
        """
        if self._has_run:
            return
        task = self._task
        for case in self.cases:
            name = case.name
            if case.checks_reference and task.reference is not None:
                checker = Checker(task.reference.load(), None, task.tolerance, set(), {**case.arguments})
                self._references[name] = checker
            case.learn(functools.partial(self._launch, case), task.tolerance)
            if (problem := self._against_reference(case)) is not None:
                raise TritonExtError(f"the unedited kernel is wrong in {name}: {problem}", fix="tolerance=(rtol, atol)")
        self._has_run = True

    def _launch(self, case: Case) -> None:
        self._kernel.launch(self._kernel.default, case.arguments)
        synchronize()

    def check(self, launch: Callable[[Arguments], Any], *, exact: bool) -> None:
        """Launches a candidate with every case.

        Args:
            launch: launches it with arguments.
            exact: whether bits have to be equal.

        Raises:
            CheckFailedError: a result is wrong.
        """
        for case in self.cases:
            case.reset()
            launch(case.arguments)
            synchronize()
            problem = case.problem(self._task.tolerance, exact=exact)
            if problem is None:
                problem = self._against_reference(case)
            if problem is not None:
                raise CheckFailedError(case.name, problem)

    def _against_reference(self, case: Case) -> str | None:
        checker = self._references.get(case.name)
        return None if checker is None else checker.problem(case.arguments)

    def timed(self) -> Arguments:
        """Returns the arguments of the launch that is timed, as they were at first."""
        self.cases[0].reset(poison=False)
        return self.cases[0].arguments
