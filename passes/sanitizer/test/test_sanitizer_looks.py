# SPDX-License-Identifier: Apache-2.0
"""The looks at lanes that have a kernel of their own, which runs after a launch that has raised its flag."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton_ext.sanitize import _looks

import triton_ext as tx

pytestmark = pytest.mark.usefixtures("on_native_backend")


@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


@triton.jit
def add_at(x_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    index = tl.load(index_ptr + lanes)
    tl.store(out_ptr + lanes, tl.load(x_ptr + index))


@triton.jit
def below(x_ptr, limit, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(x_ptr + lanes, 1.0, mask=lanes.to(tl.float32) < limit)


@triton.jit
def shift(x_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    for i in range(0, n, BLOCK):
        value = tl.load(x_ptr + i + lanes)
        tl.store(x_ptr + i + lanes, value + 1)


@triton.jit
def total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK,), tl.float32)
    for i in range(0, n, BLOCK):
        sums += tl.load(x_ptr + i + (lanes ^ 1))
    tl.store(out_ptr + lanes, sums)


def launched(kernel: Any, *arguments: Any, grid: int = 1, **named: Any) -> Any:
    return kernel[(grid,)](*arguments, **named)


def body_of(kernel: Any) -> list[str]:
    """Returns the operations of a kernel, without their locations."""
    lines = kernel.asm["ttir"].partition("tt.func")[2].partition("\n#loc")[0].splitlines()
    return [line.partition(" loc(")[0] for line in lines[1:]]


def test_kernel_without_checks() -> None:
    with tx.sanitize("bounds") as report:
        kernel = launched(copy, torch.zeros(96), torch.zeros(128), 96, BLOCK=128)
        assert not report.findings
    plain = launched(copy, torch.zeros(96), torch.zeros(128), 96, BLOCK=128)
    assert "follows" in kernel.asm["ttir"]
    assert body_of(kernel) == body_of(plain)


def test_flag_before_a_loop() -> None:
    """A tile without corners has the kernel raise a flag. The check of the store needs nothing of the loop."""
    with tx.sanitize("bounds", action="suppress") as report:
        kernel = launched(total, torch.ones(128), torch.zeros(60), 192, BLOCK=64)
        found = [(one.argument, one.distance) for one in report.findings]
    assert sorted(found) == [("out_ptr", 4), ("x_ptr", 8)]
    text = kernel.asm["ttir"]
    assert text.count("tt.atomic_rmw") == 2
    assert text.index("tt.atomic_rmw") < text.index("scf.for") < text.rindex("tt.atomic_rmw")


def test_look_of_a_gpu() -> None:
    """Triton for NVIDIA hashes the options, which come from the kernel's metadata."""
    source = ASTSource(copy, {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 128})
    with tx.sanitize("bounds"):
        kernel = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 2})
    assert "ld.global" in kernel.asm["ptx"]
    look = _looks._look_of(kernel)
    assert look.metadata.num_warps == 2
    assert "atom.global" not in kernel.asm["ptx"]
    assert "atom.global" in look.asm["ptx"]
    assert "tensor<128x!tt.ptr<f32>>" in kernel.asm["ttir"]
    assert "tensor<128x!tt.ptr<f32>>" not in look.asm["ttir"]


def test_kernel_runs_once() -> None:
    x = torch.arange(64.0)
    with tx.sanitize("bounds", action="suppress") as report:
        launched(shift, x, 65, BLOCK=64)
        assert [one.lanes for one in report.findings] == [64, 64]
    assert torch.equal(x, torch.arange(64.0) + 1)


def test_each_launch_counts() -> None:
    x, y = torch.zeros(100), torch.zeros(512)
    with tx.sanitize("bounds", action="suppress") as report:
        for grid in (1, 2, 2):  # of equal arguments
            launched(copy, x, y, 512, grid=grid, BLOCK=128)
        (found,) = report.findings
        assert (found.lanes, found.programs) == (28 + 2 * 156, 2)
        launched(copy, x, y, 512, grid=1, BLOCK=128)
        (found,) = report.findings
        assert found.lanes == 2 * 28 + 2 * 156


def test_programs_without_a_finding_do_not_count() -> None:
    with tx.sanitize("bounds", action="suppress") as report:
        launched(copy, torch.zeros(300), torch.zeros(512), 300, grid=4, BLOCK=128)
        assert not report.findings
        launched(copy, torch.zeros(300), torch.zeros(512), 301, grid=4, BLOCK=128)
    (found,) = report.findings
    assert (found.program, found.lane, found.lanes, found.programs) == ((2, 0, 0), 44, 1, 1)


def test_order_of_launches() -> None:
    index = torch.full((32,), 7, dtype=torch.int32)
    with tx.sanitize("bounds", action="suppress") as report:
        launched(copy, torch.zeros(32), torch.zeros(64), 64, BLOCK=64)
        launched(add_at, torch.zeros(4), index, torch.zeros(32), BLOCK=32)
        launched(copy, torch.zeros(64), torch.zeros(32), 64, BLOCK=64)
    assert [(one.kernel, one.access) for one in report.findings] == [
        ("copy", "load"), ("add_at", "load"), ("copy", "store"),
    ]  # fmt: skip


