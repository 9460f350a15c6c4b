# SPDX-License-Identifier: Apache-2.0
"""Objects of headers exist once per process: in libraries of each of our CMake functions, in those of a third party,
and with every linker. And libtriton's passes respect the effects that a third party's dialect declares."""

from __future__ import annotations

import ctypes
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import triton

from triton_ext.authoring import addresses, doctor
from triton_ext.authoring.addresses import Comparison
from triton_ext.authoring.build import build_tree, default_build_dir, tool
from triton_ext.errors import BuildError
from triton_ext.loading.host import find_triton
from triton_ext.loading.singletons import exported, in_stub, own_copies, write_stub
from triton_ext.support import clang, resources

HERE = Path(__file__).parent
SOURCE = HERE / "third_party"
FILECHECK = Path(triton.__file__).parent / "FileCheck"
DEFAULT_RESOURCE = "_ZZN4mlir11SideEffects8Resource4BaseINS0_15DefaultResourceES1_E3getEvE8instance"
CLANGS = [found for v in clang.versions() if (found := shutil.which(f"clang++-{v}"))]
# lld goes by the name of its version on some systems.
LINKERS = [
    found
    for names in (["ld.bfd"], ["ld.gold"], clang.names_of("ld.lld"))
    if (found := next(filter(None, map(shutil.which, names)), None))
]


# ------------------------------------------------------------------ the mechanism, in a nutshell

#: As MLIR has them: a static local with a guard, one without, an inline variable, a variable template.
HEADER = """
namespace mlir {
int serial();
struct Resource { int number = serial(); };
inline Resource *resource() { static Resource instance; return &instance; }
inline int *counter() { static int count = 7; return &count; }
inline Resource key;
template <typename T> struct Id { static inline char id; };
}
#define EXPORT(name) extern "C" __attribute__((visibility("default"))) void *name
"""
FUNCTIONS = """
EXPORT({0}_resource)() {{ return mlir::resource(); }}
EXPORT({0}_counter)() {{ return mlir::counter(); }}
EXPORT({0}_key)() {{ return &mlir::key; }}
EXPORT({0}_id)() {{ return &mlir::Id<int>::id; }}
EXPORT({0}_own)() {{ return &mlir::Id<long>::id; }}
"""
SHARED = ("resource", "counter", "key", "id")


@dataclass(frozen=True)
class Pair:
    """A library that exports objects of its headers, and another library that includes the same headers."""

    host: Path
    extension: Path

    def addresses(self, name: str) -> tuple[int, int]:
        """Returns the addresses of the object in both libraries, which are loaded as Python loads libraries."""
        host, extension = ctypes.CDLL(str(self.host)), ctypes.CDLL(str(self.extension))
        functions = [getattr(host, f"host_{name}"), getattr(extension, f"extension_{name}")]
        for function in functions:
            function.restype = ctypes.c_void_p
        first, second = (function() for function in functions)
        return first, second


