# SPDX-License-Identifier: Apache-2.0
"""`space`: everything that can be turned for a kernel, found from a recorded compilation of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import TritonExtError
from ..pipeline.pipeline import Pipeline
from ..pipeline.records import StageRecord
from ..pipeline.values import text_of
from ..support.closest import closest
from ..support.shown import shown
from .builtin_knobs import builtin_knobs
from .extension_knobs import OFF, extension_knobs
from .knobs import OF_LAUNCHES, Knob, Value, index_of
from .launch_knobs import launch_knobs

Values = Mapping[str, Value]


@dataclass(frozen=True)
class Space:
    """Everything that can be turned for one kernel and target.

    Attributes:
        kernel: name of the kernel.
        target: e.g. ``cuda:90``.
        knobs: the knobs.
        base: constexprs and options of a launch that no knob of this space turns.
    """

    kernel: str
    target: str
    knobs: tuple[Knob, ...]
    base: Mapping[str, Any] = field(default_factory=dict)

    @property
    def default(self) -> dict[str, Value]:
        """The values of the kernel as it is."""
        return {knob.name: knob.default for knob in self.knobs}

    def knob(self, name: str) -> Knob:
        """Returns the knob `name`.

        Raises:
            TritonExtError: there is no such knob.
        """
        for knob in self.knobs:
            if knob.name == name:
                return knob
        close = closest(name, [knob.name for knob in self.knobs])
        raise TritonExtError(
            f"'{self.kernel}' has no knob {shown(name)}" + (f"; did you mean '{close}'?" if close else ""),
            fix="print(tx.space(kernel, ...)) lists them",
        )

    def only(self, names: Iterable[str] | None) -> Space:
        """Returns the space of the knobs that a search turns: those named, or without names those with `searched`.

        Raises:
            TritonExtError: there is no such knob.
        """
        chosen = [k for k in self.knobs if k.searched] if names is None else [self.knob(name) for name in names]
        passes = {k.name for k in chosen if k.kind == "extension pass"}
        options = [k for k in chosen if k.kind != "extension option" or k.place in passes or names is not None]
        return Space(self.kernel, self.target, tuple(dict.fromkeys(options)), self.base)

    def changed(self, values: Values) -> dict[str, Value]:
        """Returns those of `values` that have an effect and are not the default."""
        found: dict[str, Value] = {}
        for knob in self.knobs:
            value = values.get(knob.name, knob.default)
            if type(value) is type(knob.default) and value == knob.default:
                continue
            if knob.kind == "extension option" and values.get(knob.place, OFF) == OFF:
                continue
            found[knob.name] = value
        return found

    def launch(self, values: Values) -> dict[str, Any]:
        """Returns the constexprs and options of a launch with `values`; options that are None are left out."""
        found = {k.name: values.get(k.name, k.default) for k in self.knobs if k.kind in OF_LAUNCHES}
        return {name: value for name, value in {**self.base, **found}.items() if value is not None}

    def constexprs(self, launch: Mapping[str, Any]) -> dict[str, Any]:
        """Returns those of the arguments of a launch that are constexprs of the kernel."""
        names = {knob.name for knob in self.knobs if knob.kind == "constexpr"}
        return {name: value for name, value in launch.items() if name in names}

    def text(self, values: Values) -> str:
        """Returns the edits of `values` as the text form of a pipeline.

        An edit of a pass that another edit leaves out is left out, too.
        """
        changed = self.changed(values)
        gone = {self.knob(name).place for name in changed if self.knob(name).kind in ("skip", "move")}
        replaced = {self.knob(name).place for name in changed if self.knob(name).kind == "llvm pipeline"}
        skipped = {self.knob(name).place for name in changed if self.knob(name).kind == "skip"}
        texts = []
        for name, value in changed.items():
            knob = self.knob(name)
            if knob.kind in OF_LAUNCHES or knob.kind == "extension option":
                continue
            if knob.kind in ("argument", "repeat") and knob.place in gone:
                continue
            if knob.kind == "move" and knob.place in skipped:
                continue
            if knob.kind == "argument" and knob.place in replaced:
                continue
            text = knob.text(value)
            texts.append(text.replace("@", knob.name + self._options(knob.name, changed)))
        return "; ".join(filter(None, texts))

    def pipeline(self, values: Values) -> Pipeline:
        """Returns the pipeline of `values`.

        Raises:
            PipelineError: its edits contradict each other, or name something that is not installed any more.
        """
        return Pipeline.parse(self.text(values))

    def effect(self, values: Values) -> str:
        """Returns the strongest `changes_results` among the knobs that `values` turns."""
        effects = [self.knob(name).changes_results for name in self.changed(values)]
        return "yes" if "yes" in effects else "rounding" if "rounding" in effects else "no"

    def _options(self, extension: str, changed: Values) -> str:
        prefix = f"{extension}."
        given = {name.removeprefix(prefix): v for name, v in changed.items() if name.startswith(prefix)}
        pairs = (f"{name.replace('_', '-')}={text_of(v)}" for name, v in given.items() if v is not None)
        return "{" + " ".join(pairs) + "}" if given else ""

    def checked(self, values: Values) -> dict[str, Value]:
        """Returns `values`, which may come from outside, with the default for every other knob.

        Raises:
            TritonExtError: there is no such knob, or it does not have the value.
        """
        for name, value in values.items():
            knob = self.knob(name)
            try:
                index_of(value, knob.choices)
            except ValueError:
                raise TritonExtError(
                    f"knob '{name}': expected one of {', '.join(map(str, knob.choices))}, got {shown(value)}"
                ) from None
        return {**self.default, **values}

    @property
    def digest(self) -> str:
        """A hash of the knobs, by which a study recognises its space."""
        return hashlib.sha256(self.json().encode()).hexdigest()

    def json(self) -> str:
        """Returns the space as JSON: kernel, target and knobs."""
        knobs = [knob.as_dict() for knob in self.knobs]
        return json.dumps({"kernel": self.kernel, "target": self.target, "knobs": knobs}, indent=1)

    def __str__(self) -> str:
        from .rendering import table_of_space

        return table_of_space(self)


def space(
    kernel: object,
    target: object = None,
    signature: str | Mapping[str, object] | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    configs: Iterable[Any] | None = None,
    pipelines: Mapping[str, Mapping[str, Pipeline]] | None = None,
) -> Space:
    """Compiles `kernel` once and returns everything that can be turned for it.

    Args:
        kernel: a kernel, autotuned or not; or ``FILE.py:kernel``.
        target: e.g. ``cuda:90``, or a ``GPUTarget``; default: that of the active driver. No GPU is needed.
        signature: type or value of each argument, as for `describe`. In a mapping, the constexprs of the first declared
            configuration may be left out.
        options: options of the backend, e.g. ``{"num_warps": 8}``.
        configs: ``triton.Config`` objects; default: those that the kernel declares for autotuning.
        pipelines: more knobs by name, each with pipelines by name to choose from, as `sweep` returns them.

    Returns:
        The space. ``print`` shows a table, ``.json()`` returns JSON.

    Raises:
        TritonExtError: the kernel cannot be found or its signature does not fit.
        PipelineError: the kernel does not compile.
    """
    from ..compilation.describe import compile_and_observe
    from ..compilation.requests import load_kernel, request_for
    from ..pipeline.inspection import Level

    found = load_kernel(*str(kernel).rpartition(":")[::2]) if isinstance(kernel, str) else kernel
    declared = declared_configs(found, configs)
    given = dict(options or {})
    signature = with_config(found, signature, declared)
    if declared:
        given = {name: v for name, v in declared[0].items() if name in ("num_warps", "num_stages", "num_ctas")} | given
    task = request_for(found, target, signature, given)
    compiled, record = compile_and_observe(task, Level.IR)
    return space_of(
        task.kernel,
        task.target,
        record.stages,
        configs=declared,
        options=compiled.metadata._asdict(),
        more=named_choices(pipelines),
    )


def space_of(
    kernel: str,
    target: Any,
    stages: Iterable[StageRecord],
    *,
    configs: list[dict[str, Any]],
    options: Mapping[str, Any],
    more: Iterable[Knob] = (),
) -> Space:
    """Returns the space of a kernel that was compiled without edits.

    Args:
        kernel: name of the kernel.
        target: a ``GPUTarget``.
        stages: what was recorded.
        configs: the declared configurations, as keyword arguments.
        options: the options of the compilation by name.
        more: knobs of the user.
    """
    recorded = tuple(stages)
    knobs = [
        *more,
        *launch_knobs(configs, options, recorded, target.backend),
        *extension_knobs(recorded, target.backend, target.arch),
        *builtin_knobs(recorded),
    ]
    return Space(kernel, label_of(target), tuple(knobs), configs[0] if configs else {})


def label_of(target: Any) -> str:
    """Returns the target as text, without the list of a CPU's features."""
    return f"{target.backend}:{str(target.arch).partition(';')[0]}"


