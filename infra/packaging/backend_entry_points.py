# SPDX-License-Identifier: Apache-2.0
"""The programs of every backend in ``backends/``, for the metadata of the package (see pyproject.toml).

``programs`` in ``backend.json`` become console scripts. So a backend is added or deleted with its directory, and
nothing else is edited. Triton's group ``triton.backends`` does not list the backends: Triton would import each, and a
broken one would end the program. ``triton_ext.startup`` offers them instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

BACKENDS = Path(__file__).resolve().parents[2] / "backends"


def dynamic_metadata(settings: Mapping[str, object], project: Mapping[str, object]) -> dict[str, object]:  # noqa: ARG001
    """Returns the fields that the backends add to ``[project]``; scikit-build-core calls it."""
    programs: dict[str, str] = {}
    for file in sorted(BACKENDS.glob("*/backend.json")):
        module = f"triton_ext.backends.{file.parent.name}"
        declared = json.loads(file.read_text())
        programs |= {program: f"{module}.{function}" for program, function in declared.get("programs", {}).items()}
    return {"scripts": programs}
