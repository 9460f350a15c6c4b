# SPDX-License-Identifier: Apache-2.0
"""All patches of Triton are in one package and one table. A Triton that looks different gives an error that names the
patch."""

from __future__ import annotations

import importlib
import re
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest
import triton
import triton.backends
from triton import knobs
from triton._C.libtriton import ir, passes
from triton.compiler import code_generator, compiler
from triton.language import semantic
from triton.runtime import _async_compile, autotuner, driver, jit
from triton.tools import compile as tool

from support import ROOT, forked_python
from triton_ext.errors import TritonExtError
from triton_ext.patches import (
    ahead_of_time,
    async_compilation,
    backend_globals,
    backend_registry,
    compile_requests,
    compiled_kernels,
    driver_choice,
    hints,
    hook_slot,
    ignored_options,
    kernel_arguments,
    kernel_keys,
    kernel_launches,
    kernel_parsing,
    manager_runs,
    plugin_module,
    with_statements,
)
from triton_ext.patches.table import CHECKED_WITH, PATCHES

PACKAGE = ROOT / "python" / "triton_ext" / "patches"
#: Names of patched objects, as code contains them that patches or inspects these objects.
TRACES = {
    "hook_slot": r"setattr\(type\(\w+\), \w+|vars\(type\(runtime\)\)",
    "compile_requests": r"compiler\.get_cache_key|\.add_stages = ",
    "async_compilation": r"AsyncCompileMode\.submit|\.submit = |\"AsyncCompileMode\"",
    "backend_globals": r"startswith\(\"triton\._C\.libtriton",
    "plugin_module": r"passes\.plugin\.(__dict__|extend_with\()|vars\(passes\.plugin\)|libtriton, \"passes\"",
    "manager_runs": r"pass_manager, \"run\"|pass_manager\.run = ",
    "kernel_keys": r"DependenciesFinder|record_reference|visit_Attribute",
    "kernel_parsing": r"JITCallable",
    "with_statements": r"CodeGenerator\b|visit_With",
    "hints": r"TritonSemantic|block_argument",
    "compiled_kernels": r"CompiledKernel",
    "ignored_options": r"prune_configs = |compute_cache_key",
    "kernel_launches": r"_init_handles",
    "ahead_of_time": r"tools\.compile|\"compile\.py\"",
    "kernel_arguments": r"create_function_from_signature|specialize_impl\"",
    "driver_choice": r"\b_active = None|, \"_active\"",
    "backend_registry": r"triton\.backends, \"backends\"",
}


def test_the_table_has_each_module_and_each_module_is_in_the_table() -> None:
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "table", "signatures"}
    assert {patch.module for patch in PATCHES} == modules == set(TRACES)
    for patch in PATCHES:
        assert patch.place
        assert patch.why
        assert patch.otherwise


def test_it_was_checked_with_the_installed_triton() -> None:
    assert triton.__version__ in CHECKED_WITH


@pytest.mark.parametrize("name", TRACES)
def test_only_this_package_patches(name: str) -> None:
    files = [
        path
        for directory in ("python", "backends", "dialects", "passes")
        for path in (ROOT / directory).rglob("*.py")
        if "test" not in path.relative_to(ROOT).parts
    ]
    found = {path for path in files if re.search(TRACES[name], "\n".join(code_of(path)))}
    assert {path.parent for path in found} == {PACKAGE}, found
    assert PACKAGE / f"{name}.py" in found


def code_of(path: Path) -> list[str]:
    """Returns the lines of a file without comments and docstrings."""
    text = re.sub(r'""".*?"""', "", path.read_text(), flags=re.DOTALL)
    return [line.partition("#")[0] for line in text.splitlines()]


Spoil = Callable[[pytest.MonkeyPatch], None]


def lacks(owner: object, name: str) -> Spoil:
    return lambda monkeypatch: monkeypatch.delattr(owner, name)


def has(owner: object, name: str, value: object) -> Spoil:
    return lambda monkeypatch: monkeypatch.setattr(owner, name, value)


class Other:
    """Makes a backend that adds passes in another way than Triton's own backends."""


def other_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        sys.modules, "triton.backends.other.compiler", types.ModuleType("triton.backends.other.compiler")
    )
    monkeypatch.setattr(Other, "__module__", "triton.backends.other.compiler")


def other_finder(monkeypatch: pytest.MonkeyPatch) -> None:
    class Finder:
        def record_reference(self, value: object) -> None: ...

    monkeypatch.setattr(jit, "DependenciesFinder", Finder)


