# SPDX-License-Identifier: Apache-2.0
"""Optuna, which is an optional dependency: importing it, and studies in a storage."""

from __future__ import annotations

import os
import time
from types import ModuleType
from typing import Any

from ..errors import TritonExtError
from ..support.shown import said, shown

#: How often a storage is opened: processes that open an empty one at the same time make its tables at the same time.
_OPENINGS = 10


def optuna() -> ModuleType:
    """Returns the module Optuna.

    Raises:
        TritonExtError: it is not installed.
    """
    try:
        import optuna as module
    except ImportError as error:
        raise TritonExtError(f"a search needs Optuna: {error}", fix="pip install 'triton-ext[search]'") from None
    module.logging.set_verbosity(module.logging.WARNING)
    return module


def storage_of(storage: str | os.PathLike[str] | None) -> Any:
    """Returns the storage of Optuna that `storage` names.

    Args:
        storage: a file for SQLite; a URL such as ``postgresql://host/database``; None for memory.

    Raises:
        TritonExtError: it cannot be opened.
    """
    module = optuna()
    if storage is None:
        return module.storages.InMemoryStorage()
    text = os.fspath(storage)
    url = text if "://" in text else f"sqlite:///{os.path.abspath(text)}"
    # Processes that write at the same time wait for each other.
    arguments = {"connect_args": {"timeout": 60}} if url.startswith("sqlite") else {"pool_pre_ping": True}
    left = _OPENINGS
    while True:
        left -= 1
        try:
            return module.storages.RDBStorage(url, engine_kwargs=arguments)
        except Exception as error:
            if left and "already exists" in str(error):  # another process has just made the tables
                time.sleep(0.5)
                continue
            no_driver = url.startswith("postgresql") and isinstance(error, ImportError)
            raise TritonExtError(
                f"the storage {shown(text)} cannot be opened: {said(error)}",
                fix="pip install 'psycopg[binary]'" if no_driver else "a file, or postgresql://host/database",
            ) from error


def load_study(storage: str | os.PathLike[str], name: str | None = None) -> Any:
    """Returns the study in a storage.

    Args:
        storage: as for `storage_of`.
        name: name of the study; None if there is only one.

    Raises:
        TritonExtError: there is no such study.
    """
    module = optuna()
    text = os.fspath(storage)
    if "://" not in text and not os.path.isfile(text):
        raise TritonExtError(f"no such file: {text}")
    opened = storage_of(storage)
    names = module.get_all_study_names(opened)
    if not names or (name is not None and name not in names):
        raise TritonExtError(f"{text} has no study{f' {name!r}' if name else ''}; it has: {', '.join(names) or 'none'}")
    if name is None and len(names) > 1:
        raise TritonExtError(f"{text} has several studies: {', '.join(names)}", fix="--study NAME")
    return module.load_study(study_name=name or names[0], storage=opened)
