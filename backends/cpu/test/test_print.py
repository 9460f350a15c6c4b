# SPDX-License-Identifier: Apache-2.0
"""``tl.device_print`` prints the same lines as on a GPU: the tests give the formats of Triton's GPU code to C."""

from __future__ import annotations

import ctypes
import itertools
import re

import pytest
import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget

TYPES = {
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f64": torch.float64,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "u8": torch.uint8,
    "u16": torch.uint16,
    "u32": torch.uint32,
    "u64": torch.uint64,
    "i1": torch.bool,
    "e5m2": torch.float8_e5m2,
}


@triton.jit
def printing(x, y, n, M: tl.constexpr, N: tl.constexpr, HEX: tl.constexpr):
    row, column = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + row[:, None] * N + column[None, :])
    w = tl.load(y + column)
    tl.device_print("one", v, hex=HEX)
    tl.device_print("many", w, n, v, hex=HEX)
    tl.device_print("scalar", n, hex=HEX)
    tl.device_print("address", x + column, hex=HEX)
    tl.device_print("")
    tl.device_print("nothing else")
    tl.device_print("first", tl.load(x), hex=HEX)


def formats(arguments: dict[str, str], constants: dict[str, object]) -> list[bytes]:
    """Returns the format strings in Triton's code for a GPU."""
    source = triton.compiler.ASTSource(printing, arguments, constants)
    code = triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["llir"]
    found = {text.replace("\\0A", "\n") for text in re.findall(r'c"(pid [^"]*)\\00"', code)}
    return [text.encode() for text in sorted(found)]


def printf(text: bytes, values: tuple[float | int, ...]) -> str:
    """Returns the text that C's ``sprintf`` formats."""
    libc, buffer = ctypes.CDLL(None), ctypes.create_string_buffer(1000)
    arguments: list[object] = []
    for conversion, value in zip(re.findall(rb"%\d*(?:ll)?[a-z]", text), values, strict=True):
        if conversion[-1:] in b"fa":
            arguments.append(ctypes.c_double(value))
        elif conversion[-1:] == b"p":
            arguments.append(ctypes.c_void_p(int(value)))
        else:
            digits = re.search(rb"%0(\d+)(?:ll)?x", text)
            mask = (1 << 4 * int(digits[1])) - 1 if digits and int(digits[1]) and conversion.endswith(b"x") else -1
            wide = ctypes.c_longlong if b"ll" in conversion else ctypes.c_int
            arguments.append(wide(int(value) & mask))
    libc.snprintf(buffer, len(buffer), text, *arguments)
    return buffer.value.decode()


def numbers(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the tensor in the form that Triton prints: 8-bit floats as their bits."""
    return tensor.view(torch.uint8) if tensor.dtype == torch.float8_e5m2 else tensor


@pytest.mark.slow
@pytest.mark.parametrize("hexadecimal", [False, True])
@pytest.mark.parametrize("kind", TYPES)
def test_the_lines_are_those_of_a_gpu(kind: str, hexadecimal: bool, capfd: pytest.CaptureFixture[str]) -> None:
    m, n = 2, 16
    x = (torch.randn(m, n) * 40).to(TYPES[kind]) if kind[0] != "u" else (torch.rand(m, n) * 200).to(TYPES[kind])
    y, scalar = torch.arange(-8, 8, dtype=torch.int32), -7
    name = {"f": "fp", "b": "bf"}.get(kind[0], kind[0]) + kind.lstrip("bfiue") if kind != "e5m2" else "fp8e5"
    constants = {"M": m, "N": n, "HEX": hexadecimal}
    known = formats({"x": f"*{name}", "y": "*i32", "n": "i32"} | dict.fromkeys(constants, "constexpr"), constants)
    assert len(known) >= 7
    printing[(1,)](x, y, scalar, M=m, N=n, HEX=hexadecimal)
    printed = capfd.readouterr().out.splitlines(keepends=True)

    grid = list(itertools.product(range(m), range(n)))
    values = numbers(x).tolist()
    operands = {
        b"one: ": [(i, j, values[i][j]) for i, j in grid],
        b"many: (operand 0)": [(j, int(y[j])) for j in range(n)],
        b"many: (operand 1)": [(scalar,)],
        b"many: (operand 2)": [(i, j, values[i][j]) for i, j in grid],
        b"scalar: ": [(scalar,)],
        b"address: ": [(j, x.data_ptr() + j * x.element_size()) for j in range(n)],
        b"nothing else\n": [()],
        b"first: ": [(values[0][0],)],
    }
    expected = ["pid (0, 0, 0)\n"]
    for part, lines in operands.items():
        (text,) = [text for text in known if part in text]
        expected += [printf(text, (0, 0, 0, *line)) for line in lines]
    assert sorted(printed) == sorted(expected)


@triton.jit
def programs(n, B: tl.constexpr):
    tl.device_print("x", n + tl.arange(0, B))


def test_as_the_documentation_shows(capfd: pytest.CaptureFixture[str]) -> None:
    programs[(1, 2)](4, B=4, num_threads=1)
    expected = [f"pid (0, {y}, 0) idx ({i}) x: {4 + i}\n" for y in range(2) for i in range(4)]
    assert capfd.readouterr().out == "".join(expected)