def without_global(monkeypatch: pytest.MonkeyPatch) -> None:
    def create(sig: object, kparams: object, backend: object) -> object:
        return types.FunctionType((lambda: None).__code__, {})

    monkeypatch.setattr(jit, "create_function_from_signature", create)


def bind_arguments() -> None:
    kernel_arguments.specialize_by(print, lambda backend: backend == "mine")
    assert jit.create_function_from_signature("", "", "other")
    jit.create_function_from_signature("", "", "mine")


def make_kernel() -> None:
    metadata = types.SimpleNamespace(name="", target=None)
    ahead_of_time._note(types.SimpleNamespace(metadata=metadata))


DIFFERENT: list[tuple[str, Spoil, Callable[[], object], str]] = [
    ("hook_slot", lacks(knobs, "runtime"), lambda: hook_slot.replace_by(None), "there is no triton.knobs.runtime"),
    ("hook_slot", has(type(knobs.runtime), hook_slot.NAME, 7), lambda: hook_slot.replace_by(None), "expected None"),
    (
        "compile_requests",
        lacks(compiler, "get_cache_key"),
        compile_requests.follow_requests.__wrapped__,
        "there is no triton.compiler.compiler.get_cache_key",
    ),
    (
        "compile_requests",
        has(compiler, "get_cache_manager", lambda path: path),
        compile_requests.follow_requests.__wrapped__,
        "get_cache_manager takes (path), expected (key, ...)",
    ),
    (
        "async_compilation",
        has(_async_compile.AsyncCompileMode, "submit", lambda self, job: job),
        lambda: async_compilation.carry_to_threads(lambda function: ("", function)),
        "AsyncCompileMode.submit takes (self, job), expected (self, key, compile_fn, ...)",
    ),
    (
        "kernel_parsing",
        lacks(jit.JITCallable, "parse"),
        kernel_parsing.parse_one_at_a_time.__wrapped__,
        "there is no triton.runtime.jit.JITCallable.parse",
    ),
    (
        "compiled_kernels",
        has(compiler, "CompiledKernel", int),
        compiled_kernels._wrap.__wrapped__,
        "builtins.int.__init__ takes",
    ),
    (
        "ignored_options",
        has(autotuner.Autotuner, "prune_configs", lambda self: []),
        ignored_options._wrap.__wrapped__,
        "Autotuner.prune_configs takes (self), expected (self, kwargs, ...)",
    ),
    (
        "kernel_launches",
        lacks(compiler.CompiledKernel, "_init_handles"),
        kernel_launches._wrap.__wrapped__,
        "there is no triton.compiler.compiler.CompiledKernel._init_handles",
    ),
    (
        "kernel_launches",
        has(compiler.CompiledKernel, "run", lambda self: None),
        kernel_launches._wrap.__wrapped__,
        "CompiledKernel.run is not a property that returns the launcher",
    ),
    (
        "with_statements",
        has(code_generator.CodeGenerator, "visit_With", lambda self: None),
        with_statements.follow_with_statements.__wrapped__,
        "CodeGenerator.visit_With takes (self), expected (self, node, ...)",
    ),
    (
        "hints",
        lacks(semantic.TritonSemantic, "max_constancy"),
        lambda: hints.follow_hints.__wrapped__(print),
        "there is no triton.language.semantic.TritonSemantic.max_constancy",
    ),
    ("ahead_of_time", lacks(tool, "Path"), make_kernel, "there is no triton.tools.compile.Path"),
    (
        "ahead_of_time",
        has(ahead_of_time, "_NAME", "{other}"),
        lambda: ahead_of_time._Template(tool.__file__).with_name("extra").joinpath("cuda", "compile.c").read_text(),
        "compile.c does not contain {other}",
    ),
    (
        "ahead_of_time",
        lambda monkeypatch: None,
        lambda: list(ahead_of_time._Template(PACKAGE).glob("compile.*")),
        "no template of C code in ",
    ),
    (
        "kernel_keys",
        other_finder,
        lambda: kernel_keys.add_to_keys(lambda _: None),
        "record_reference takes (self, value)",
    ),
    (
        "kernel_keys",
        lacks(jit, "DependenciesFinder"),
        lambda: kernel_keys.add_to_keys(lambda _: None),
        "there is no triton.runtime.jit.DependenciesFinder",
    ),
    (
        "plugin_module",
        lacks(passes.plugin, "extend_with"),
        lambda: plugin_module.bind("nothing.so"),
        "there is no triton._C.libtriton.passes.plugin.extend_with",
    ),
    (
        "manager_runs",
        lacks(ir.pass_manager, "run"),
        lambda: importlib.reload(manager_runs),
        "there is no triton._C.libtriton.ir.pass_manager.run",
    ),
    ("backend_globals", other_backend, lambda: backend_globals.replace_globals(Other()), "expected ir and passes"),
    (
        "kernel_arguments",
        lacks(jit, "create_function_from_signature"),
        bind_arguments,
        "there is no triton.runtime.jit.create_function_from_signature",
    ),
    ("kernel_arguments", without_global, bind_arguments, "has no global specialize_impl"),
    (
        "driver_choice",
        lacks(driver, "_active"),
        driver_choice.choose_driver_again,
        "there is no triton.runtime.driver._active",
    ),
    (
        "driver_choice",
        has(driver, "_active", 7),
        driver_choice.choose_driver_again,
        "triton.runtime.driver._active is int, expected a driver",
    ),
    (
        "backend_registry",
        has(triton.backends, "backends", []),
        lambda: backend_registry.register("mine", int),
        "triton.backends.backends is list, expected dict",
    ),
]


