# SPDX-License-Identifier: Apache-2.0
"""One candidate to measure in another process, described in texts and numbers."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..compilation.requests import load_kernel
from ..errors import TritonExtError


@dataclass(frozen=True)
class TensorSpec:
    """The shape, layout, type and device of a tensor, without its contents.

    Attributes:
        shape: its size in each dimension.
        stride: in elements.
        dtype: the result of ``str(tensor.dtype)``, e.g. ``torch.float16``.
        device: e.g. ``cuda:0``.
    """

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: str
    device: str


@dataclass(frozen=True)
class Job:
    """One candidate to measure.

    Attributes:
        group: an id of the tuning, whose candidates share the arguments.
        module: the module of the kernel.
        file: the file of the module.
        name: the name of the kernel in the module.
        config: the arguments of the candidate's configuration, by which the worker finds the configuration.
        pipeline: the name of its pipeline.
        edits: its pipeline, as text.
        key: the key of the pipeline in the sending process; the worker's must be the same.
        outer: the pipelines that are active around it, outermost first, as text.
        device: the device that is tuned for.
        arguments: the arguments of the launch by name, tensors as `TensorSpec`.
        positional: how many of them are positional.
        grid: the grid of the launch.
        sender: the id of the sending process, see `workers.process`.
        attempt: how often it was sent before. It makes the job a new one for Dask, which would otherwise repeat the
            earlier failure.
    """

    group: str
    module: str
    file: str
    name: str
    config: dict[str, Any]
    pipeline: str
    edits: str
    key: str
    outer: tuple[str, ...]
    device: str
    arguments: dict[str, Any]
    positional: int
    grid: tuple[int, ...]
    sender: str = ""
    attempt: int = 0


def kernel_and_inner(kernel: Any) -> Iterator[Any]:
    """Yields `kernel` and what it wraps: tuners, heuristics, the function."""
    while kernel is not None:
        yield kernel
        kernel = getattr(kernel, "fn", None)


def below_tuners(kernel: Any) -> Any:
    """Returns what the tuners around `kernel` launch; `kernel` itself if there are none."""
    while hasattr(kernel, "configs"):
        kernel = kernel.fn
    return kernel


def find_name(kernel: Any) -> tuple[str, str, str]:
    """Returns module, file and name by which another process imports `kernel`.

    Raises:
        TritonExtError: it is not a global variable of a module, nor inside of one.
    """
    *_, function = kernel_and_inner(kernel)
    module = sys.modules.get(function.__module__)
    file = getattr(module, "__file__", None) or ""
    for name, value in list(vars(module).items()) if module is not None and file else []:
        if any(inner is kernel for inner in kernel_and_inner(value)):
            return function.__module__, file, name
    raise TritonExtError(
        f"{function.__name__}: a worker cannot import this kernel", fix="make it a global of a module in a file"
    )


def import_named(module: str, file: str, name: str) -> Any:
    """Returns the object that `find_name` has found; the file is executed if the module cannot be imported."""
    try:
        if module in ("__main__", "__mp_main__"):
            raise ImportError
        return getattr(importlib.import_module(module), name)
    except ImportError:
        return load_kernel(file, name)