def test_one_launch_with_both_kinds_of_looks() -> None:
    index = torch.full((32,), 7, dtype=torch.int32)
    with tx.sanitize("bounds", action="suppress") as report:
        launched(add_at, torch.zeros(4), index[:16].clone(), torch.zeros(8), BLOCK=32)
    arguments = [one.argument for one in report.findings]
    assert (arguments[0], arguments[-1]) == ("index_ptr", "out_ptr")


def test_memory_that_changes_after_the_launch() -> None:
    index = torch.full((32,), 7, dtype=torch.int32)
    with tx.sanitize("bounds", action="suppress") as report:
        launched(add_at, torch.zeros(4), index, torch.zeros(32), BLOCK=32)
        index.zero_()
        assert [one.lanes for one in report.findings] == [32]


def test_floats_of_equal_slots() -> None:
    x = torch.zeros(8)
    with tx.sanitize("bounds", action="suppress") as report:
        launched(below, x, 8.0, BLOCK=16)
        assert not report.findings
        launched(below, x, 11.0, BLOCK=16)
        launched(below, x, 9.0, BLOCK=16)
        assert [one.lanes for one in report.findings] == [4]


def test_tensors_that_are_gone() -> None:
    with tx.sanitize("bounds", action="suppress") as report:
        launched(copy, torch.zeros(32), torch.zeros(64), 64, BLOCK=64)
    (found,) = report.findings
    assert (found.shape, found.lanes, found.distance) == ((32,), 32, 4)


def nothing(module: Any) -> None:
    """A pass of the user."""


def test_pipeline_of_the_user_keeps_the_look() -> None:
    with tx.sanitize("bounds", action="suppress") as report, tx.Pipeline().at_end("ttir", nothing):
        kernel = launched(copy, torch.zeros(32), torch.zeros(64), 64, BLOCK=64)
    assert "follows" not in kernel.asm["ttir"]
    assert [one.lanes for one in report.findings] == [32]


def test_block_in_a_block() -> None:
    with tx.sanitize("bounds", action="suppress") as outer, tx.sanitize("bounds", action="suppress") as inner:
        kernel = launched(copy, torch.zeros(32), torch.zeros(64), 64, BLOCK=64)
    assert "follows" in kernel.asm["ttir"]
    assert [one.lanes for one in inner.findings] == [32]
    assert not outer.findings


@triton.jit
def store_all(x_ptr, step, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(x_ptr + tl.program_id(0) * step + lanes, lanes.to(tl.float32))


def test_looks_for_races_only_where_programs_may_race() -> None:
    """A launch without races runs a kernel without looks, and the other kernel is compiled with the first race."""
    x = torch.zeros(64)
    with tx.sanitize("race") as report:
        kernel = launched(store_all, x, 32, grid=2, BLOCK=32)
        assert not _looks._kernels.get(kernel)
        assert not report.findings
        assert report.counts()["proved"] == 1
        launched(store_all, x, 16, grid=2, BLOCK=32)
        assert list(_looks._kernels[kernel]) == ["sanitize.missing"]
        (found,) = report.findings
        assert (found.check, found.argument, found.lanes) == ("race", "x_ptr", 16)
        assert report.counts()["checked"] == 1
    assert torch.equal(x[:48], torch.arange(32.0)[[*range(16), *range(16), *range(16, 32)]])
    plain = launched(store_all, x, 32, grid=2, BLOCK=32)
    assert body_of(kernel) == body_of(plain)


def test_race_and_bounds_in_one_launch() -> None:
    with tx.sanitize("bounds,race", action="suppress") as report:
        launched(store_all, torch.zeros(40), 16, grid=2, BLOCK=32)
        found = [(one.check, one.lanes) for one in report.findings]
    assert sorted(found) == [("bounds", 8), ("race", 16)]


class Unusable:
    """A driver of Triton that nobody may use."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the driver of another device was asked for its {name}")


def test_another_driver_when_the_report_is_read() -> None:
    other = Unusable()
    with tx.sanitize("all", action="suppress") as report:
        launched(copy, torch.zeros(32), torch.zeros(64), 64, BLOCK=64)
        triton.runtime.driver.set_active(other)
        (found,) = (one for one in report.findings if one.check == "bounds")
        assert (found.argument, found.lanes, found.coordinates) == ("x_ptr", 32, (32,))
        assert triton.runtime.driver.active is other


def test_a_tensor_that_changes_between_launches() -> None:
    """Launches with the same arguments are described once: a tensor that has lost memory is not the same."""
    x, y = torch.zeros(64), torch.zeros(64)
    with tx.sanitize("bounds,hints", action="suppress") as report:
        for _ in range(3):
            launched(copy, x, y, 64, BLOCK=64)
        assert not report.findings
        x.resize_(32).untyped_storage().resize_(32 * 4)
        for _ in range(2):
            launched(copy, x, y, 64, BLOCK=64)
        (found,) = report.findings
        assert (found.argument, found.shape, found.lanes) == ("x_ptr", (32,), 2 * 32)
        launched(copy, torch.zeros(64), y, 64, BLOCK=64)
        assert [one.lanes for one in report.findings] == [2 * 32]