@pytest.mark.parametrize(("name", "spoil", "apply", "found"), DIFFERENT)
def test_a_triton_that_differs_is_refused_by_name(
    name: str, spoil: Spoil, apply: Callable[[], object], found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(monkeypatch)
    with pytest.raises(TritonExtError) as error:
        apply()
    text = str(error.value)
    assert text.startswith(f"patch '{name}': Triton {triton.__version__} is not as expected: ")
    assert found in text
    assert f"triton-ext was checked with Triton {CHECKED_WITH[-1]} (fix: pip install triton==" in text


def test_each_patch_has_such_a_case() -> None:
    assert {name for name, *_ in DIFFERENT} == {patch.module for patch in PATCHES}


SPOILED = """
import triton
from triton.runtime import _async_compile
del _async_compile.AsyncCompileMode.submit
import triton_ext as tx
for use in (lambda: tx.Pipeline().skip("cse").install(), lambda: tx.Pipeline().skip("cse").__enter__()):
    try:
        use()
    except tx.TritonExtError as error:
        print(error.message.partition(":")[0])
print(triton.knobs.runtime.add_stages_inspection_hook, len(tx.extensions()) > 0)
"""


@pytest.mark.slow
def test_a_pipeline_names_the_patch_each_time() -> None:
    done = forked_python.run([sys.executable, "-c", SPOILED])
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["patch 'async_compilation'", "patch 'async_compilation'", "None True"]


def test_the_request_is_that_of_the_compilation_that_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The slot is read between the key and its look-up, and while the backend adds stages; but not elsewhere, such as
    in a launch."""
    compile_requests.follow_requests()
    seen: dict[str, object] = {}

    class Backend:
        def hash(self) -> str:
            return "mine"

        def add_stages(self, stages: object, options: object, language: object = None) -> None:
            seen["adding"] = compile_requests.adding_stages(), compile_requests.being_keyed()

    source, backend = types.SimpleNamespace(hash=lambda: "source"), Backend()
    options = types.SimpleNamespace(hash=lambda: "options")
    assert compile_requests.being_compiled() is None
    key = compiler.get_cache_key(source, backend, options, env_vars={"A": "b"})
    request = compile_requests.being_keyed()
    assert request is not None
    assert (request.source, request.options, request.variables, request.key) == (source, options, {"A": "b"}, key)
    assert compile_requests.being_compiled() is request
    assert compile_requests.adding_stages() is None
    compiler.get_cache_manager("0" * 64)
    assert compile_requests.being_compiled() is None
    backend.add_stages({}, options, None)
    assert seen["adding"] == (request, None)
    assert compile_requests.being_compiled() is None
    backend.add_stages({}, types.SimpleNamespace())  # other code asks for the stages
    assert seen["adding"] == (None, None)


def test_triton_chooses_its_driver_again(monkeypatch: pytest.MonkeyPatch) -> None:
    class Driver:
        def get_current_target(self) -> None: ...

    before, default = Driver(), Driver()
    monkeypatch.setattr(driver, "_active", before)
    monkeypatch.setattr(driver, "_default", default)
    assert driver.active is before
    driver_choice.choose_driver_again()
    assert driver.active is default
