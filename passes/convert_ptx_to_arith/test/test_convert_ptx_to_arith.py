# SPDX-License-Identifier: Apache-2.0
"""Inline PTX on the CPU computes what models of the instructions say; what the pass refuses is named."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
import triton
import triton.language as tl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from triton.backends.compiler import GPUTarget

from support import ROOT, mutants
from support.cpu import ptx_models, ptx_page
from support.cpu.ptx_form import Form
from support.cpu.ptx_forms import FORMS

torch = pytest.importorskip("torch")
CPUDriver = pytest.importorskip("triton_ext.backends.cpu.driver").CPUDriver

pytestmark = [pytest.mark.usefixtures("on_cpu"), pytest.mark.keeps_kernels]
N = 128
CONSTRAINTS = {16: "h", 32: "r", 64: "l"}


@triton.jit
def assembly(out, x, y, z, v, N: tl.constexpr, TEXTS: tl.constexpr, CONSTRAINTS: tl.constexpr, COUNT: tl.constexpr, PACK: tl.constexpr):  # fmt: skip  # noqa: E501, PLR0917
    i = tl.arange(0, N)
    for k in tl.static_range(len(TEXTS)):
        if COUNT == 1:
            operands = [tl.load(x + i)]
        elif COUNT == 2:
            operands = [tl.load(x + i), tl.load(y + i)]
        elif COUNT == 3:
            operands = [tl.load(x + i), tl.load(y + i), tl.load(z + i)]
        else:
            operands = [tl.load(x + i), tl.load(y + i), tl.load(z + i), tl.load(v + i)]
        found = tl.inline_asm_elementwise(TEXTS[k], CONSTRAINTS, operands, out.dtype.element_ty, True, PACK)
        tl.store(out + k * N + i, found)


def launch(
    text: str | tuple[str, ...], constraints: str, out: torch.Tensor, *operands: torch.Tensor, pack: int = 1
) -> torch.Tensor:
    """Returns `out`, which the assembly computes for each element; several ones compute a row of it each."""
    texts = (text,) if isinstance(text, str) else text
    padded = [*operands, *[operands[0]] * (4 - len(operands))]
    assembly[(1,)](out, *padded, out.numel() // len(texts), texts, constraints, len(operands), pack)
    return out


def tensor(bits: ptx_models.Array, width: int) -> torch.Tensor:
    return torch.from_numpy(bits.astype(f"u{width // 8}").view(f"i{width // 8}"))


def is_nan(bits: int, kind: str) -> bool:
    if kind in ("e4m3x2", "e5m2x2"):
        return False
    return ptx_models.is_nan(ptx_models.decode(bits, kind))


def problem(form: Form, found: int, wanted: int) -> bool:
    """Returns whether a result differs from the model's; any NaN is as good as another."""
    if found == wanted or not form.kind:
        return found != wanted
    if form.kind not in ptx_models.WIDTHS:
        pairs = [(found >> 8 * i & 255, wanted >> 8 * i & 255) for i in range(2)]
        return any(a != b and not b & 0x7F == a & 0x7F == 0x7F for a, b in pairs)
    width = ptx_models.WIDTHS[form.kind]
    for lane in range(form.lanes):
        a, b = (bits >> width * lane & (1 << width) - 1 for bits in (found, wanted))
        if a == b or (is_nan(a, form.kind) and is_nan(b, form.kind)):
            continue
        if not form.bound or is_nan(a, form.kind) or is_nan(b, form.kind) or abs(a - b) > form.bound:
            return True
    return False


def mnemonic(instruction: str) -> str:
    """Returns the first part of an instruction's name, such as ``cvt.rn.bf16.f32``."""
    return instruction.partition(".")[0]


@pytest.mark.sampled(by=mnemonic)
@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32 - 1))
def test_an_instruction(name: str, seed: int) -> None:
    assert not wrong_rows([name], seed)[name]


