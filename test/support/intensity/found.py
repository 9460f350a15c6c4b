# SPDX-License-Identifier: Apache-2.0
"""`found` returns the intensity of a kernel of `kernels`."""

from __future__ import annotations

from typing import Any

import triton_ext as tx

INTEGERS = {
    "M": "i32",
    "N": "i32",
    "K": "i32",
    "n": "i32",
    "m": "i32",
    "rows": "i32",
    "columns": "i32",
    "groups": "i32",
}


def found(kernel: Any, ints: tuple[str, ...] = (), types: dict[str, str] | None = None, **rest: Any) -> Any:
    """Returns the intensity of a kernel of `kernels`; what is no integer or constexpr is a pointer to f32."""
    constexprs = {name: value for name, value in rest.items() if name.isupper()}
    options = {name: value for name, value in rest.items() if name not in constexprs}
    signature = {}
    for name in kernel.arg_names:
        pointer = "*i32" if name in ints else "*fp32"
        signature[name] = constexprs.get(name, (types or {}).get(name, INTEGERS.get(name, pointer)))
    return tx.intensity(kernel, signature=signature, target="cuda:90", **options)
