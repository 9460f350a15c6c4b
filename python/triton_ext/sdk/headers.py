# SPDX-License-Identifier: Apache-2.0
"""What is read from, and changed in, the headers of an SDK.

Reads version and commit; writes the ABI overlay beside ``include`` and marks ops whose properties are laid
out differently in libtriton. Headers of other ops stay as they were.
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
    """The version in ``llvm/Config/llvm-config.h``, e.g. ``24.0.0``; None if there is no such header."""
    return _define(include / "llvm" / "Config" / "llvm-config.h", "LLVM_VERSION_STRING")


def llvm_commit(include: Path) -> str | None:
    """The commit in ``llvm/Support/VCSRevision.h``, which many distributions leave out."""
    return _define(include / "llvm" / "Support" / "VCSRevision.h", "LLVM_REVISION")


def _define(header: Path, name: str) -> str | None:
    match = re.search(rf'^#define {name} "([^"]+)"', header.read_text(), re.MULTILINE) if header.is_file() else None
    return match[1] if match else None


def write_overlay(sdk: Path, abi_breaking_checks: bool) -> None:
    """Writes ``overlay/include/llvm/Config/abi-breaking.h``: the SDK's own, with libtriton's flag.

    Containers and iterators of LLVM are laid out by this flag, so it must be what libtriton was built with.

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
    """Guards every op of `guards` that lacks the property that libtriton's has.

    Args:
        include: the SDK's ``include``.
        guards: which ops to look at.
        version: version of the headers, for the compiler's message.

    Returns:
        The guarded ops, e.g. ``LLVM::InvokeOp``.
    """
    done = []
    for guard in guards:
        header = include / guard.header
        if not header.is_file():
            continue  # nobody can use what is not there
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
    """Marks everything inline that depends on the layout of `op`'s properties as unavailable.

    That is: members whose bodies touch the properties or the order of attribute names, members that take
    properties, members that call one of these, ``getProperties()`` and ``Properties``, and the adaptors' constructors.
    Including the header, ``isa``, ``dyn_cast`` and what libtriton compiled itself, such as ``create``, keep working.

    Args:
        text: the ``.h.inc`` file that mlir-tblgen wrote.
        op: C++ class of the op.
        message: what the compiler says at a use.

    Returns:
        The text with the attributes added.
    """
    fix = "use op->getAttr(...) or op->getInherentAttr(...)"
    mark = f'__attribute__((unavailable("triton-ext: {message}; {fix}"))) '
    for class_ in (f"{op}GenericAdaptorBase", f"{op}GenericAdaptor", f"{op}Adaptor"):
        members = _functions(text, *_class_body(text, class_))
        # The constructor from an op is a template in the middle one; it calls one that is marked.
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
        # Overloads without a body are libtriton's own and right.
        layout |= {member.name for member in found if member.has_body}
    text = _insert(text, mark, sorted(marked))
    shadow = rf"  using Properties {mark}\1  {mark}Properties &getProperties();\n"
    return text[:start] + re.sub(r"  using Properties (= [^;]+;\n)", shadow, text[start:], count=1)


@dataclass(frozen=True)
class _Function:
    """A member function: where it begins, its name, its whole text."""

    at: int
    name: str
    code: str

    @property
    def has_body(self) -> bool:
        """Whether it is defined here and not in libtriton."""
        return self.code.endswith("}")

    @property
    def calls(self) -> set[str]:
        """Names that its body calls."""
        return set(_CALL.findall(self.code.partition("{")[2])) if self.has_body else set()


def _class_body(text: str, name: str) -> tuple[int, int]:
    """Where the body of the class `name` begins and ends."""
    head = re.search(rf"^class {name}\b[^;{{]*\{{", text, re.MULTILINE)
    if head is None:
        raise BuildError(f"the headers have no class {name} to guard", fix=INSTALL_COMMAND)
    return head.end(), _matching(text, head.end())


def _matching(text: str, at: int) -> int:
    """The position of the bracket that closes what was opened before `at`."""
    depth = 1
    for match in re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|[{}()]').finditer(text, at):
        depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    raise BuildError("a class of the headers has no end", fix=INSTALL_COMMAND)


def _functions(text: str, start: int, end: int) -> list[_Function]:
    """The member functions between `start` and `end`.

    A member ends at a ``;`` or after a ``}`` outside all brackets, unless a ``,``, ``;`` or ``{`` shows that the
    ``}`` only ended an initialiser.
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
    """`text` with `mark` inserted at each of the ascending `positions`."""
    for at in reversed(positions):
        text = text[:at] + mark + text[at:]
    return text
