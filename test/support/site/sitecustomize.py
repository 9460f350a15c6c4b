# SPDX-License-Identifier: Apache-2.0
"""Python imports this at its start in each process of the tests: Triton's own key comes from a file, no garbage
collection looks at what importing torch has made, and torch is imported without what only tracing needs.

``triton_key()`` reads and hashes libtriton, 500 MB, in each process that compiles, which takes 0.4 s of processor time.
The first process writes the key into ``build/triton-keys``, under a name that depends on path, size, inode and times of
every file that goes into the key; the others read it. The key is the one that Triton computes.

Importing torch makes a million objects, and each process that imports it would look for garbage among them during the
import and at its end: 0.7 s of 2 s of processor time.

While it is imported, torch also defines in Python how its operations work on tensors without data (the device "meta"),
for tracing and compiling functions: 0.4 of 1.25 s. Processes that tests start define them when they import what traces.
There, a process that calls such an operation without tracing gets an error of torch.

It takes effect through PYTHONPATH, which the root's ``conftest.py`` sets. A process that ignores PYTHONPATH, or has
another one, computes the key itself. Python imports only the first module of this name, so this one runs the next one,
of the user or of the distribution.
"""

from __future__ import annotations

import importlib
import os
import sys
from importlib.machinery import PathFinder, SourceFileLoader

TYPE_CHECKING = False  # importing `typing` or `pathlib` would cost every process milliseconds
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from importlib.machinery import ModuleSpec
    from pathlib import Path
    from types import ModuleType
    from typing import Any

MODULE = "triton.runtime.cache"


def inputs(triton: Path) -> Iterator[Path]:
    """Yields every file whose content goes into the key."""
    yield triton / "runtime" / "cache.py"
    yield from sorted((triton / "_C").glob("libtriton.*"))
    for part in ("compiler", "backends", "language"):
        # In a Triton that is built in place, the directory of a backend is a link.
        for directory, _, names in os.walk(triton / part, followlinks=True):
            yield from (triton / directory / name for name in names if name.endswith(".py"))


def kept(compute: Callable[[], str]) -> Callable[[], str]:
    """Returns a function with the result of `compute`, which is Triton's ``triton_key``."""
    import functools
    import hashlib
    from pathlib import Path

    keys = Path(__file__).resolve().parents[3] / "build" / "triton-keys"

    @functools.lru_cache
    def triton_key() -> str:
        identity = []
        for path in inputs(Path(sys.modules[MODULE].__file__ or "").parents[1]):
            stat = path.stat()
            identity.append((str(path), stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns))
        file = keys / hashlib.sha256(repr(sorted(identity)).encode()).hexdigest()
        try:
            return file.read_text()
        except OSError:
            key = compute()
        try:
            keys.mkdir(parents=True, exist_ok=True)
            partial = file.with_suffix(f".{os.getpid()}")
            partial.write_text(key)
            partial.replace(file)
        except OSError:  # e.g. a limit of file sizes that a test has set
            pass
        return key

    return triton_key


class Loader(SourceFileLoader):
    """Loads the module that defines ``triton_key``."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        vars(module)["triton_key"] = kept(module.triton_key)


class LoaderOfTorch(SourceFileLoader):
    """Loads torch without garbage collections, and takes its objects out of those that follow.

    After libtriton, they stay in: nanobind reports a leak if libtriton's types are not collected at the end of the
    process, and ``gc.freeze`` cannot leave them out.
    """

    def exec_module(self, module: ModuleType) -> None:
        import gc

        was_enabled = gc.isenabled()
        gc.disable()
        try:
            super().exec_module(module)
            # torch.Generator() needs what this module registers; torch imports it with the operations of METAS.
            importlib.import_module("torch._prims.rng_prims")
        finally:
            if "triton._C.libtriton" not in sys.modules:
                gc.freeze()
            if was_enabled:
                gc.enable()


class LoaderOfMetas(SourceFileLoader):
    """Leaves the module empty in processes that a test starts, until something asks for a name in it."""

    def exec_module(self, module: ModuleType) -> None:
        run = super().exec_module

        def missing(name: str) -> Any:
            if not name.startswith("__"):  # what looks at all modules asks for such names
                del vars(module)["__getattr__"]
                run(module)
                if name in vars(module):
                    return vars(module)[name]
            raise AttributeError(f"module '{module.__name__}' has no attribute '{name}'")

        if "PYTEST_CURRENT_TEST" in os.environ:
            vars(module)["__getattr__"] = missing
        else:
            run(module)


class LoaderOfDynamo(SourceFileLoader):
    """Loads what traces and compiles functions of torch, after the operations on tensors without data."""

    def exec_module(self, module: ModuleType) -> None:
        getattr(sys.modules.get(METAS), "any", None)
        super().exec_module(module)


METAS = "torch._meta_registrations"
LOADERS = {MODULE: Loader, "torch": LoaderOfTorch, METAS: LoaderOfMetas, "torch._dynamo": LoaderOfDynamo}


class Finder:
    """Finds the modules of `LOADERS`."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        loader = LOADERS.get(name)
        if loader is None:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.origin is not None:
            spec.loader = loader(name, spec.origin)
        return spec


def run_next() -> None:
    """Runs the module that Python would import if the directory of this one were not on the path."""
    places = [os.path.realpath(place) for place in sys.path]
    here = os.path.dirname(os.path.realpath(__file__))
    behind = sys.path[places.index(here) + 1 :] if here in places else []
    spec = PathFinder.find_spec("sitecustomize", behind)
    if spec is not None and spec.loader is not None:
        from importlib.util import module_from_spec

        spec.loader.exec_module(module_from_spec(spec))


sys.meta_path.insert(0, Finder)
if __name__ == "sitecustomize":
    run_next()