def declared_configs(kernel: object, configs: Iterable[Any] | None = None) -> list[dict[str, Any]]:
    """Returns `configs`, or those that the kernel declares, as keyword arguments of a launch."""
    inner: Any = kernel
    while configs is None and inner is not None:
        configs = getattr(inner, "configs", None)
        inner = getattr(inner, "fn", None)
    return [dict(config.all_kwargs()) if hasattr(config, "all_kwargs") else dict(config) for config in configs or ()]


def with_config(kernel: Any, signature: str | Mapping[str, object] | None, configs: list[dict[str, Any]]) -> Any:
    """Returns a signature by name with the constexprs of the first configuration; another one as it is."""
    if not configs or isinstance(signature, str) or signature is None:
        return signature
    names = set(getattr(kernel, "arg_names", ()))
    return {name: value for name, value in configs[0].items() if name in names} | dict(signature)


def named_choices(pipelines: Mapping[str, Mapping[str, Pipeline]] | None) -> list[Knob]:
    """Returns the knobs for pipelines of the user.

    Raises:
        TritonExtError: they are not pipelines by name.
    """
    from ..tuning.candidates import checked_pipelines

    knobs = []
    for name, choices in (pipelines or {}).items():
        checked = checked_pipelines(choices)
        plain = next((label for label, one in checked.items() if not one.edits), "none")
        labels = (plain, *(label for label in checked if label != plain))
        texts = tuple(str(checked[label]) if label in checked else "" for label in labels)
        knobs.append(
            Knob(name, "pipelines", "choice", labels, plain, "pipelines of the user", "no", place=name, texts=texts)
        )
    return knobs
