# SPDX-License-Identifier: Apache-2.0
"""Results of searches in a file that goes into a repository: by kernel, target and shape class."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ..errors import TritonExtError
from ..pipeline.pipeline import Pipeline
from ..support.json_shape import AnyOf, fits, parsed
from ..support.lock import alone
from ..support.shown import shown
from ..support.storage import write_whole
from .spaces import label_of

_FORMAT = 2
#: What a finding of format 1 does not say.
_ADDED: dict[str, Any] = {"checked": True, "figures": {}, "plain_figures": {}, "signature": None}
_NUMBER = AnyOf(float, int)
_ENTRY = {
    **dict.fromkeys(("kernel", "target", "shapes", "edits", "device", "triton", "objective"), str),
    "launch": {str: object},
    "milliseconds": AnyOf(_NUMBER, None),
    "plain_milliseconds": AnyOf(_NUMBER, None),
    "plain_launch": {str: object},
    "gain": AnyOf(_NUMBER, None),
    "checked": bool,
    "figures": {str: _NUMBER},
    "plain_figures": {str: _NUMBER},
    "signature": AnyOf([(str, object)], None),
    "exact": bool,
    "unaligned": bool,
    "tolerance": AnyOf([_NUMBER], None),
    "source": AnyOf([str], None),
}


@dataclass(frozen=True)
class Finding:
    """The winner of a search.

    Attributes:
        kernel: name of the kernel.
        target: e.g. ``cuda:90``.
        shapes: the shape class: shapes and types of tensors, and the integers of the timed launch.
        edits: the pipeline, as text.
        launch: constexprs and options of a launch.
        device: the device on which it won; empty if nothing was run.
        triton: the version of Triton.
        objective: the first objective of the search.
        milliseconds: its time, measured in turns with the fastest configuration without edits.
        plain_milliseconds: the time of that configuration.
        plain_launch: that configuration.
        gain: the time of that one divided by its own; None if nothing was run.
        exact: whether its results equal those of the unedited kernel bit by bit.
        tolerance: relative and absolute, where they need not; None for the default of the type.
        unaligned: whether launches with unaligned tensors are checked.
        source: file and name of the kernel, the inputs, the grid and the reference, for `verify`, relative to the
            file of the finding; None if they are not named globals of a file. Only those of the kernel if nothing was
            run.
        checked: whether it was run and its results were right; False if it was compiled only.
        figures: what its binary needs; see `figures_of`. Only the objectives of a search that ran nothing.
        plain_figures: what that configuration's binary needs, likewise.
        signature: the arguments that it was compiled for, if nothing was run; None otherwise.
    """

    kernel: str
    target: str
    shapes: str
    edits: str
    launch: dict[str, Any]
    device: str
    triton: str
    objective: str
    milliseconds: float | None
    plain_milliseconds: float | None
    plain_launch: dict[str, Any]
    gain: float | None
    exact: bool
    tolerance: tuple[float, float] | None
    unaligned: bool
    source: tuple[str, ...] | None
    checked: bool = True
    figures: dict[str, float] = field(default_factory=dict)
    plain_figures: dict[str, float] = field(default_factory=dict)
    signature: tuple[tuple[str, Any], ...] | None = None

    @property
    def pipeline(self) -> Pipeline:
        """The pipeline, for ``@tx.use`` and ``tx.autotune``.

        Raises:
            PipelineError: it names something that is not installed.
        """
        return Pipeline.parse(self.edits)

    @property
    def config(self) -> Any:
        """The configuration as a ``triton.Config``, for ``tx.autotune`` and ``triton.autotune``."""
        import triton

        known = ("num_warps", "num_stages", "num_ctas", "maxnreg")
        options = {name: value for name, value in self.launch.items() if name in known}
        return triton.Config({name: v for name, v in self.launch.items() if name not in known}, **options)


def save(path: str | os.PathLike[str], finding: Finding) -> None:
    """Writes `finding` to a file, in which it replaces one of the same kernel, target and shape class.

    A finding that was compiled only is kept beside one that was checked.

    Raises:
        TritonExtError: the file cannot be written, or holds something else.
    """
    file = Path(path)
    if finding.source is not None:
        finding = replace(finding, source=tuple(_relative(one, file.parent) for one in finding.source))
    try:
        with alone(file.with_name(f".{file.name}.lock"), lambda _: None, ""):
            others = findings(file) if file.is_file() else []
            kept = [one for one in others if _key(one) != _key(finding)]
            entries = [asdict(one) for one in sorted([*kept, finding], key=_key)]
            text = json.dumps({"triton_ext_search": _FORMAT, "findings": entries}, indent=1) + "\n"
            write_whole(file, text.encode())
    except OSError as error:
        raise TritonExtError(f"{file} cannot be written: {error.strerror}") from error


def findings(path: str | os.PathLike[str]) -> list[Finding]:
    """Returns the findings in a file.

    Raises:
        TritonExtError: it cannot be read, or holds something else.
    """
    try:
        text = Path(path).read_text()
    except (OSError, ValueError) as error:
        raise TritonExtError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    content = parsed(text, {"triton_ext_search": int, "findings": [{str: object}]})
    entries = [_ADDED | entry for entry in content["findings"]] if content is not None else []
    if content is None or content["triton_ext_search"] not in (1, _FORMAT) or not fits(entries, [_ENTRY]):
        raise TritonExtError(
            f"{path} is not a file of findings of triton-ext search", fix="result.save(path) writes one"
        )
    return [
        Finding(
            **{
                **entry,
                "tolerance": tuple(entry["tolerance"]) if entry["tolerance"] else None,
                "source": tuple(entry["source"]) if entry["source"] else None,
                "signature": described_from(entry["signature"]) if entry["signature"] is not None else None,
            }
        )
        for entry in entries
    ]


def described_from(signature: Iterable[Any]) -> tuple[tuple[str, Any], ...]:
    """Returns the arguments of `describing.described` after a way through JSON."""
    return tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in signature)


def found(
    path: str | os.PathLike[str],
    kernel: object = None,
    *,
    target: str | None = None,
    shapes: str | None = None,
    unchecked: bool = False,
) -> Finding:
    """Returns the finding for a kernel in a file that `SearchResult.save` wrote.

    Args:
        path: the file.
        kernel: the kernel or its name; None if the file is about one.
        target: the target, e.g. ``cuda:90``; default: that of the active driver if there are several.
        shapes: the shape class; default: the only one.
        unchecked: whether a finding of a search that only compiled is wanted, too, if there is no other one. Its
            results were never checked.

    Raises:
        TritonExtError: no winner fits, several fit, or the only one that fits was never run.
    """
    name = kernel if isinstance(kernel, str | None) else getattr(kernel, "__name__", None) or _name(kernel)
    wanted = {"kernel": name, "target": target, "shapes": shapes}
    every = findings(path)
    fitting = [one for one in every if all(v is None or getattr(one, n) == v for n, v in wanted.items())]
    if len({one.target for one in fitting}) > 1 and target is None:
        fitting = [one for one in fitting if one.target == _active_target()]
    checked = [one for one in fitting if one.checked]
    if fitting and not checked and not unchecked:
        raise TritonExtError(
            f"{path}: '{fitting[0].kernel}' for {fitting[0].target} was compiled only: its results were never checked",
            fix="search on a machine with that target, or tx.found(path, kernel, unchecked=True)",
        )
    fitting = checked or fitting
    if len(fitting) == 1:
        return fitting[0]
    there = "; ".join(f"{one.kernel}, {one.target}, {one.shapes}" for one in fitting or every)
    raise TritonExtError(
        f"{path} has {'several findings' if fitting else 'no finding'} for {_in_words(wanted)}; "
        f"it has: {there or 'none'}",
        fix="tx.found(path, kernel, target=..., shapes=...)",
    )


def _in_words(wanted: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {shown(value)}" for name, value in wanted.items() if value is not None) or "any kernel"


def _name(kernel: object) -> str | None:
    inner: Any = kernel
    while getattr(inner, "fn", None) is not None:
        inner = inner.fn
    return getattr(inner, "__name__", None)


def _active_target() -> str:
    from triton.runtime import driver

    target = driver.active.get_current_target()
    return label_of(target)


def _relative(where: str, directory: Path) -> str:
    """Returns ``FILE:NAME`` with the path relative to a directory; a constant, which begins with ``=``, as it is."""
    if where.startswith("="):
        return where
    file, _, name = where.rpartition(":")
    return f"{os.path.relpath(file, directory)}:{name}"


def _key(finding: Finding) -> tuple[str, str, str, bool]:
    return finding.kernel, finding.target, finding.shapes, finding.checked