#: How many instructions a kernel has at most. With one, most of its time is that of a compilation of an empty kernel.
MOST = 16


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["x86-64", "x86-64-v3"])
def test_all_instructions_of_another_processor(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With SSE2, and with AVX2, the same models hold."""
    monkeypatch.setattr(CPUDriver, "get_current_target", lambda _: GPUTarget("cpu", arch, 1))
    by_widths: dict[tuple[int, ...], list[str]] = {}
    for name, form in FORMS.items():
        by_widths.setdefault(form.widths, []).append(name)
    chosen = [names[i : i + MOST] for names in by_widths.values() for i in range(0, len(names), MOST)]
    assembly.device_caches.clear()  # the kernels of this process that are in memory
    try:
        found = {name: rows for names in chosen for name, rows in wrong_rows(names, 1).items()}
        kernels = [kernel for cache, *_ in assembly.device_caches.values() for kernel in cache.values()]
    finally:
        assembly.device_caches.clear()
    assert found.keys() == FORMS.keys()
    assert not {name: rows for name, rows in found.items() if rows}
    assert len(kernels) == len(chosen)
    assert {kernel.metadata.target.arch for kernel in kernels} == {arch}


def wrong_rows(names: list[str], seed: int) -> dict[str, list[tuple[list[str], str, str]]]:
    """Returns operands, result and wanted result of the elements for which an instruction is wrong, by instruction.

    Args:
        names: instructions whose registers have the same widths; one kernel has all of them.
        seed: chooses the operands.
    """
    result, *widths = FORMS[names[0]].widths
    operands = [ptx_models.registers(seed + i, N, width) for i, width in enumerate(widths)]
    registers = ", ".join(f"${i}" for i in range(1 + len(widths)))
    constraints = ",".join(["=" + CONSTRAINTS[result], *(CONSTRAINTS[width] for width in widths)])
    out = launch(
        tuple(FORMS[name].text or f"{name} {registers};" for name in names),
        constraints,
        torch.zeros(len(names), N, dtype=getattr(torch, f"int{result}")),
        *(tensor(bits, width) for bits, width in zip(operands, widths, strict=True)),
    )
    rows = list(zip(*(bits.tolist() for bits in operands), strict=True))
    wrong = {}
    for name, found in zip(names, out.numpy().view(f"u{result // 8}").tolist(), strict=True):
        wanted = [FORMS[name].model(*row) for row in rows]
        wrong[name] = [
            (list(map(hex, row)), hex(a), hex(b))
            for row, a, b in zip(rows, found, wanted, strict=True)
            if problem(FORMS[name], a, b)
        ][:5]
    return wrong


UNPACK = """{
    .reg .b8 tmp<4>;
    mov.b32 {tmp0, tmp1, tmp2, tmp3}, $4;   // four elements of 8 bits
    cvt.rn.f32.s8 $0, tmp0; cvt.rn.f32.s8 $1, tmp1;
    cvt.rn.f32.s8 $2, tmp2; /* the rest */ cvt.rn.f32.s8 $3, tmp3;
}"""


def test_four_elements_in_a_register() -> None:
    x = torch.arange(-128, 128, dtype=torch.int8)
    out = launch(UNPACK, "=r,=r,=r,=r,r", torch.zeros(256), x, pack=4)
    assert torch.equal(out, x.float())


def test_two_halves_in_a_register() -> None:
    x = torch.linspace(-3, 3, 64, dtype=torch.float16)
    y = torch.linspace(5, -5, 64, dtype=torch.float16)
    out = launch("min.f16x2 $0, $1, $2;", "=r,r,r", torch.zeros(64, dtype=torch.float16), x, y, pack=2)
    assert torch.equal(out, torch.minimum(x, y))


def test_a_byte_in_a_register_of_its_own() -> None:
    x = torch.arange(256, dtype=torch.int16).to(torch.uint8)
    out = launch("shl.b32 $0, $1, 3;", "=r,r", torch.zeros(256, dtype=torch.uint8), x)
    assert torch.equal(out, x << 3)


#: Four bits to bf16: 0x4300 is 128, to which the low bits of the number are added.
INT4 = """{
    .reg .b32 low, magic;
    mov.b32 magic, 0x43004300;
    lop3.b32 low, $1, 0x000f000f, magic, 0xea;
    fma.rn.bf16x2 $0, low, 0x3f803f80, 0xc308c308;
}"""


def test_the_trick_with_bf16() -> None:
    x = torch.arange(16, dtype=torch.int16).repeat(4)
    out = launch(INT4, "=r,r", torch.zeros(64, dtype=torch.bfloat16), x, pack=2)
    assert torch.equal(out, (x - 8).to(torch.bfloat16))


def test_a_sum_is_rounded_once() -> None:
    """1 + 2^-8 is between two numbers of bf16; 2^-100 decides."""
    x, y, z = (torch.full((16,), value, dtype=torch.bfloat16) for value in (1.0625, 1.0625, 2.0**-100))
    # 1.0625^2 = 1.12890625, the middle of 1.125 and 1.1328125.
    out = launch("fma.rn.bf16 $0, $1, $2, $3;", "=h,h,h,h", torch.zeros(16, dtype=torch.bfloat16), x, y, z)
    assert (out == 1.1328125).all()


@triton.jit
def clocks(out, N: tl.constexpr):
    start = tl.inline_asm_elementwise("mov.u64 $0, %clock64;", "=l", [], tl.int64, False, 1)
    tl.store(out, tl.extra.cuda.smid())
    total = 0.0
    for i in range(N):
        total += tl.math.exp(total - i)
    tl.store(out + 3, total.to(tl.int64))
    end = tl.inline_asm_elementwise("mov.u64 $0, %clock64;", "=l", [], tl.int64, False, 1)
    tl.store(out + 1, end - start)
    tl.store(out + 2, tl.inline_asm_elementwise("mov.u32 $0, %ctaid.x;", "=r", [], tl.int32, True, 1))
    tl.store(out + 4, tl.inline_asm_elementwise("mov.u32 $0, %nctaid.x;", "=r", [], tl.int32, True, 1))


def test_special_registers() -> None:
    times = []
    for count in (10, 100_000):
        out = torch.zeros(5, dtype=torch.int64)
        clocks[(1,)](out, count)
        assert 0 <= out[0] < 4096
        assert out[2] == 0
        assert out[4] == 1
        times.append(int(out[1]))
    assert 0 < times[0] < times[1]


@pytest.mark.parametrize(
    ("register", "value"),
    [
        ("laneid", 0),
        ("lanemask_lt", 0),
        ("lanemask_le", 1),
        ("lanemask_eq", 1),
        ("lanemask_ge", -1),
        ("lanemask_gt", -2),
    ],
)
def test_masks_of_lanes(register: str, value: int) -> None:
    """A program is one lane, so bit 0 is its own."""
    x = torch.zeros(16, dtype=torch.int32)
    out = launch(f"mov.u32 $0, %{register};", "=r,r", torch.full((16,), 7, dtype=torch.int32), x)
    assert (out == value).all()


@triton.jit
def times(out, N: tl.constexpr):
    tl.store(out, tl.extra.cuda.globaltimer())
    total = 0.0
    for i in range(N):
        total += tl.math.exp(total - i)
    tl.store(out + 2, total.to(tl.int64))
    tl.store(out + 1, tl.extra.cuda.globaltimer())


def test_the_global_timer_counts_nanoseconds() -> None:
    out = torch.zeros(3, dtype=torch.int64)
    times[(1,)](out, 100_000)  # compiles
    before = time.time_ns()
    times[(1,)](out, 100_000)
    after = time.time_ns()
    assert before <= out[0] < out[1] <= after
    assert out[1] - out[0] > 100_000


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("mov $0, $1;", "'mov $0, $1': the instruction has no type"),
        ("v_mov_b32_e32 $0, $1", "this instruction is not supported"),
        ("add.u32 $0, $0, $1;", "'add.u32 $0, $0, $1': reads $0 before it is written"),
        ("{ L: add.u32 $0, $1, 1; }", "'L: add.u32 $0, $1, 1' is not an instruction"),
        ("ld.global.u32 $0, [$1];", "'[' is not a register"),
        ("add.u16 $0, $1, 1;", "$1 has 32 bits, expected 16"),
        ("add.oob.f32 $0, $1, $1;", "'.oob' is not supported here"),
        ("mov.u32 $0, %lanemask_ne;", "the special register %lanemask_ne is not supported"),
        ("add.f32 $0, $1, 1;", "a number of the type f32 needs a point"),
        ("{ add.u32 $0, $1, 1;", "a brace is not closed"),
        ("add.u32 $0, -$1, 1;", "'-' before a register is not supported here"),
        ("add.u32 $0, $1.b0, 1;", "'.b0' is not supported here"),
        ("add.u32 $0.h1, $1, 1;", "'.h1' is not supported here"),
        ("vadd.u32.u32.u32 $0, $1.b4, $1;", "'.b4' does not select a byte or a half"),
        ("vadd.u32.u32.u32 $0.h0, $1, $1;", "this number of operands is not supported"),
        ("vadd.u32.u32.u32.min $0, $1, $1, $1;", "'.min' needs '.sat' here"),
        ("vshl.u32.u32.u32.sat.clamp $0, $1, $1;", "the ISA does not say how many bits"),
        ("vmad.u32.u32.u32.sat $0, -$1, $1, $1;", "'.sat' of a negated product of unsigned words"),
        ("vadd4.u32.u32.u32 $0, $1.b321, $1, $1;", "'.b321' does not select 4 parts"),
        ("vadd2.u32.u32.u32 $0.h01, $1, $1, $1;", "'.h01' is not a mask"),
        ("vset2.u32.u32.add $0, $1, $1, $1;", "expected a comparison"),
        ("// nothing", "$0 is not written"),
    ],
)
def test_a_refusal_has_the_text(text: str, why: str) -> None:
    with pytest.raises(RuntimeError, match=rf"test_convert_ptx_to_arith\.py:\d+:\d+: .*{re.escape(why)}"):
        launch(text, "=r,r", torch.zeros(16, dtype=torch.int32), torch.zeros(16, dtype=torch.int32))


def test_the_page_is_current() -> None:
    assert (ROOT / "docs" / "reference" / ptx_page.PAGE).read_text() == ptx_page.page(), "run make docs"


BUGS = {
    "a byte has no sign": mutants.Mutation("Video.cpp", "isSigned(type(first + i))", "false"),
    "saturates to a word": mutants.Mutation("Video.cpp", "limitsOf(to->bits, hasSign)", "limitsOf(32, hasSign)"),
    "the mean of a tie is the lesser": mutants.Mutation("Video.cpp", "add(sum, up)", "sum"),
    "a lane without a mask is 0": mutants.Mutation("Video.cpp", "bor(result, band(c, mask))", "result"),
    "the scale is without sign": mutants.Mutation("Video.cpp", "hasSign", "false", behind='scale == "shr7" ? 7 : 15, '),
    "the selector is read from the left": mutants.Mutation("Video.cpp", "llvm::reverse(selector)", "selector"),
    "a predicate is always true": mutants.Mutation("Emitter.cpp", "readPredicate(*at->guard)", "constant(1, 1)"),
    "the first is the highest": mutants.Mutation("Emitter.cpp", "i * bits", "(lanes.size() - 1 - i) * bits"),
    "a shift of 32 is one of 0": mutants.Mutation(
        "Builders.cpp", "constant(bits, 0)", "x", behind="select(fits, left(x, resized(amount, bits)), "
    ),
    "the table is of c, b, a": mutants.Mutation("Bits.cpp", "ofTwo(table >> 4)", "ofTwo(table & 15)"),
    "a tie is odd": mutants.Mutation("SmallFloats.cpp", "false", "true", behind="{2.5, "),
    "a sum is rounded twice": mutants.Mutation(
        "Floats.cpp", "band(inexact, isEven)", "band(inexact, is(I::ne, bits, bits))"
    ),
}
NOTICED = {
    "a byte has no sign": "test_an_instruction and vmin4.s32.s32.s32]",
    "saturates to a word": "test_an_instruction and vadd.u32.s32.u32.sat and d.b2",
    "the mean of a tie is the lesser": "test_an_instruction and vavrg4.u32.u32.u32]",
    "a lane without a mask is 0": "test_an_instruction and vsub2.s32.s32.s32.sat and d.h0",
    "the scale is without sign": "test_an_instruction and vmad.s32.s32.s32.sat.shr15",
    "the selector is read from the left": "test_an_instruction and vadd4.u32.u32.u32 and b0246",
    "a predicate is always true": "test_an_instruction and p]",
    "the first is the highest": "four_elements",
    "a shift of 32 is one of 0": "test_an_instruction and shl.b32",
    "the table is of c, b, a": "test_an_instruction and lop3",
    "a tie is odd": "test_an_instruction and e2m1x2.f32",
    "a sum is rounded twice": "test_a_sum_is_rounded_once",
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/convert_ptx_to_arith", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_noticed(bug: str, libraries: Path, tmp_path: Path) -> None:
    done = mutants.run_tests(Path(__file__), NOTICED[bug], libraries, bug, tmp_path / "cache")
    assert done.returncode == 1, done.stdout[-3000:]


@pytest.mark.slow
def test_without_a_bug_the_tests_pass(libraries: Path, tmp_path: Path) -> None:
    select = " or ".join(f"({select})" for select in sorted(set(NOTICED.values())))
    done = mutants.run_tests(Path(__file__), select, libraries, "", tmp_path / "cache")
    assert done.returncode == 0, done.stdout[-3000:]
