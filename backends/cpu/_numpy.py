# SPDX-License-Identifier: Apache-2.0
"""NumPy arrays and scalars as arguments of kernels.

Triton calls ``data_ptr()`` on its arguments, and an array does not have that method. The function that Triton generates
for a kernel calls ``specialize_impl`` for each argument; for kernels on the CPU, that is the function of this module,
which asks Triton's own one first.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

from triton._C.libtriton import native_specialize_impl

from triton_ext.patches.kernel_arguments import specialize_by

from .compiler import CPUBackend

_TYPES = {
    "bool": "i1",
    "float16": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
    "float64": "fp64",
    "float8_e4m3fn": "fp8e4nv",
    "float8_e5m2": "fp8e5",
    "float8_e4m3fnuz": "fp8e4b8",
    "float8_e5m2fnuz": "fp8e5b16",
    **{f"{'u' * unsigned}int{bits}": f"{'ui'[not unsigned]}{bits}" for unsigned in (0, 1) for bits in (8, 16, 32, 64)},
}


_NATIVE = "array.astype(array.dtype.newbyteorder('='))"


def _specialize(backend: Any, arg: Any, is_const: bool, specialize: bool, align: bool) -> tuple[Any, Any]:
    """Returns the type and the specialisation of one argument."""
    try:
        return native_specialize_impl(backend, arg, is_const, specialize, align)  # type: ignore[no-any-return]
    except TypeError:
        if isinstance(arg, tuple) and not hasattr(arg, "_fields"):
            parts = [_specialize(backend, part, is_const, specialize, align) for part in arg]
            return tuple(kind for kind, _ in parts), tuple(special for _, special in parts)
        numpy = sys.modules.get("numpy")
        if numpy is None or not isinstance(arg, numpy.ndarray | numpy.generic):
            raise
    name = _TYPES.get(arg.dtype.name)
    if name is None:
        raise TypeError(f"a kernel cannot take a NumPy array of {arg.dtype}") from None
    # The buffer protocol does not tell the launcher the byte order of types outside of NumPy, such as bfloat16.
    if arg.dtype.kind == "V" and not arg.dtype.isnative:
        raise ValueError(f"a kernel cannot take a NumPy array of another byte order (fix: {_NATIVE})") from None
    if isinstance(arg, numpy.generic):
        return native_specialize_impl(backend, arg.item(), is_const, specialize, align)  # type: ignore[no-any-return]
    aligned = specialize and align and arg.__array_interface__["data"][0] % 16 == 0
    return ("*k" if is_const else "*") + name, ("D" if aligned else "") if specialize else None


@functools.cache
def accept_arrays() -> None:
    """Makes kernels on the CPU accept NumPy arrays from now on."""
    specialize_by(_specialize, lambda backend: isinstance(backend, CPUBackend))
