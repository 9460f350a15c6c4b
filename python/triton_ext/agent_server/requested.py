# SPDX-License-Identifier: Apache-2.0
"""The compilation that an agent asks for."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..compilation.describe import compile_and_observe
from ..compilation.records import Compilation
from ..compilation.requests import KernelRequest, find_target, request_for
from ..errors import TritonExtError
from ..pipeline import text_form
from ..pipeline.inspection import Level
from ..pipeline.pipeline import Pipeline
from ..searching.describing import described, drivers_stand_in, stand_ins
from ..support.shown import said
from .answers import FailedError
from .inputs import cases_of, checked_options, kernel_at, launch


@dataclass(frozen=True)
class Asked:
    """What an agent asks to compile.

    Attributes:
        root: the directory of the user's files.
        kernel: ``FILE.py:kernel``, or a file with IR.
        signature: e.g. ``*fp16:16, i32, 64``; None if `inputs` are given.
        inputs: ``FILE.py:function``, whose first launch has the types.
        grid: where these launches have none; see `cases_of`.
        target: e.g. ``cuda:90``; None for the machine's.
        options: options of the backend; with `inputs` also values of constexprs.
        pipeline: the text of the edits.
    """

    root: str
    kernel: str
    signature: str | None
    inputs: str | None
    grid: Sequence[int] | str | None
    target: str | None
    options: Mapping[str, Any] | None
    pipeline: str

    def edits(self) -> Pipeline:
        """Returns the pipeline; see `pipeline_of`."""
        return pipeline_of(self.pipeline, self.root)

    def request(self) -> KernelRequest:
        """Returns the compilation.

        Raises:
            FailedError: the kernel, its signature, its inputs or an option does not fit.
        """
        given = checked_options(self.options)
        try:
            return self._from_inputs(self.inputs, given) if self.inputs else self._from_signature(given)
        except (FailedError, MemoryError):
            raise
        except TritonExtError as error:
            fix = None if self.signature or self.inputs or error.fix else "give signature or inputs"
            raise FailedError("input error", str(error), fix=fix) from error
        except Exception as error:
            raise FailedError("compile error", text_of(error)) from error

    def _from_signature(self, given: Mapping[str, Any]) -> KernelRequest:
        request = request_for(self.kernel, self.target, self.signature, given)
        names = getattr(getattr(request.source, "fn", None), "arg_names", ())
        if taken := [name for name in given if name in names]:
            fix = "give its value in the signature"
            raise FailedError("input error", f"option '{taken[0]}' is an argument of the kernel", fix=fix)
        return request

    def _from_inputs(self, inputs: str, given: Mapping[str, Any]) -> KernelRequest:
        kernel, case = kernel_at(self.kernel), cases_of(inputs, self.grid)[0]
        if self.target is not None and (arguments := described(case.arguments)) is not None:
            drivers_stand_in(find_target(self.target))  # this machine need not have the target
            case = replace(case, arguments=stand_ins(arguments))
        source = launch(kernel, case, given, warmup=True).src
        options = {n: v for n, v in {**case.arguments, **given}.items() if n not in kernel.parameters}
        return KernelRequest(source, find_target(self.target), options, kernel.name, kernel.pipelines)


def pipeline_of(text: str, root: str) -> Pipeline:
    """Returns the pipeline that `text` describes. The functions that it names have to be defined below `root`.

    Raises:
        FailedError: the text is malformed, or names something that does not exist or is not permitted.
    """
    try:
        for call in text_form.syntax(text):
            for argument in call.arguments:
                if ":" in argument.name:
                    _check_function(argument.name, root)
        return Pipeline.parse(text)
    except FailedError:
        raise
    except TritonExtError as error:
        raise FailedError("pipeline error", str(error)) from error


def _check_function(name: str, root: str) -> None:
    """Raises FailedError unless ``module:function`` is in a file below `root`; imports nothing."""
    module, _, function = name.partition(":")
    try:
        spec = importlib.util.find_spec(module) if module.isidentifier() and function.isidentifier() else None
    except (ImportError, ValueError):
        spec = None
    origin = os.path.realpath(spec.origin) if spec is not None and spec.origin else ""
    if not origin.startswith(f"{root.rstrip('/')}/"):
        raise FailedError(
            "refused",
            f"'{name}': a pipeline may name functions of modules under the root only",
            fix="name a function of a file beside the kernel",
        )


def compiled(request: KernelRequest, pipeline: Pipeline, level: Level) -> tuple[Any, Compilation]:
    """Compiles, and returns Triton's ``CompiledKernel`` and the record.

    Raises:
        FailedError: the compilation failed.
    """
    try:
        return compile_and_observe(request, level, pipeline)
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:
        raise FailedError("compile error", text_of(error)) from error


def text_of(error: BaseException) -> str:
    """Returns the message of `error` with its notes."""
    text = said(error) if isinstance(error, TritonExtError) else f"{type(error).__name__}: {said(error)}"
    return "\n".join([text, *getattr(error, "__notes__", ())])
