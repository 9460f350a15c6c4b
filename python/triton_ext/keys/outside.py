# SPDX-License-Identifier: Apache-2.0
"""Finds reads in Python code that no cache key covers: the environment, files, the clock, random numbers, and so on.

The key is needed before the pass runs, but only the run shows what is read. So a function is refused if its code shows
such a read, and also if it opens a file while it runs (`guard`). A function with an attribute ``cache_key``, which
declares what it depends on, is accepted.

The tables below list what passes commonly read. They cannot be complete: only the guard sees what an installed package
reads for the function, and Python code can hide a read from both. A function whose code has a mode for writing is left
to the guard, if there is one, because the guard sees how each file is opened.
"""

from __future__ import annotations

import builtins
import inspect
import os
import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .code import INSTALLED, MISSING, Chain, chains, imports, is_installed, texts, value_at, words

WAY_OUT = "give the function an attribute cache_key, a text that changes when it does"

_ENVIRONMENT, _FILES, _CLOCK = "the environment", "files", "the clock"
_RANDOM, _BY_NAME, _PROCESSES = "random numbers", "what only running it names", "other processes"
_FOREIGN = "what code in C returns"
#: By module, what all of its functions read.
_MODULES = {
    "random": _RANDOM, "_random": _RANDOM, "secrets": _RANDOM, "uuid": _RANDOM, "numpy.random": _RANDOM,
    "time": _CLOCK, "subprocess": _PROCESSES, "_posixsubprocess": _PROCESSES, "multiprocessing": _PROCESSES,
    "socket": "the network", "_socket": "the network", "urllib.request": "the network", "http.client": "the network",
    "importlib": _BY_NAME, "_frozen_importlib": _BY_NAME, "runpy": _BY_NAME, "pkgutil": _BY_NAME,
    "genericpath": _FILES, "glob": _FILES, "linecache": _FILES, "fileinput": _FILES,
    "pwd": _ENVIRONMENT, "grp": _ENVIRONMENT, "resource": _PROCESSES,
    "triton.knobs": _ENVIRONMENT, "platform": _ENVIRONMENT, "getpass": _ENVIRONMENT, "locale": _ENVIRONMENT,
    "ctypes": _FOREIGN, "_ctypes": _FOREIGN, "cffi": _FOREIGN,
}  # fmt: skip
_FUNCTIONS = {
    **dict.fromkeys(("os.getenv", "os.getenvb"), _ENVIRONMENT),
    **dict.fromkeys(("io.open", "_io.open", "io.open_code", "_io.open_code", "os.fdopen", "os.walk"), _FILES),
    **{f"posix.{name}": _FILES for name in ("open", "read", "pread", "readv", "preadv", "listdir", "scandir")},
    **{f"posix.{name}": _FILES for name in ("stat", "lstat", "fstat", "statvfs", "fstatvfs", "access", "isatty")},
    **{f"posix.{name}": _FILES for name in ("pathconf", "fpathconf", "getxattr", "listxattr", "ttyname")},
    **{f"pathlib.Path.{name}": _FILES for name in ("open", "read_text", "read_bytes", "exists", "stat", "glob")},
    **{f"pathlib.Path.{name}": _FILES for name in ("owner", "group", "rglob", "iterdir")},
    **dict.fromkeys(("posixpath.expandvars", "posixpath.expanduser", "posix.uname", "posix.cpu_count"), _ENVIRONMENT),
    **{f"posix.{name}": _ENVIRONMENT for name in ("sched_getaffinity", "getloadavg", "getuid", "geteuid", "getlogin")},
    **{f"posix.{name}": _ENVIRONMENT for name in ("getgid", "getegid", "getgroups", "getgrouplist", "umask")},
    **{f"posix.{name}": _ENVIRONMENT for name in ("getresuid", "getresgid", "sysconf", "confstr")},
    **dict.fromkeys(("posix.get_terminal_size", "shutil.get_terminal_size", "os.get_exec_path"), _ENVIRONMENT),
    **dict.fromkeys(("posix.getcwd", "posix.getcwdb", "posix.readlink", "shutil.which", "shutil.disk_usage"), _FILES),
    **{f"posixpath.{name}": _FILES for name in ("abspath", "realpath", "relpath", "lexists", "islink", "ismount")},
    **dict.fromkeys(("pathlib.Path.home", "tempfile.gettempdir", "tempfile.gettempdirb"), _ENVIRONMENT),
    "triton._C.libtriton.ir.parse_mlir_module": _FILES,
    **dict.fromkeys(("posix.urandom", "posix.getrandom"), _RANDOM),
    **dict.fromkeys(("posix.system", "os.popen", "posix.getpid", "posix.getppid"), _PROCESSES),
    **{f"posix.{name}": _PROCESSES for name in ("getpgid", "getpgrp", "getsid", "getpriority", "nice", "tcgetpgrp")},
    **{f"posix.{name}": _PROCESSES for name in ("sched_getparam", "sched_getscheduler", "wait", "waitpid")},
    "posix.times": _CLOCK,
    **dict.fromkeys(("datetime.datetime.now", "datetime.datetime.utcnow", "datetime.date.today"), _CLOCK),
    **{f"builtins.{name}": _BY_NAME for name in ("eval", "exec", "compile", "globals", "__import__")},
    "sys._getframe": _BY_NAME, "inspect.currentframe": _BY_NAME, "inspect.stack": _BY_NAME,
    "builtins.input": "standard input",
    **dict.fromkeys(("_thread.start_new_thread", "_thread.start_new"), "what a thread that is not watched reads"),
}  # fmt: skip
#: Modules with many functions, some of which read something, so a function may be picked by a name at run time.
_OF_MANY_THINGS = ("os", "posix", "sys", "builtins", "io", "_io")
#: Functions that open a file, to read or to write.
_OPENING = ("io.open", "_io.open", "posix.open", "os.fdopen", "pathlib.Path.open")
_WRITING = re.compile(r"[bt]?[wax][bt]?\+?[bt]?|O_WRONLY")
#: By attribute, what it reads; for objects whose type the code does not show.
_ATTRIBUTES = {
    **dict.fromkeys(("environ", "environb", "getenv", "getenvb", "expandvars", "expanduser"), _ENVIRONMENT),
    # These raise no audit event.
    **dict.fromkeys(("exists", "is_file", "is_dir", "lstat", "cwd", "resolve", "absolute"), _FILES),
    **dict.fromkeys(("stat", "readlink", "samefile", "is_symlink", "is_mount", "is_socket", "is_fifo"), _FILES),
    **dict.fromkeys(("is_block_device", "is_char_device", "is_junction"), _FILES),
    **dict.fromkeys(("__globals__", "f_globals"), _BY_NAME),
}
_BUILTIN = (
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType,
    types.ClassMethodDescriptorType,
)  # fmt: skip


