# SPDX-License-Identifier: Apache-2.0
"""Places the edits of one pipeline among the passes of a stage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from ..errors import ExtensionNotFoundError, PipelineError
from ..patches import signatures
from .builtin_passes import check_arguments
from .edits import Edit
from .extension_passes import STAGES, find_factory
from .steps import Layer, Step
from .values import Value


class Placement:
    """The edits of one layer in one stage, and how often each has matched so far.

    Attributes:
        layer: the edits of one active pipeline.
        at_start: the steps to run before the stage.
        at_end: the steps to run after it.
        edits: the edits with an anchor that apply to the stage.
        matches: by index in `edits`, how often the anchor has matched.
        total: the same for the whole stage, if it is known; an anchor with ``#last`` needs it.
    """

    def __init__(self, layer: Layer, stage: str) -> None:
        self.layer = layer
        self.at_start = self._at("at_start", stage)
        self.at_end = self._at("at_end", stage)
        self.edits = [e for e in layer.edits if e.anchor and e.stage in (None, stage)]
        self.matches: dict[int, int] = defaultdict(int)
        self.total: dict[int, int] = {}

    def _at(self, verb: str, stage: str) -> list[Step]:
        edits = (e for e in self.layer.edits if e.verb == verb and e.stage == stage)
        return [step for edit in edits for step in self.layer.steps(edit)]

    @property
    def looks_ahead(self) -> bool:
        """Whether an anchor has ``#last``, so that all passes of the stage have to be known before the first runs."""
        return any(e.anchor and e.anchor.ordinal == "last" for e in self.edits)

    def edited(self, steps: list[Step], *, first: bool = False, last: bool = False) -> list[Step]:
        """Returns `steps` with the edits of this layer.

        Args:
            steps: passes that follow each other.
            first: whether the stage begins with them; then `at_start` comes before them.
            last: whether the stage ends with them; then `at_end` comes after them.
        """
        return [*(self.at_start if first else ()), *self.place(steps), *(self.at_end if last else ())]

    def place(self, steps: list[Step], *, count_only: bool = False) -> list[Step]:
        """Returns `steps` with the edits that have an anchor; a dropped pass stays in the list and is marked.

        Args:
            steps: passes that follow each other.
            count_only: count the matches and change nothing.

        Raises:
            PipelineError: two edits change the same pass, or an argument is unknown or has the wrong type.
        """
        before: dict[int, list[Step]] = defaultdict(list)
        after: dict[int, list[Step]] = defaultdict(list)
        instead: dict[int, list[Step]] = {}
        changed: dict[int, Edit] = {}
        set_by: dict[tuple[int, str], Edit] = {}
        result = list(steps)
        for number, edit in enumerate(self.edits):
            for i in self._hits(number, edit, steps):
                if count_only:
                    continue
                if edit.verb == "before":
                    before[i] += self.layer.steps(edit)
                elif edit.verb == "after":
                    after[i] += self.layer.steps(edit)
                else:
                    first = changed.setdefault(i, edit)
                    if first is not edit and not first.verb == edit.verb == "set":
                        raise PipelineError(f"'{first}' and '{edit}' both change the pass '{steps[i].name}'")
                    if edit.verb == "set":
                        for name, _ in edit.arguments:
                            other = set_by.setdefault((i, name), edit)
                            if other is not edit:
                                raise PipelineError(f"'{other}' and '{edit}' both set '{name}' of '{steps[i].name}'")
                        result[i] = _with_arguments(result[i], edit)
                    else:
                        instead[i] = self.layer.steps(edit)
                        result[i] = replace(steps[i], edit=edit, dropped=True)
        return [
            step for i, original in enumerate(result) for step in (*before[i], original, *instead.get(i, ()), *after[i])
        ]

    def _hits(self, number: int, edit: Edit, steps: list[Step]) -> Iterator[int]:
        anchor = edit.anchor
        assert anchor is not None
        for i, step in enumerate(steps):
            if step.dropped or not anchor.matches(step.name):
                continue
            self.matches[number] += 1
            wanted = self.total.get(number) if anchor.ordinal == "last" else anchor.ordinal
            if anchor.ordinal is None or self.matches[number] == wanted:
                yield i

    def missing(self) -> list[Edit]:
        """The edits whose anchor did not occur."""
        return [
            edit
            for number, edit in enumerate(self.edits)
            if self.matches[number]
            < (edit.anchor.ordinal if edit.anchor and isinstance(edit.anchor.ordinal, int) else 1)
        ]


def _with_arguments(step: Step, edit: Edit) -> Step:
    """Returns `step` with the arguments that the edit sets."""
    if step.llvm is not None and not step.is_extension:
        return replace(step, args=step.changed(edit), edit=edit)
    if step.add is None and step.llvm is None:
        raise PipelineError(f"'{edit}': '{step.name}' is a Python function, it has no arguments to set")
    if step.is_extension:
        return replace(step, args=(_changed_options(step, edit),), edit=edit)
    assert step.add is not None
    declared = [name for name, _ in signatures.parameters(step.add)]
    values: dict[str, Value] = dict(zip(declared, step.args, strict=False))
    values |= check_arguments(f"'{edit}': pass '{step.name}'", step.add, dict(edit.arguments))
    missing = [name for name in declared if name not in values]
    if missing:
        raise PipelineError(f"'{edit}': pass '{step.name}' also needs '{missing[0]}'")
    return replace(step, args=tuple(values[name] for name in declared), edit=edit)


def _changed_options(step: Step, edit: Edit) -> list[str]:
    """Returns the options of an extension pass, with those that the edit sets."""
    if step.name.startswith("plugin."):
        raise PipelineError(f"'{edit}': '{step.name}' is a pass of a plugin, which declares no options; replace it")
    try:
        factory = find_factory(step.name.rpartition(".")[2], STAGES)
        return list(factory.change(step.args[0], dict(edit.arguments)))
    except (ExtensionNotFoundError, PipelineError) as error:
        raise PipelineError(f"'{edit}': {error}") from None
