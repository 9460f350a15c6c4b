# SPDX-License-Identifier: Apache-2.0
"""Findings as SARIF 2.1.0 (OASIS, https://docs.oasis-open.org/sarif/sarif/v2.1.0/), for code hosts and editors."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _json, _source
from ._finding import Finding

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

#: What each check looks for.
RULES = {
    "bounds": "An access lies outside of the memory of its tensor",
    "view": "An access lies outside of its view, but inside of the memory that the view is a part of",
    "lanes": "Lanes that a mask turns off reach a result",
    "uninit": "A load reads memory that nothing has written",
    "race": "Two programs touch the same byte, and one of them writes it",
    "overflow": "An offset wraps in 32 bits",
    "hints": "A hint to the compiler is false",
    "arith": "An arithmetic operation has no defined result, or makes the first NaN",
}


def log(findings: Sequence[Finding], rules: Mapping[str, str] = RULES, name: str = "triton-ext sanitize") -> str:
    """Returns a log with one run.

    Args:
        findings: become its results.
        rules: by its name, what each rule looks for; a finding with another check gets one without a text.
        name: the name of the tool.
    """
    from triton_ext import __version__

    used = list(dict.fromkeys((*rules, *(one.check for one in findings))))
    descriptors = [
        {"id": rule, "shortDescription": {"text": rules.get(rule, rule)}, "defaultConfiguration": {"level": "error"}}
        for rule in used
    ]
    run = {
        "tool": {"driver": {"name": name, "semanticVersion": __version__, "rules": descriptors}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, used.index(one.check)) for one in findings],
    }
    return _json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    text = finding.message + (f". Help: {finding.suggestion}" if finding.suggestion else "")
    result: dict[str, Any] = {
        "ruleId": finding.check,
        "ruleIndex": rule,
        "level": finding.severity,
        "message": {"text": text or finding.check},
        "partialFingerprints": {"triton-ext/v1": _fingerprint(finding)},
        "properties": {
            name: value
            for name in (
                "kernel", "argument", "shape", "strides", "dtype", "coordinates", "distance", "program", "lane",
                "lanes", "programs", "values",
            )
            if (value := getattr(finding, name)) not in (None, "", {}) and (value != 0 or name == "lane")
        },
    }  # fmt: skip
    if finding.file:
        result["locations"] = [
            {
                "physicalLocation": _location(finding.file, finding.line, finding.column),
                "logicalLocations": [{"name": finding.kernel, "kind": "function"}],
            }
        ]
    if finding.related:
        result["relatedLocations"] = [
            {"id": number, "message": {"text": what}, "physicalLocation": _location(file, line, 0)}
            for number, (file, line, what) in enumerate(finding.related, 1)
        ]
    return result


def _location(file: str, line: int, column: int) -> dict[str, Any]:
    """Returns a physical location: a path relative to the current directory, else the file's URI."""
    path = Path(file)
    try:
        uri = path.resolve().relative_to(Path.cwd().resolve()).as_posix()
    except (ValueError, OSError):
        uri = path.resolve().as_uri()
    location: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if line:
        start, end = _source.span_of(file, line, column)
        region: dict[str, Any] = {"startLine": line, "startColumn": start, "endColumn": max(end, start + 1)}
        if text := _source.text_of(file, line):
            region["snippet"] = {"text": text}
        location["region"] = region
    return location


def _fingerprint(finding: Finding) -> str:
    """Returns a key that stays the same while lines move: of the text of the line, the check and the tensor."""
    text = _source.text_of(finding.file, finding.line).strip()
    parts = (finding.check, finding.kernel, text, finding.argument or "", finding.access)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