def reading(function: types.FunctionType, *, watched: bool) -> str | None:
    """Returns what `function` reads that no key covers; None if its code shows no such read.

    The functions that it calls are not examined.

    Args:
        function: the function.
        watched: whether a `Guard` sees how it opens files.
    """
    whole_modules = []
    for chain, ends in chains(function.__code__).items():
        value: Any = MISSING
        for dotted, value in _values(function, chain):
            if (what := outside(value)) and not (watched and _may_write(value, function.__code__)):
                return f"reads {what} ({dotted})"
            # The submodule that the chain names may not be loaded yet.
            if isinstance(value, types.ModuleType) and dotted != str(chain):
                part = str(chain).removeprefix(f"{dotted}.").partition(".")[0]
                if what := _of_module(f"{value.__name__}.{part}"):
                    return f"reads {what} ({chain})"
        if ends and isinstance(value, types.ModuleType) and (what := whole(value)):
            whole_modules.append(f"uses {what} ({chain})")
    for module, taken, file in imports(function):
        if what := _of_module(module):
            return f"imports {module}, which reads {what}"
        if taken and (what := outside(getattr(sys.modules.get(module), taken, None))):
            return f"reads {what} ({module}.{taken})"
        # The key would cover the bytes of that file, but not the modules that the file imports.
        if not is_installed(module) and not (file or "").startswith(INSTALLED):
            return f"imports {module} when it runs, which has to be at the top of its file"
    if hidden := sorted(words(function.__code__) & _ATTRIBUTES.keys()):
        return f"reads {_ATTRIBUTES[hidden[0]]} ({hidden[0]})"
    return whole_modules[0] if whole_modules else None