def make_pair(directory: Path, clang: str, linker: str, stub: bool = True, visibility: str = "default") -> Pair:
    """Builds the two libraries in `directory`, with names that no other pair has."""
    directory.mkdir(exist_ok=True)
    (directory / "header.h").write_text(HEADER)
    flags = [clang, "-std=c++20", "-O1", "-fPIC", "-fvisibility-inlines-hidden", f"--ld-path={linker}"]
    host = directory / f"lib{directory.parent.name}-{directory.name}-host.so"
    (directory / "host.cpp").write_text(
        '#include "header.h"\nint mlir::serial() { static int last; return ++last; }\n'
        + FUNCTIONS.format("host").replace("EXPORT(host_own)() { return &mlir::Id<long>::id; }", "")
    )
    subprocess.run([*flags, "-shared", directory / "host.cpp", f"-Wl,-soname,{host.name}", "-o", host], check=True)
    (directory / "extension.cpp").write_text('#include "header.h"\n' + FUNCTIONS.format("extension"))
    (directory / "exports").write_text("{ global: [a-zA-Z]*; local: *; };\n")
    first = []
    if stub:
        write_stub(directory / "stub.o", [host], clang)
        first = [directory / "stub.o"]
    extension = directory / f"lib{directory.parent.name}-{directory.name}-extension.so"
    command = [
        *flags, f"-fvisibility={visibility}", "-shared", *first, directory / "extension.cpp",
        f"-Wl,-soname,{extension.name}", f"-Wl,--version-script={directory / 'exports'}", "-Wl,--no-undefined",
        f"-L{directory}", f"-l:{host.name}", f"-Wl,-rpath,{directory}", "-o", extension,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(done.stderr)
    return Pair(host, extension)


@pytest.mark.slow
@pytest.mark.parametrize("linker", LINKERS, ids=lambda path: Path(path).name)
@pytest.mark.parametrize("clang", CLANGS, ids=lambda path: Path(path).name)
def test_an_extension_uses_the_objects_of_its_host(clang: str, linker: str, tmp_path: Path) -> None:
    pair = make_pair(tmp_path / "pair", clang, linker)
    assert own_copies(pair.extension, exported(pair.host)) == []
    for name in SHARED:
        first, second = pair.addresses(name)
        assert first == second, name
    # The extension keeps objects that the host does not have.
    assert ctypes.CDLL(str(pair.extension)).extension_own()
    assert any("Id" in name for name in own_copies(pair.extension, {"_ZN4mlir2IdIlE2idE"}))
    compared = addresses.compare(pair.extension, [pair.host])
    assert compared.wrong == ()
    assert compared.same >= len(SHARED)


@pytest.mark.slow
@pytest.mark.parametrize("visibility", ["default", "hidden"])
def test_without_the_stub_there_are_copies(visibility: str, tmp_path: Path) -> None:
    """Libraries were once built so, and hand-made plugins still are. The symbols show the copies, and so do the
    addresses."""
    pair = make_pair(tmp_path / "pair", CLANGS[0], LINKERS[0], stub=False, visibility=visibility)
    copies = own_copies(pair.extension, exported(pair.host))
    assert {"_ZZN4mlir8resourceEvE8instance", "_ZN4mlir3keyE", "_ZN4mlir2IdIiE2idE"} <= set(copies)
    assert all(len(set(pair.addresses(name))) == 2 for name in SHARED)
    assert set(addresses.compare(pair.extension, [pair.host]).wrong) >= set(copies)
    write_stub(tmp_path / "stub.o", [pair.host], CLANGS[0])
    checked = subprocess.run(
        [sys.executable, "-m", "triton_ext.loading.singletons", "check", pair.extension, tmp_path / "stub.o"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 1
    assert f"{pair.extension.name} has a copy of its own of {len(copies)} objects" in checked.stderr


@pytest.mark.slow
@pytest.mark.parametrize("linker", LINKERS, ids=lambda path: Path(path).name)
def test_hidden_objects_are_noticed(linker: str, tmp_path: Path) -> None:
    """GNU's linkers refuse such objects; lld gives them the address 0, so the build checks its result."""
    error = ""
    try:
        pair = make_pair(tmp_path / "pair", CLANGS[0], linker, visibility="hidden")
    except BuildError as raised:
        error = raised.message
    assert "hidden symbol" in error or "_ZN4mlir3keyE" in own_copies(pair.extension, exported(pair.host))


@pytest.mark.slow
def test_stub_of_libtriton(tmp_path: Path) -> None:
    write_stub(tmp_path / "stub.o", [find_triton().library], CLANGS[0])
    names = in_stub(tmp_path / "stub.o")
    assert names == exported(find_triton().library).keys()
    for name in (
        DEFAULT_RESOURCE,
        "_ZGVZN4mlir11SideEffects8Resource4BaseINS0_15DefaultResourceES1_E3getEvE8instance",
        "_ZZN4mlir11SideEffects6Effect3getINS_13MemoryEffects5WriteEEEPT_vE8instance",
    ):
        assert name in names
    assert not any(name.startswith("_ZT") for name in names)
    # The file is not written again, because everything would be linked again.
    before = (tmp_path / "stub.o").stat().st_mtime_ns
    write_stub(tmp_path / "stub.o", [find_triton().library], CLANGS[0])
    assert (tmp_path / "stub.o").stat().st_mtime_ns == before


# ------------------------------------------------------------------ our libraries and a third party's


@pytest.fixture(scope="module")
def third_party(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the libraries of the third party; returns their directory."""
    source = tmp_path_factory.mktemp("third") / "party"
    shutil.copytree(SOURCE, source)
    build_tree(source, default_build_dir(source))
    return source / "src" / "third_party"


@pytest.fixture(scope="module")
def made_wrongly(third_party: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Links the same objects as libraries were once linked, each with its own copies; returns the directory."""
    directory = tmp_path_factory.mktemp("wrong") / "third_party"
    shutil.copytree(third_party, directory)
    build = default_build_dir(third_party.parents[1])
    for library in directory.glob("libtriton_ext_*.so"):
        listed = subprocess.run(
            [tool("ninja"), "-C", build, "-t", "commands", library.stem.removeprefix("lib")],
            capture_output=True,
            text=True,
            check=True,
        )
        last = listed.stdout.splitlines()[-1]  # ": && link && check the copies && stage it"
        link = [word for word in shlex.split(last.split(" && ")[1]) if "/triton_ext_singletons/" not in word]
        link[link.index("-o") + 1] = str(library)
        subprocess.run(link, cwd=build, check=True)
    return directory


@pytest.fixture
def found(third_party: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Adds the third party's libraries to the extensions."""
    monkeypatch.setenv("TRITON_EXT_PATH", str(third_party))
    return third_party


def test_the_third_party_calls_every_function() -> None:
    """Every CMake function has a library here, so the tests below cover each of them."""
    listed = (resources.infra_dir() / "cmake" / "TritonExtConfig.cmake").read_text()
    functions = set(re.findall(r"^#   (triton_ext_\w+)\(", listed, re.MULTILINE))
    called = "".join(file.read_text() for file in SOURCE.rglob("CMakeLists.txt"))
    assert len(functions) > 3
    assert {name for name in functions if f"{name}(" not in called} == set()


@pytest.mark.slow
def test_no_library_has_a_copy(third_party: Path) -> None:
    libraries = [*resources.library_dir().glob("*.so"), *third_party.glob("*.so")]
    hosts = [find_triton().library, *libraries]
    tables = {host: exported(host) for host in hosts}
    for library in libraries:
        shared = {name for host, table in tables.items() if host != library for name in table}
        assert own_copies(library, shared) == [], library


@pytest.mark.slow
def test_all_addresses_are_the_same(found: Path) -> None:
    compared = {Path(each.library).name: each for each in addresses.compare_all()}
    libraries = {path.name for path in (*resources.library_dir().glob("*.so"), *found.glob("*.so"))}
    extensions = ("tank", "name_resources", "note_alignment", "basin")  # a dialect, passes, a backend and its runtime
    assert {*(f"libtriton_ext_{name}.so" for name in extensions), "libTritonExtBasinRuntime.so"} <= libraries
    assert libraries <= compared.keys()
    assert {name: each.wrong for name, each in compared.items() if each.wrong} == {}
    linked = [name for name in libraries if b"libtriton.so" in (_path_of(name, found)).read_bytes()]
    assert all(compared[name].same > 0 for name in linked)


def _path_of(name: str, found: Path) -> Path:
    return found / name if (found / name).is_file() else resources.library_dir() / name


@pytest.mark.slow
def test_what_is_made_wrongly_is_named(made_wrongly: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library of every kind is refused by its path, and nothing else is."""
    monkeypatch.setenv("TRITON_EXT_PATH", str(made_wrongly))
    compared = addresses.compare_all()
    wrong = {each.library: each.wrong for each in compared if each.wrong}
    expected = {str(path) for path in made_wrongly.glob("libtriton_ext_*.so")}
    expected.discard(str(made_wrongly / "libtriton_ext_deallocate_buffers.so"))  # has no objects of headers
    assert len(expected) >= 4
    assert wrong.keys() == expected
    assert DEFAULT_RESOURCE in wrong[str(made_wrongly / "libtriton_ext_tank.so")]
    monkeypatch.setattr(addresses, "compare_all", lambda: compared)
    rows = list(doctor.singletons())
    assert {(row.state, row.fix) for row in rows} == {("fail", f"rebuild or remove {library}") for library in wrong}
    for library in wrong:
        assert any(row.found.startswith(f"{library} (TRITON_EXT_PATH) has copies of its own of ") for row in rows)


def check(prefix: str, arguments: list[str]) -> str:
    """Runs triton-ext-opt on a file of the third party, and returns the complaints of FileCheck."""
    file = SOURCE / arguments[0]
    command = [tool("triton-ext-opt"), file, "--load-extension=tank", *arguments[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr
    return subprocess.run(
        [FILECHECK, file, f"--check-prefix={prefix}", "--implicit-check-not=unknown"],
        input=done.stderr if prefix in ("ALIGNMENT", "NAME") else done.stdout,
        capture_output=True,
        text=True,
        check=False,
    ).stderr


#: Passes that compare addresses of resources. The others only use the kind of an effect, which has a name.
BY_RESOURCE = [
    ("CSE", ["effects.mlir", "-cse"]),
    ("CSE", ["effects.mlir", "-triton-loop-aware-cse"]),
    ("SCOPE", ["effects.mlir", "-canonicalize"]),
    ("NAME", ["effects.mlir", "-triton-ext-name-resources"]),
    ("FREE", ["buffers.mlir", "-triton-ext-deallocate-buffers"]),
    ("WRITES", ["kernel.mlir", "--load-extension=basin", "-basin-count-writes"]),
]
BY_KIND = [
    ("DCE", ["effects.mlir", "-canonicalize"]),
    ("DCE", ["effects.mlir", "-cse"]),
    ("LICM", ["effects.mlir", "-loop-invariant-code-motion"]),
    ("LICM", ["effects.mlir", "-triton-licm"]),
    ("FORWARD", ["effects.mlir", "-triton-ext-forward-stores"]),
    ("ALIGNMENT", ["kernel.mlir", "-triton-ext-note-alignment"]),
]
NEEDS_LINALG = {"FORWARD": "forward_stores", "FREE": "deallocate_buffers"}


def skip_without_linalg(prefix: str, libraries: Path) -> None:
    """Skips a library that the project left out."""
    if prefix in NEEDS_LINALG and not (libraries / f"libtriton_ext_{NEEDS_LINALG[prefix]}.so").is_file():
        pytest.skip("MLIR's dialects are not installed: triton-ext sdk install --with linalg")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prefix", "arguments"), BY_RESOURCE + BY_KIND, ids=lambda value: value if isinstance(value, str) else value[-1]
)
def test_effects_of_a_third_party(prefix: str, arguments: list[str], found: Path) -> None:
    skip_without_linalg(prefix, found)
    assert check(prefix, arguments) == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prefix", "arguments"), BY_RESOURCE, ids=lambda value: value if isinstance(value, str) else value[-1]
)
def test_copies_give_wrong_results(
    prefix: str, arguments: list[str], made_wrongly: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With copies, loads merge across stores, and stack memory is freed and returned: the tests above notice both."""
    skip_without_linalg(prefix, made_wrongly)
    monkeypatch.setenv("TRITON_EXT_PATH", str(made_wrongly))
    assert "error" in check(prefix, arguments)


def test_doctor_says_which_library(monkeypatch: pytest.MonkeyPatch) -> None:
    good = Comparison("/a/libgood.so", "bundle good", False, 5, ())
    bad = Comparison("/a/libbad.so", "bundle bad", False, 5, ("_ZN4mlir3keyE", "_ZN4mlir5otherE"))
    foreign = Comparison("/a/libforeign.so", "TRITON_PLUGIN_PATHS", True, 0, ("_ZN4mlir3keyE",))
    monkeypatch.setattr(addresses, "compare_all", lambda: [good])
    (row,) = doctor.singletons()
    assert (row.state, row.found) == ("ok", "5 addresses in 1 libraries are the only ones")
    monkeypatch.setattr(addresses, "compare_all", lambda: [good, bad, foreign])
    first, second = doctor.singletons()
    assert (first.state, first.fix) == ("fail", "rebuild or remove /a/libbad.so")
    assert first.found.startswith("/a/libbad.so (bundle bad) has copies of its own of 2, e.g. _ZN4mlir3keyE: ")
    assert (second.state, second.fix[:10]) == ("warn", "link it as")
