# SPDX-License-Identifier: Apache-2.0
"""The tests of what the host computes notice each bug of `BUGS`: of wraps in launches, first sizes, variables, and
checks without proofs.

A bug replaces an expression in a function that is loaded; the test runs with it, and must fail.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest
from triton_ext.probe import _launches
from triton_ext.sanitize import _expression, _first_size, _launched, _looks, _overflows, _session, _source, _variables

from support import modules

pytestmark = pytest.mark.usefixtures("on_native_backend")

HERE = Path(__file__).parent


def module_of(name: str) -> ModuleType:
    """Returns a new module of the tests in a file beside this one, for whose kernels nothing is decided yet."""
    return modules.imported(HERE / f"{name}.py", f"noticing_{name}_{next(_numbers)}", register=True)


_numbers = itertools.count()
#: The file and the function of the test that notices each bug, the function with the bug, and the bug.
BUGS: dict[str, tuple[str, str, Callable[..., Any], str, str]] = {
    "the kernel that looks has proofs": (
        "test_sanitizer_dynamic", "test_what_repeats_another_access_is_checked", _looks._compiled, "static=static",
        "static=True",
    ),
    "each kernel has proofs": (
        "test_sanitizer_dynamic", "test_the_kernel_raises_the_flag", _session.Sanitizer._begin, "static=self._static",
        "static=True",
    ),
    "launches are decided by the first one alone": (
        "test_sanitizer_overflow", "test_launches_that_differ_are_told_apart", _launched._proved_at_once,
        "_hull([integers[number] for integers, _ in given])", "_hull([given[0][0][number]])",
    ),
    "all launches have the grid of the first one": (
        "test_sanitizer_overflow", "test_launches_that_differ_are_told_apart", _launched._proved_at_once,
        "_hull([grid[axis] for grid in grids])", "_hull([grids[0][axis]])",
    ),
    "a launch counts once": (
        "test_sanitizer_overflow", "test_launches_add_up", _overflows.Overflows.joined,
        "one.finding.lanes * launched.times", "one.finding.lanes",
    ),
    "every access that uses what wraps is wrong because of it": (
        "test_sanitizer_overflow", "test_what_wraps_and_what_it_does_are_one_finding", _overflows._is_of,
        "_wraps_at(finding, use, search)", "True",
    ),
    "an access that is wrong because of a wrap is told twice": (
        "test_sanitizer_overflow", "test_an_access_that_is_wrong_because_of_a_wrap_has_no_finding_of_its_own",
        _overflows._is_of, '("bounds", "view")', '("view",)',
    ),
    "equal sizes do not grow together": (
        "test_first_sizes", "test_equal_sizes_grow_together", _first_size.first_sizes, "((), alike)", "((),)",
    ),
    "a number that is divided is not rounded up": (
        "test_first_sizes", "check_guesses", _expression._terms, "(meta[name] + block - 1) // block",
        "(meta[name] + block) // block",
    ),
    "a variable has the value of its first assignment": (
        "test_sanitizer_variables", "test_functions_and_names_that_are_assigned_again", _variables._nodes,
        "at[max(at)]", "at[min(at)]",
    ),
    "an assignment of the line itself counts": (
        "test_sanitizer_overflow", "test_what_wraps_and_what_it_does_are_one_finding", _variables._nodes,
        "where.line < start", "where.line <= last",
    ),
    "the lanes of a tile are column-major": (
        "test_sanitizer_variables", "test_tiles", _variables.lane_of, "range(len(shape) - 1, -1, -1)",
        "range(len(shape))",
    ),
    "a variable may vary along any dimension": (
        "test_sanitizer_variables", "test_variables_that_are_equal_along_other_dimensions", _variables._is_along,
        "lanes <= {*some}", "lanes",
    ),
    "the tensors of each line belong together": (
        "test_sanitizer_variables", "test_operands_and_variables_of_divisions", _source.is_elementwise,
        "name not in _ELEMENTWISE", "name in ()",
    ),
    "a lane that is off has the place of what it reaches": (
        "test_sanitizer_variables", "test_masked_lanes", _variables.of_masked_load,
        "finding.address is not None", "True",
    ),
    "the last iteration is told": (
        "test_sanitizer_variables", "test_loops", _variables._box_of, "answer.verdict:", "not answer.verdict:",
    ),
    "what was loaded has no value": (
        "test_sanitizer_variables", "test_what_was_loaded_is_not_known", _variables._shown,
        'rest[0] == "data from memory"', 'rest[0] == "data"',
    ),
    "variables are in the order of the alphabet": (
        "test_sanitizer_variables", "test_program_lane_and_argument", _source.names_in,
        "(node.lineno, node.col_offset)", "node.id",
    ),
    "a launch is noted in the block that knew it first": (
        "test_sanitizer_repeated", "test_each_block_knows_what_wraps", _session._seen, "known.changes == changes",
        "True",
    ),
    "a launch has the session of the one before it in the thread": (
        "test_sanitizer_repeated", "test_a_session_sees_threads_that_have_launched_before", _launches._Plan.holds,
        "self.of_process == (*_buffer.of_process,)", "True",
    ),
    "a launch that is known again does not count": (
        "test_sanitizer_repeated", "test_each_block_knows_what_wraps", _overflows.count_again, "one.times += 1",
        "one.times += 0",
    ),
}  # fmt: skip


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yields a code object and those inside of it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from codes(one)


@pytest.mark.slow
@pytest.mark.parametrize("name", BUGS)
def test_a_bug_of_the_host_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file, test, function, right, wrong = BUGS[name]
    module = inspect.getmodule(function)
    assert module is not None
    source, own = inspect.getsource(module), inspect.getsource(function)
    assert own.count(right) == 1, "the code has changed"
    planted = compile(source.replace(own, own.replace(right, wrong)), str(module.__file__), "exec")
    (code,) = (one for one in codes(planted) if one.co_qualname == function.__qualname__)
    monkeypatch.setattr(function, "__code__", code)
    noticing = getattr(module_of(file), test)
    with pytest.raises((AssertionError, ValueError, KeyError)):  # a test can also unpack the only finding
        noticing()
