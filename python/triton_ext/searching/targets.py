# SPDX-License-Identifier: Apache-2.0
"""The target that a search compiles for on this machine."""

from __future__ import annotations

from typing import Any

from .. import backends


def own_target(backend: str) -> str | None:
    """Returns the target that `backend` declares, e.g. ``cpu:native``; None for Triton's own backends."""
    declared = backends.declared().get(backend)
    return declared.target if declared else None


def named_target(target: str | None) -> str | None:
    """Returns `target`; for the name of a backend alone, e.g. ``cpu``, the target that this backend declares."""
    return None if target is None else own_target(target) or target


def runnable(target: Any) -> str:
    """Returns the text of the ``GPUTarget`` `target`; for a backend that declares one, that target.

    A backend of ours may describe this machine in more words than a user can write, such as a list of features.
    """
    return own_target(target.backend) or f"{target.backend}:{target.arch}"