def outside(value: object) -> str | None:
    """Returns what calling or using `value` reads, e.g. ``files``; None if it reads nothing outside of the program."""
    if value is os.environ or value is os.environb:
        return _ENVIRONMENT
    if value is sys.modules:
        return _BY_NAME
    if any(value is given for given in (sys.argv, sys.orig_argv, sys._xoptions)):
        return "the command line"
    if value is sys.stdin:
        return "standard input"
    if isinstance(value, types.ModuleType):
        return None
    module, name = _origin(value.__func__ if isinstance(value, classmethod) else value)
    return _of_module(module) or _FUNCTIONS.get(f"{module}.{name}")


def whole(module: types.ModuleType) -> str | None:
    """Returns why `module` may not be used as a value, e.g. as an argument; None if it may."""
    if what := _of_module(module.__name__):
        return what
    is_known = is_installed(module.__name__) and module.__name__ not in _OF_MANY_THINGS
    return None if is_known else "a module as a value, of which anything may be taken"


def _may_write(value: object, code: types.CodeType) -> bool:
    """Whether `value` opens files, and `code` has a mode for writing, be it for this file or for another one."""
    return ".".join(_origin(value)) in _OPENING and any(map(_WRITING.fullmatch, texts(code)))


def _of_module(module: str) -> str | None:
    while module:
        if module in _MODULES:
            return _MODULES[module]
        module = module.rpartition(".")[0]
    return None


def _origin(value: object) -> tuple[str, str]:
    """Returns module and qualified name of a function or a class; for another object, those of its class."""
    if isinstance(value, type):  # read directly, without the metaclass
        return str(value.__module__), value.__qualname__
    is_function = isinstance(value, (types.FunctionType, types.MethodType, *_BUILTIN))
    if not is_function and not type(value).__name__.startswith("nb_"):  # a function of libtriton
        return type(value).__module__, type(value).__qualname__
    owner = getattr(value, "__objclass__", None) or getattr(value, "__self__", None)
    if owner is None or isinstance(owner, types.ModuleType):
        owner = value
    elif not isinstance(owner, type):
        owner = type(owner)
    module = getattr(owner, "__module__", None) or getattr(value, "__module__", None)
    return str(module), str(getattr(value, "__qualname__", ""))


def _values(function: types.FunctionType, chain: Chain) -> Iterator[tuple[str, object]]:
    """Yields the value of each beginning of `chain`, e.g. of ``os`` and ``os.environ``, until a value is unknown.

    No code runs to find the values.
    """
    value: Any
    if chain.kind == "import":
        value = sys.modules.get(chain.name, MISSING)
    elif chain.kind == "global":
        value = function.__globals__.get(chain.name, getattr(builtins, chain.name, MISSING))
    else:
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
        value = value_at(cells[chain.name], chain.name) if chain.name in cells else MISSING
    yield chain.name, value
    for i, name in enumerate(chain.attributes, 1):
        if isinstance(value, types.ModuleType):
            value = vars(value).get(name, MISSING)
        elif isinstance(value, type | Path):
            value = inspect.getattr_static(value, name, MISSING)
        else:
            return
        yield ".".join((chain.name, *chain.attributes[:i])), value
