# SPDX-License-Identifier: Apache-2.0
"""The candidates of a tuning, which are configurations times pipelines; makes many pipelines with readable names."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from triton.runtime.autotuner import Config

from ..errors import PipelineError
from ..pipeline.active import Active
from ..pipeline.pipeline import Pipeline, loaded
from ..pipeline.values import Value, text_of
from ..support.shown import shown


class Candidate(Config):  # type: ignore[misc]
    """A ``triton.Config`` with a pipeline. Without a pipeline it equals the ``triton.Config`` that it was made from.

    Attributes:
        pipeline: name of the pipeline; empty if the kernel is tuned over configurations only.
        edits: the pipeline.
    """

    def __init__(self, config: Any, pipeline: str = "", edits: Pipeline | None = None) -> None:
        self.__dict__.update(config.__dict__)
        self.pipeline = pipeline
        self.edits = Pipeline() if edits is None else edits

    @property
    def active(self) -> Active | None:
        """The pipeline, ready to be entered; None if it has no edits, so that the kernel keeps Triton's own key."""
        if not self.edits.edits:
            return None
        return loaded(self.edits)

    def __str__(self) -> str:
        return str(super().__str__()) + (f", pipeline: {self.pipeline}" if self.pipeline else "")

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Config)
            and bool(super().__eq__(other))
            and self.pipeline == getattr(other, "pipeline", "")
        )

    def __hash__(self) -> int:
        plain: int = super().__hash__()
        return hash((plain, self.pipeline)) if self.pipeline else plain


def checked_pipelines(pipelines: Mapping[str, Pipeline] | None) -> dict[str, Pipeline]:
    """Returns `pipelines` as a dictionary; for None, one empty pipeline without a name.

    Raises:
        PipelineError: `pipelines` is empty, or not a mapping of names to pipelines.
    """
    if pipelines is None:
        return {"": Pipeline()}
    if not isinstance(pipelines, Mapping) or not pipelines:
        raise PipelineError(
            f"pipelines: expected pipelines by name, got {shown(pipelines)}", fix='{"plain": tx.Pipeline()}'
        )
    for name, pipeline in pipelines.items():
        if not isinstance(name, str) or not name:
            raise PipelineError(f"pipelines: expected a name, got {shown(name)}")
        if not isinstance(pipeline, Pipeline):
            raise PipelineError(f"pipelines: '{name}': expected a Pipeline, got {shown(pipeline)}")
    return dict(pipelines)


def sweep(where: str | Callable[..., Pipeline], **values: Iterable[Value]) -> dict[str, Pipeline]:
    """Makes pipelines that differ in the arguments of a pass, one for each combination of `values`.

    Args:
        where: the anchor of a built-in pass, whose arguments are set; or a function that takes the values and returns
            a pipeline, e.g. one that places an extension pass with other options.
        values: the values to try, by the name of the argument.

    Returns:
        The pipelines by names such as ``pipeline(num_stages=3)``. Join several with ``|``, or with `product`.

    Raises:
        PipelineError: the anchor is malformed, `values` are not lists of int, bool or str, there is nothing to try, or
            the function returns something other than a pipeline.
    """
    if not callable(where) and not isinstance(where, str):
        raise PipelineError(f"sweep: expected an anchor or a function that returns a pipeline, got {shown(where)}")
    tried = {name: _choices(name, choices) for name, choices in values.items()}
    empty = [name for name, choices in tried.items() if not choices]
    if not tried or empty:
        raise PipelineError(f"sweep: nothing to try{f' for {empty[0]!r}' if empty else ''}", fix="num_stages=[2, 3, 4]")
    title = where.rpartition(".")[2] if isinstance(where, str) else ""
    pipelines = {}
    for choice in itertools.product(*tried.values()):
        arguments = dict(zip(tried, choice, strict=True))
        text = ", ".join(f"{name}={text_of(value)}" for name, value in arguments.items())
        made = _set(where, arguments) if isinstance(where, str) else where(**arguments)
        if not isinstance(made, Pipeline):
            raise PipelineError(f"sweep: {text}: expected a Pipeline, got {shown(made)}")
        pipelines[f"{title}({text})" if title else text] = made
    return pipelines


def _choices(name: str, choices: object) -> list[Value]:
    if isinstance(choices, str) or not isinstance(choices, Iterable):  # a text would be tried letter by letter
        fix = f"{name}=[{shown(choices)}]"
        raise PipelineError(f"sweep: '{name}': expected a list of values, got {shown(choices)}", fix=fix)
    tried = list(choices)
    for value in tried:
        if not isinstance(value, int | bool | str):
            raise PipelineError(f"sweep: '{name}': expected int, bool or str, got {shown(value)}")
    return tried


def _set(anchor: str, arguments: dict[str, Value]) -> Pipeline:
    if "on_missing" in arguments:
        raise PipelineError("sweep: on_missing is not an argument of a pass")
    return Pipeline().set(anchor, on_missing="error", **arguments)


def product(*choices: Mapping[str, Pipeline]) -> dict[str, Pipeline]:
    """Returns every combination of one pipeline out of each of `choices`, with all of their edits.

    The name of a combination consists of the names of its parts that have edits, joined by ``+``.

    Raises:
        PipelineError: there is nothing to combine, two edits of a combination contradict each other, or two
            combinations have the same name.
    """
    if not choices:
        raise PipelineError("product: nothing to combine", fix='tx.product({"plain": tx.Pipeline()}, ...)')
    combined: dict[str, Pipeline] = {}
    for parts in itertools.product(*(checked_pipelines(choice).items() for choice in choices)):
        names = [name for name, pipeline in parts if pipeline.edits] or [parts[0][0]]
        name = " + ".join(names)
        if name in combined:
            raise PipelineError(f"product: two pipelines would be called '{name}'")
        combined[name] = sum((pipeline for _, pipeline in parts), Pipeline())
    return combined
