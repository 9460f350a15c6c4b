# SPDX-License-Identifier: Apache-2.0
"""The target ``linalg:generic``: Triton kernels as linalg on tensors, for other toolchains to take from there."""

from __future__ import annotations

__all__ = ["register"]


def register() -> None:
    """Makes the target one that Triton knows, also where ``TRITON_BACKENDS_IN_TREE`` keeps it from finding ours."""
    from triton.backends import Backend, backends

    from .compiler import LinalgBackend
    from .driver import NoDriver

    backends.setdefault("linalg", Backend(LinalgBackend, NoDriver))
