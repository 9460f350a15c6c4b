# SPDX-License-Identifier: Apache-2.0
"""Targets that Triton has none of. In a checkout they lie in its directory ``backends``, in a wheel here."""

from pathlib import Path

_checkout = Path(__file__).resolve().parents[3] / "backends"
if (_checkout / "cpu" / "__init__.py").is_file():
    __path__.append(str(_checkout))
