# SPDX-License-Identifier: Apache-2.0
"""Finds the directories that hold backends: in the package, in a checkout, in bundles, and in ``TRITON_EXT_PATH``."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from pathlib import Path

from ..errors import TritonExtError

_HERE = Path(__file__).resolve().parent


class Places:
    """The value of ``triton_ext.backends.__path__``, in which Python looks for the package of each backend.

    It is read again at each use, because ``TRITON_EXT_PATH`` may have changed. So a backend of a bundle is
    ``triton_ext.backends.<name>`` like the others, and the bundle's own package is never imported.
    """

    def __iter__(self) -> Iterator[str]:
        yield str(_HERE)
        if (checkout := _checkout()) is not None:
            yield str(checkout / "backends")
        places = [directory for directory in _of_bundles() if directory.is_dir()]
        for item in filter(None, os.environ.get("TRITON_EXT_PATH", "").split(os.pathsep)):
            places += _beside(Path(item))
        yield from dict.fromkeys(map(str, places))

    def __len__(self) -> int:
        return len(list(self))

    def __getitem__(self, index: int) -> str:
        return list(self)[index]


def _checkout() -> Path | None:
    """Returns the checkout whose libraries are used, or else the one of this package; None if this is a wheel."""
    from ..support.resources import library_dir

    roots = (*library_dir().parents[2:3], _HERE.parents[2])
    return next((root for root in roots if (root / "infra" / "cmake").is_dir()), None)


def _beside(package: Path) -> list[Path]:
    """Returns the directory with the backends of a bundle whose package is the directory `package`, if there is one.

    They are in ``backends`` of the installed package, or of the source tree, where the package is ``src/<package>``.
    """
    source = package.absolute().parent.parent
    places = [package.absolute() / "backends"]
    if package.absolute().parent.name == "src" and os.path.isfile(source / "pyproject.toml"):
        places.append(source / "backends")
    # If a name is too long, `os.path.isdir` returns False, but `Path.glob` raises.
    return [place for place in places if os.path.isdir(place) and any(place.glob("*/backend.json"))]


@functools.cache
def _of_bundles() -> tuple[Path, ...]:
    from ..loading.bundles import bundles, directories_of

    found: list[Path] = []
    for _, package, _ in bundles():
        try:
            found += (place for each in directories_of(package or "") for place in _beside(each))
        except (TritonExtError, ValueError):  # `triton-ext list` reports it as a broken bundle
            continue
    return tuple(found)


def origin_of(directory: Path) -> str:
    """Returns where the backend in `directory` comes from, as `Extension.origin` says it."""
    checkout = _checkout()
    if directory.parent == _HERE or (checkout and directory.parent == checkout / "backends"):
        return "built in"
    from ..loading.bundles import bundles, directories_of

    for _, package, distribution in bundles():
        try:
            if package and any(directory.parent in _beside(each) for each in directories_of(package)):
                return f"bundle {distribution}"
        except (TritonExtError, ValueError):
            continue
    return "TRITON_EXT_PATH"
