# SPDX-License-Identifier: Apache-2.0
"""Reads and changes the headers of an SDK.

Reads version and commit, writes the ABI overlay beside ``include``, and guards the ops whose properties have another
layout in libtriton. The headers of other ops are not changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..errors import BuildError
from . import INSTALL_COMMAND
from .sources import Guard

_FLAG = re.compile(r"^(#define LLVM_ENABLE_ABI_BREAKING_CHECKS) \d+$", re.MULTILINE)
_CALL = re.compile(r"(\w+)\s*\(")


def llvm_version(include: Path) -> str | None:
    """Returns the version in ``llvm/Config/llvm-config.h``, e.g. ``24.0.0``; None if there is no such header."""
    return _define(include / "llvm" / "Config" / "llvm-config.h", "LLVM_VERSION_STRING")


def llvm_commit(include: Path) -> str | None:
    """Returns the commit in ``llvm/Support/VCSRevision.h``; None if it is not there, as in many distributions."""
    return _define(include / "llvm" / "Support" / "VCSRevision.h", "LLVM_REVISION")


def _define(header: Path, name: str) -> str | None:
    match = re.search(rf'^#define {name} "([^"]+)"', header.read_text(), re.MULTILINE) if header.is_file() else None
    return match[1] if match else None


def write_overlay(sdk: Path, abi_breaking_checks: bool) -> None:
    """Writes ``overlay/include/llvm/Config/abi-breaking.h``: the header of the SDK with libtriton's flag.

    The flag changes the layout of LLVM's containers and iterators, so it must be the one libtriton was built with.

    Raises:
        BuildError: the SDK's header does not define the flag.
    """
    relative = Path("llvm", "Config", "abi-breaking.h")
    original = sdk / "include" / relative
    text, count = _FLAG.subn(rf"\1 {int(abi_breaking_checks)}", original.read_text() if original.is_file() else "")
    if count != 1:
        raise BuildError(
            f"{relative} of these headers does not define LLVM_ENABLE_ABI_BREAKING_CHECKS", fix=INSTALL_COMMAND
        )
    overlay = sdk / "overlay" / "include" / relative
    overlay.parent.mkdir(parents=True)
    overlay.write_text(text)


def apply_guards(include: Path, guards: tuple[Guard, ...], version: str) -> list[str]:
    """Guards every op of `guards` that lacks a property which it has in libtriton.

    Args:
        include: the directory ``include`` of the SDK.
        guards: the ops to check, with the property of each.
        version: version of the headers, for the compiler's message.

    Returns:
        The guarded ops, e.g. ``LLVM::InvokeOp``.
    """
    done = []
    for guard in guards:
        header = include / guard.header
        if not header.is_file():
            continue  # the ops cannot be used without their header
        text = original = header.read_text()
        for op in guard.ops:
            if not _has_property(text, op, guard.property):
                name = f"{guard.namespace}::{op}"
                text = guard_op(text, op, f"{name} has another property layout in libtriton than in LLVM {version}")
                done.append(name)
        if text != original:
            header.write_text(text)
    return done


def _has_property(text: str, op: str, name: str) -> bool:
    start, end = _class_body(text, f"{op}GenericAdaptorBase")
    return f" {name};" in text[start:end]


def guard_op(text: str, op: str, message: str) -> str:
    """Marks all inline members that depend on the layout of `op`'s properties as unavailable.

    Claim: no code that is compiled with the header reads or writes the properties by the wrong layout. Inline code can
    do so only through ``Properties`` and ``getProperties()``, through the order of attribute names, or through a member
    that does one of these. All of them are marked, and the constructors of the adaptors, which copy properties, too.
    Example: ``getCallee()`` reads ``getProperties().callee`` and is marked. Including the header, ``isa``, ``dyn_cast``
    and members that libtriton compiled, such as ``create``, keep working.

    Args:
        text: the ``.h.inc`` file that mlir-tblgen wrote.
        op: the C++ class of the op.
        message: the compiler's message at a use.

    Returns:
        The text with the attributes added.

    Raises:
        BuildError: the text does not have the classes of the op.
    """
    fix = "use op->getAttr(...) or op->getInherentAttr(...)"
    mark = f'__attribute__((unavailable("triton-ext: {message}; {fix}"))) '
    for class_ in (f"{op}GenericAdaptorBase", f"{op}GenericAdaptor", f"{op}Adaptor"):
        members = _functions(text, *_class_body(text, class_))
        # In the generic adaptor the constructor from an op is a template, which calls one that is marked.
        constructors = [
            member.at for member in members if member.name == class_ and not member.code.startswith("template")
        ]
        text = _insert(text, mark, constructors)
    start, end = _class_body(text, op)
    members = _functions(text, start, end)
    layout = {"getProperties", "getAttributeNameForIndex"}
    marked: set[int] = set()
    while found := [
        member
        for member in members
        if member.at not in marked and (re.search(r"\bProperties\b", member.code) or member.calls & layout)
    ]:
        marked |= {member.at for member in found}
        # Overloads without a body are compiled into libtriton, with the right layout.
        layout |= {member.name for member in found if member.has_body}
    text = _insert(text, mark, sorted(marked))
    shadow = rf"  using Properties {mark}\1  {mark}Properties &getProperties();\n"
    return text[:start] + re.sub(r"  using Properties (= [^;]+;\n)", shadow, text[start:], count=1)


@dataclass(frozen=True)
class _Function:
    """A member function.

    Attributes:
        at: where it begins in the text.
        name: its name.
        code: its whole text.
    """

    at: int
    name: str
    code: str

    @property
    def has_body(self) -> bool:
        """Whether it is defined in the header and not in libtriton."""
        return self.code.endswith("}")

    @property
    def calls(self) -> set[str]:
        """The names that its body calls."""
        return set(_CALL.findall(self.code.partition("{")[2])) if self.has_body else set()


def _class_body(text: str, name: str) -> tuple[int, int]:
    """Returns where the body of the class `name` begins and ends."""
    head = re.search(rf"^class {name}\b[^;{{]*\{{", text, re.MULTILINE)
    if head is None:
        raise BuildError(f"the headers have no class {name} to guard", fix=INSTALL_COMMAND)
    return head.end(), _matching(text, head.end())


def _matching(text: str, at: int) -> int:
    """Returns the position of the bracket that closes the one directly before `at`."""
    depth = 1
    for match in re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|[{}()]').finditer(text, at):
        depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    raise BuildError("a class of the headers has no end", fix=INSTALL_COMMAND)


def _functions(text: str, start: int, end: int) -> list[_Function]:
    """Returns the member functions between `start` and `end`.

    A member ends at a ``;`` or after a ``}`` outside of all brackets. If a ``,``, ``;`` or ``{`` follows the ``}``,
    that was the end of an initialiser, and the member goes on.
    """
    functions = []
    at = position = start
    token = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|^(?:public|private|protected):|[{(;]', re.MULTILINE)
    while (match := token.search(text, position, end)) is not None:
        position = match.end()
        if match[0] in "{(":
            position = _matching(text, position) + 1
            if match[0] == "(" or re.match(r"\s*[;,{]", text[position : position + 40]):
                continue
        elif match[0].startswith('"'):
            continue
        if match[0] in "{;":
            code = text[at:position].lstrip()
            name = _CALL.search(code)
            if name is not None and not re.match(r"(?:using|struct|friend|static constexpr int)\b", code):
                functions.append(_Function(position - len(code), name[1], code))
        at = position
    return functions


def _insert(text: str, mark: str, positions: list[int]) -> str:
    """Returns `text` with `mark` inserted at each of the ascending `positions`."""
    for at in reversed(positions):
        text = text[:at] + mark + text[at:]
    return text
