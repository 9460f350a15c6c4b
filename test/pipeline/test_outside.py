# SPDX-License-Identifier: Apache-2.0
"""A Python pass that reads something that no key covers is refused, however it reads it.

`WAYS` has one pass for each way of reading. `fingerprint` must refuse each of them: directly, through each of the
`ROUTES` by which one function reaches another, and in processes that share a disk cache.
"""

from __future__ import annotations

import ctypes
import functools
import json
import linecache
import re
import subprocess
import sys
import textwrap
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import triton
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget

import support
import triton_ext as tx
from support.pipeline.function_shapes import SHAPES
from support.pipeline.kernels import softmax, source
from triton_ext.keys.fingerprint import fingerprint
from triton_ext.keys.guard import Guard, unguarded

CUDA90 = GPUTarget("cuda", 90, 32)

#: Code that defines `read`, which returns a number; and the name that the refusal gives to the source.
WAYS: dict[str, tuple[str, str]] = {
    "environ[]": ("import os\ndef read(): return int(os.environ['N'])", "the environment (os.environ)"),
    "environ.get": ("import os\ndef read(): return int(os.environ.get('N'))", "the environment (os.environ)"),
    "getenv": ("import os\ndef read(): return int(os.getenv('N'))", "the environment (os.getenv)"),
    "environ by another name": ("from os import environ as e\ndef read(): return int(e['N'])", "the environment (e)"),
    "getenv by another name": ("from os import getenv as g\ndef read(): return int(g('N'))", "the environment (g)"),
    "environ of os, imported inside": (
        "def read():\n  import os\n  return int(os.environ['N'])",
        "the environment (os.environ)",
    ),
    "environ, imported inside": (
        "def read():\n  from os import environ as e\n  return int(e['N'])",
        "the environment (os.environ)",
    ),
    "environ in a function within": (
        "import os\ndef read():\n  def inner(): return os.environ['N']\n  return int(inner())",
        "the environment (os.environ)",
    ),
    "environ in a comprehension": (
        "import os\ndef read(): return [int(os.environ[k]) for k in ['N']][0]",
        "the environment (os.environ)",
    ),
    "environ of a default": ("import os\ndef read(o=os): return int(o.environ['N'])", "'os': a module as a value"),
    "environ as a default": ("import os\ndef read(e=os.environ): return int(e['N'])", "the environment"),
    "environ by its name": ("import os\ndef read(): return int(getattr(os, 'environ')['N'])", "the environment"),
    "environ by a name that is put together": (
        "import os\nE = 'envi' + 'ron'\ndef read(): return int(getattr(os, E)['N'])",
        "a module as a value, of which anything may be taken (os)",
    ),
    "environ by attrgetter": (
        "import operator, os\nE = 'envi' + 'ron'\ndef read(): return int(operator.attrgetter(E)(os)['N'])",
        "a module as a value, of which anything may be taken (os)",
    ),
    "environ by vars": (
        "import os\nE = 'envi' + 'ron'\ndef read(): return int(vars(os)[E]['N'])",
        "a module as a value, of which anything may be taken (os)",
    ),
    "environb": ("import os\ndef read(): return int(os.environb[b'N'])", "the environment (os.environb)"),
    "getenv in C": (
        "import ctypes\ndef read(): return int(ctypes.CDLL(None)['get' 'env'](b'N'))",
        "what code in C returns (ctypes.CDLL)",
    ),
    "getenv of a library that is open": (
        "import ctypes\nL, E = ctypes.CDLL(None), 'get' + 'env'\ndef read(): return int(getattr(L, E)(b'N'))",
        "what code in C returns (L)",
    ),
    "a thread that is not watched": (
        "import _thread\ndef read(): _thread.start_new_thread(int, ())",
        "what a thread that is not watched reads (_thread.start_new_thread)",
    ),
    "the name of the machine": ("import platform\ndef read(): return len(platform.node())", "(platform.node)"),
    "the name of the user": ("import getpass\ndef read(): return len(getpass.getuser())", "(getpass.getuser)"),
    "which processors": ("import os\ndef read(): return len(os.sched_getaffinity(0))", "(os.sched_getaffinity)"),
    "a knob": ("from triton import knobs\ndef read(): return int(knobs.cache.dir)", "the environment (knobs.cache)"),
    "open": ("def read():\n  with open(FILE) as f: return int(f.read())", "files (open)"),
    "open by another name": ("o = open\ndef read(): return int(o(FILE).read())", "files (o)"),
    "os.open": ("import os\ndef read(): return int(os.read(os.open(FILE, 0), 9))", "files (os.read)"),
    "a path": ("from pathlib import Path\nP = Path(FILE)\ndef read(): return int(P.read_text())", "(P.read_text)"),
    "a path's method": (
        "from pathlib import Path\nr = Path.read_text\ndef read(): return int(r(Path(FILE)))",
        "files (r)",
    ),
    "a listing": ("import os\ndef read(): return len(os.listdir(FILE))", "files (os.listdir)"),
    "whether it exists": ("import os\ndef read(): return int(os.path.exists(FILE))", "files (os.path.exists)"),
    "whether a path exists": ("import pathlib as p\ndef read(): return int(p.Path(FILE).exists())", "files (exists)"),
    "whether it is a file": ("import pathlib as p\ndef read(): return int(p.Path(FILE).is_file())", "(is_file)"),
    "where it runs": ("import os\ndef read(): return len(os.getcwd())", "files (os.getcwd)"),
    "where it runs, for a path": ("import pathlib as p\ndef read(): return str(p.Path('.').resolve())", "(resolve)"),
    "where it runs, for a text": ("import os\ndef read(): return len(os.path.abspath('.'))", "files (os.path.abspath)"),
    "the home": ("from pathlib import Path\ndef read(): return len(str(Path.home()))", "the environment (Path.home)"),
    "the home of a module's path": ("import pathlib as p\ndef read(): return len(str(p.Path.home()))", "(p.Path.home)"),
    "where temporary files are": (
        "import tempfile\ndef read(): return len(tempfile.gettempdir())",
        "the environment (tempfile.gettempdir)",
    ),
    "a variable in a text": ("import os\ndef read(): return len(os.path.expandvars('$N'))", "(os.path.expandvars)"),
    "which program": ("import shutil\ndef read(): return len(shutil.which('ls'))", "files (shutil.which)"),
    "compile": ("def read(): return compile('1', '', 'eval')", "what only running it names (compile)"),
    "globals of a function": ("N = 1\ndef g(): ...\ndef read(): return g.__globals__['N']", "names (__globals__)"),
    "globals()": ("N = 1\ndef read(): return globals()['N']", "what only running it names (globals)"),
    "eval": ("N = 1\ndef read(): return eval('N')", "what only running it names (eval)"),
    "exec": ("N = 1\ndef read():\n  d = {}\n  exec('x = 1', d)\n  return d['x']", "running it names (exec)"),
    "eval of builtins": ("import builtins\ndef read(): return builtins.eval('1')", "names (builtins.eval)"),
    "eval of builtins, inside": ("def read():\n  import builtins as b\n  return b.eval('1')", "names (builtins.eval)"),
    "a table of modules": ("import sys\ndef read(): return sys.modules['made'].N", "running it names (sys.modules)"),
    "a module by name": (
        "import importlib\ndef read(): return importlib.import_module('mod_data').N",
        "what only running it names (importlib",
    ),
    "__import__": ("def read(): return __import__('mod_data').N", "what only running it names (__import__)"),
    "a module, imported inside": ("def read():\n  import mod_data\n  return mod_data.N", "imports mod_data when"),
    "from a module, inside": ("def read():\n  from mod_data import N\n  return N", "imports mod_data when it runs"),
    "a module, imported within": (
        "def read():\n  def inner():\n    import mod_data\n    return mod_data.N\n  return inner()",
        "imports mod_data when it runs",
    ),
    "a module as a value": ("import mod_data\ndef read(): return getattr(mod_data, 'N')", "a module as a value"),
    "a module in a list": ("import mod_data\nL = [mod_data]\ndef read(): return L[0].N", "a module as a value"),
    "random": ("import random\ndef read(): return int(random.random() * 1e9)", "random numbers (random.random)"),
    "randint": ("from random import randint\ndef read(): return randint(0, 9)", "random numbers (randint)"),
    "random, imported inside": (
        "def read():\n  import random\n  return random.randrange(9)",
        "random numbers (random.randrange)",
    ),
    "a generator": ("import random\nR = random.Random()\ndef read(): return R.randrange(9)", "random numbers (R)"),
    "urandom": ("import os\ndef read(): return os.urandom(1)[0]", "random numbers (os.urandom)"),
    "numpy.random": ("import numpy as np\ndef read(): return np.random.randint(9)", "random numbers (np.random"),
    "the clock": ("import time\ndef read(): return int(time.time())", "the clock (time.time)"),
    "today": ("import datetime\ndef read(): return datetime.date.today().day", "the clock (datetime.date.today)"),
    "now": ("from datetime import datetime\ndef read(): return datetime.now().day", "the clock (datetime.now)"),
    "a command": (
        "import subprocess\ndef read(): return int(subprocess.check_output(['id', '-u']))",
        "other processes (subprocess.check_output)",
    ),
    "the command line": ("import sys\ndef read(): return len(sys.argv)", "the command line (sys.argv)"),
    **{
        f"what {call} says": (f"import os, shutil, sys, resource, pwd, grp\nfrom pathlib import Path\nP = Path(FILE)\n"
        f"def read(): return {call}", f"reads {what} (")
        for what, calls in {
            "files": (
                "Path(FILE).stat().st_size", "(P / 'a').stat()", "(P / 'a').readlink()", "(P / 'a').is_symlink()",
                "(P / 'a').is_mount()", "(P / 'a').samefile(P)", "P.owner()", "P.group()", "os.statvfs('/').f_bfree",
                "os.path.islink(FILE)", "shutil.disk_usage('/').free",
            ),
            "the environment": (
                "os.sysconf('SC_NPROCESSORS_ONLN')", "os.getgid()", "os.get_terminal_size()", "os.get_exec_path()",
                "shutil.get_terminal_size().columns", "pwd.getpwuid(0)", "grp.getgrgid(0)",
            ),
            "other processes": ("os.getpgid(0)", "os.getpgrp()", "os.getsid(0)", "os.nice(0)", "resource.getrusage(0)"),
            "the clock": ("os.times().elapsed",),
            "random numbers": ("os.getrandom(1)",),
            "the command line": ("len(sys.orig_argv)", "sys._xoptions.get('n')"),
        }.items()
        for call in calls
    },
    "an MLIR file": (
        "from triton._C.libtriton import ir\ndef read(): return ir.parse_mlir_module(FILE, None)",
        "files (ir.parse_mlir_module)",
    ),
}  # fmt: skip
#: Code by which the pass `f` reaches `read`. If there are two modules, `read` is in the other one.
ROUTES: dict[str, str] = {
    **{shape: code.replace("#", "read()") for shape, code in SHAPES.items()},
    "itself": "f = read",
    "a closure": "def g(x):\n  def f(m): return x()\n  return f\nf = g(read)",
    "a default": "def f(m, x=read): return x()",
    "a keyword default": "def f(m, *, x=read): return x()",
    "a partial": "import functools\nf = functools.partial(lambda x, m: x(), read)",
    "a partial of it": "import functools\nf = functools.partial(read)",
    "a list": "L = [[read]]\ndef f(m): return L[0][0]()",
    "a set": "L = {read}\ndef f(m): return [x() for x in L]",
    "an attribute": "class A: ...\na = A()\na.g = read\ndef f(m): return a.g()",
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_a_way_of_reading_is_refused(way: str, modules: Callable[..., Any]) -> None:
    code, says = WAYS[way]
    f = modules(mod_data="N = 1\nf = None", mod_f=f"{code}\nf = read")
    with pytest.raises(tx.PipelineError) as error:
        fingerprint(f)
    assert says in str(error.value)
    assert str(error.value).endswith("give the function an attribute cache_key, a text that changes when it does")


@pytest.mark.parametrize("where", ["in one file", "in another file"])
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("way", ["environ[]", "open", "random, imported inside", "globals()"])
def test_it_is_refused_by_whatever_route(way: str, route: str, where: str, modules: Callable[..., Any]) -> None:
    code, says = WAYS[way]
    if where == "in one file":
        f = modules(mod_f=f"{code}\n{ROUTES[route]}")
    else:
        f = modules(mod_a=f"{code}\nf = None", mod_f=f"from mod_a import read\n{ROUTES[route]}")
    with pytest.raises(tx.PipelineError, match=re.escape(says)):
        fingerprint(f)


def test_it_is_refused_through_a_module(modules: Callable[..., Any]) -> None:
    f = modules(mod_a=f"{WAYS['open'][0]}\nf = None", mod_f="import mod_a\ndef f(m): return mod_a.read()")
    with pytest.raises(tx.PipelineError, match=r"can be made of read, which reads files \(open\)"):
        fingerprint(f)


@pytest.mark.parametrize("route", ROUTES)
def test_what_reads_nothing_is_not_refused(route: str, modules: Callable[..., Any]) -> None:
    pure = (
        "import os, re, json, math, functools, datetime, collections, textwrap, numpy as np\n"
        "from os.path import join\nfrom re import sub\nfrom warnings import warn\n"
        "def read():\n  import itertools, os.path\n  from dataclasses import replace\n"
        "  where = os.path.join('a', join('b', os.sep)), datetime.timedelta(1), np.zeros(3), textwrap.dedent(' x')\n"
        "  warn('nothing')\n  return math.prod(map(int, re.findall('1', sub('a', '1', json.dumps('aa')))))"
    )
    keys = {fingerprint(modules(mod_f=f"{pure}\n{ROUTES[route]}")) for _ in range(2)}
    assert len(keys) == 1


#: Passes that open a file to write.
WRITES = [
    "def f(m): open('x', 'w').write('text')",
    "def f(m):\n  with open('x', mode='ab') as g: g.write(b'')",
    "from pathlib import Path\nP = Path('x')\ndef f(m):\n  with P.open('x') as g: g.write('')",
    "import os\ndef f(m): os.close(os.open('x', os.O_WRONLY | os.O_CREAT))",
]


@pytest.mark.parametrize(
    "code",
    [
        "class A:\n  def save(s): open(s.x, 'w')\n  def __call__(s, m): return s.x\nf = A()\nf.x = 1",
        "import os\nclass A:\n  def __init__(s): s.x = os.environ.get('N')\n  def __call__(s, m): return s.x\nf = A()",
        "import os\nN = os.environ.get('N')\ndef f(m): return N",
        "N = open(__file__).read()\ndef f(m): return N",
        "import os\nf = lambda m, n=os.environ.get('N'): n",
        "import random\nN = random.Random(7).random()\ndef f(m): return N",
    ],
)
def test_what_is_read_before_is_a_value_like_any_other(code: str, modules: Callable[..., Any]) -> None:
    assert fingerprint(modules(mod_f=code))


@pytest.mark.parametrize("code", WRITES)
def test_what_is_written_is_no_input_where_the_guard_sees_it(code: str, modules: Callable[..., Any]) -> None:
    f = modules(mod_f=code)
    assert fingerprint(f, watched=True)
    with pytest.raises(tx.PipelineError, match="files"):  # for example a reference function of a tuning
        fingerprint(f)


#: Values to which ordinary passes refer, each with a different value of the same kind.
VALUES = {
    "a logger": ("logging.getLogger('a')", "logging.getLogger('b')"),
    "a named tuple": ("collections.namedtuple('T', 'a b')(1, 2)", "collections.namedtuple('T', 'a b')(1, 3)"),
    "a class of named tuples": ("collections.namedtuple('T', 'a b')", "collections.namedtuple('T', 'b a')"),
    "a range": ("range(5)", "range(6)"),
    "a slice": ("slice(1, 2)", "slice(1, 3)"),
    "a queue": ("collections.deque([1])", "collections.deque([2])"),
    "a namespace": ("types.SimpleNamespace(a=1)", "types.SimpleNamespace(a=2)"),
    "a decimal": ("decimal.Decimal('1.5')", "decimal.Decimal('1.25')"),
    "a fraction": ("fractions.Fraction(1, 3)", "fractions.Fraction(2, 3)"),
    "a duration": ("datetime.timedelta(1)", "datetime.timedelta(2)"),
    "a type": ("list[int] | None", "list[str] | None"),
    "a view": ("types.MappingProxyType({'a': 1})", "types.MappingProxyType({'a': 2})"),
    "an array": ("np.arange(3)", "np.arange(3)[::-1]"),
    "a data type": ("np.dtype('f4')", "np.dtype('f8')"),
    "a number of NumPy": ("np.int32(1)", "np.int32(2)"),
    "a path": ("pathlib.PurePosixPath('a')", "pathlib.PurePosixPath('b')"),
}


@pytest.mark.parametrize("name", VALUES)
def test_what_passes_hold_is_a_value(name: str, modules: Callable[..., Any]) -> None:
    head = "import collections, datetime, decimal, fractions, logging, pathlib, types, numpy as np\n"
    one, same, other = (
        fingerprint(modules(mod_f=f"{head}V = {value}\ndef f(m): return V"))
        for value in (*VALUES[name][:1] * 2, VALUES[name][1])
    )
    assert one == same != other


@pytest.mark.parametrize("way", WAYS)
def test_a_function_says_itself_what_it_depends_on(way: str, modules: Callable[..., Any]) -> None:
    code = f"{WAYS[way][0]}\nread.cache_key = 'one'\ndef f(m): return read()"
    one = fingerprint(modules(mod_data="N = 1\nf = None", mod_f=code))
    other = fingerprint(modules(mod_f=code.replace("'one'", "'two'")))
    assert one != other == fingerprint(modules(mod_f=code.replace("'one'", "'two'")))


# ---------------------------------------------------------------------------
# While it runs
# ---------------------------------------------------------------------------


def limit(module: Any, registers: int) -> None:
    """Leaves ``.maxnreg`` in the PTX."""
    module.set_attr("ttg.maxnreg", ir.builder(module.context).get_int32_attr(registers))


def compiled(pipeline: tx.Pipeline) -> Any:
    with pipeline:
        return triton.compile(source(softmax), target=CUDA90)


#: Passes that open `FILE`, although no name in their code shows it.
HIDDEN = {
    "a method": "from pathlib import Path\ndef f(m): m.limit = Path(FILE).read_text()",
    "a library": "import numpy as np\ndef f(m): np.loadtxt(FILE)",
    "another library": "import json, tokenize\ndef f(m):\n  with tokenize.open(FILE) as g: json.load(g)",
    "a listing": "from pathlib import Path\ndef f(m): [*Path(FILE).parent.iterdir()]",
    "a mode for writing, of another file": "def f(m): open(FILE).read(); lambda: open(FILE + '.copy', 'w')",
    "both ways": "def f(m): open(FILE, 'a+').read()",
    "a thread": (
        "import threading\nfrom pathlib import Path\n"
        "def f(m):\n  t = threading.Thread(target=lambda: m.__setattr__('limit', Path(FILE).read_text()))\n"
        "  t.start()\n  t.join()"
    ),
    "a thread of a thread": (
        "import threading\nfrom pathlib import Path\n"
        "def g(target):\n  t = threading.Thread(target=target)\n  t.start()\n  t.join()\n"
        "def f(m): g(lambda: g(lambda: Path(FILE).read_text()))"
    ),
    "a pool of threads": (
        "import concurrent.futures as c\nfrom pathlib import Path\n"
        "def f(m):\n  with c.ThreadPoolExecutor(1) as p: p.submit(lambda: Path(FILE).read_text()).result()"
    ),
    "what it swallows": "from pathlib import Path\ndef f(m):\n  try: Path(FILE).read_text()\n  except: ...",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HIDDEN)
@pytest.mark.parametrize("as_stage", [False, True])
def test_a_pass_that_opens_a_file_is_refused_when_it_runs(
    name: str, as_stage: bool, modules: Callable[..., Any], tmp_path: Path, kernel_cache: Path
) -> None:
    (tmp_path / "file").write_text("64")
    f = modules(mod_f=f"class M: ...\n{HIDDEN[name]}")
    namespace = sys.modules["mod_f"]

    def run(module: Any) -> None:
        namespace.f(namespace.M())

    def stage(text: Any, metadata: Any, inner: Any) -> Any:
        namespace.f(namespace.M())
        return inner(text, metadata)

    pipeline = tx.Pipeline().stage("ptx", stage) if as_stage else tx.Pipeline().at_end("ttir", run)
    del f
    with pytest.raises(tx.PipelineError, match=r"(opens|lists) '.*' *, which is in no cache key; give the function"):
        compiled(pipeline)
    assert not list(kernel_cache.glob("*/softmax.json"))
    stage.cache_key = run.cache_key = "the same each time"
    assert compiled(pipeline)


def test_the_key_of_a_helper_does_not_excuse_what_the_pass_reads(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("64")

    def helper() -> None: ...

    def run(module: Any) -> None:
        helper()
        np.loadtxt(path)

    helper.cache_key = "the same each time"  # type: ignore[attr-defined]
    with pytest.raises(tx.PipelineError, match="which is in no cache key"):
        compiled(tx.Pipeline().at_end("ttir", run))
    run.cache_key = "the same each time"  # type: ignore[attr-defined]
    assert compiled(tx.Pipeline().at_end("ttir", functools.partial(run)))


def test_what_a_pass_writes_and_imports_is_its_own_business(tmp_path: Path) -> None:
    report = tmp_path / "report"

    def run(module: Any) -> None:
        with open(report, "a") as file:
            file.write("ran")
        import this  # noqa: F401 - imported by nobody else, so its file is read here

        traceback.format_stack()  # with lines of this file

    def write(module: Any) -> None:
        report.with_suffix(".txt").write_text("ran")

    sys.modules.pop("this", None)
    linecache.clearcache()
    pipeline = tx.Pipeline().at_end("ttir", run, write)
    for _ in range(2):  # the second kernel is in the cache, so nothing runs
        assert compiled(pipeline)
        assert (report.read_text(), report.with_suffix(".txt").read_text()) == ("ran", "ran")


def test_the_backend_s_own_files_are_not_the_stage_function_s() -> None:
    """The stage ``cubin`` runs ptxas on files, which the guard must allow."""

    def around(text: Any, metadata: Any, inner: Any) -> Any:
        return inner(text, metadata)

    assert compiled(tx.Pipeline().stage("cubin", around)).asm["cubin"]


def test_a_guard_is_that_of_its_thread_and_of_those_that_it_starts(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("1")
    read = (tmp_path / "file").read_text
    with ThreadPoolExecutor(1) as earlier:
        earlier.submit(int).result()
        with Guard(limit) as guard:
            earlier.submit(read).result()
            assert guard.problem is None
        with Guard(limit) as guard:
            later = threading.Thread(target=read)
            later.start()
            later.join()
        assert guard.problem


def test_a_thread_that_the_backend_starts_is_not_the_pass_s(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("1")
    with Guard(limit) as guard, unguarded():
        other = threading.Thread(target=(tmp_path / "file").read_text)
        other.start()
        other.join()
    assert guard.problem is None


def test_a_function_in_c_that_reads() -> None:
    with Guard(limit) as guard:
        ctypes.CDLL(None).strlen(b"text")
    assert guard.problem is None
    with Guard(limit) as guard:
        ctypes.CDLL(None).getenv(b"N")
    assert str(guard.problem).startswith("calls 'getenv' in C")


#: What cannot be seen, by its words on the page; each code defines `read`.
UNSEEN = {
    "the environment": "import site\ndef read(): return len(site.getuserbase())",
    "the clock": "import logging\ndef read(): return logging.makeLogRecord({}).created",
    "random numbers": "import tempfile\ndef read(): return next(tempfile._get_candidate_names())",
    "whether a file exists": "import zipfile\ndef read(): return zipfile.Path",
    "whom it belongs to": "import pathlib as p\ndef read(): return p.Path(p.os.sep).owner()",
    "the machine": "import numpy as np\ndef read(): return np.show_config",
    "a thread that was there before": "",
    "below the directories of Python and of pip": (
        "import this\nfrom pathlib import Path\ndef read(): return len(Path(this.__file__).read_bytes())"
    ),
    "`id`": "def read(): return id(FILE)",
    "`hash`": "def read(): return hash('text')",
}


@pytest.mark.parametrize("words", UNSEEN)
def test_the_page_names_what_cannot_be_seen(words: str, modules: Callable[..., Any]) -> None:
    page = " ".join((support.ROOT / "docs" / "pipelines.md").read_text().split())
    (said,) = re.findall(r"What cannot be seen .*? by `cache_key`\.", page)
    assert words in said
    if code := UNSEEN[words]:
        f = modules(mod_f=f"{code}\nf = read")
        assert fingerprint(f)
        with Guard(f) as guard:
            f()
        assert guard.problem is None


def test_a_guard_inside_of_another(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("1")
    with Guard(limit) as guard:
        with Guard(compiled) as inner:
            (tmp_path / "file").read_text()
        assert inner.problem
        assert guard.problem is None
        (tmp_path / "file").read_text()
    assert guard.problem


# ---------------------------------------------------------------------------
# In processes that share a disk cache
# ---------------------------------------------------------------------------

PROGRAM = """
import json, sys
import triton, triton_ext as tx
from support.pipeline.kernels import softmax, source
from triton.backends.compiler import GPUTarget
sys.path.insert(0, sys.argv[1])
import subject
hits = []
triton.knobs.compilation.listener = lambda *, cache_hit, **_: hits.append(cache_hit)
try:
    with tx.Pipeline().at_end("ttir", subject.f):
        ptx = triton.compile(source(softmax), target=GPUTarget("cuda", 90, 32)).asm["ptx"]
    print(json.dumps([int(ptx.partition(".maxnreg ")[2].split()[0]), *hits]))
except tx.PipelineError as error:
    print(json.dumps(str(error)))
"""
LIMIT = """
from triton._C.libtriton import ir
def f(m): m.set_attr("ttg.maxnreg", ir.builder(m.context).get_int32_attr(read()))
"""


@pytest.fixture
def run_subject(tmp_path: Path, kernel_cache: Path) -> Callable[..., Any]:
    """Compiles with the pass of `code` in a separate process; returns what the pass leaves in the PTX, or the error."""

    def run(code: str, number: int) -> Any:
        (tmp_path / "file").write_text(str(number))
        (tmp_path / "mod_data.py").write_text(f"N = {number}\n")
        (tmp_path / "subject.py").write_text(f"FILE = {str(tmp_path / 'file')!r}\n{textwrap.dedent(code)}{LIMIT}")
        command = [sys.executable, "-B", "-c", PROGRAM, str(tmp_path)]
        environment = support.environment(N=str(number), TRITON_CACHE_DIR=str(kernel_cache))
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    "way", ["environ of os, imported inside", "open", "globals()", "eval", "a module, imported inside", "randint"]
)
def test_no_process_gets_the_kernel_of_another_value(way: str, run_subject: Callable[..., Any]) -> None:
    code, says = WAYS[way]
    for number in (64, 128):
        assert says in run_subject(code, number)


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "import os\nN = int(os.environ['N'])\ndef read(): return N",
        "import mod_data\ndef read(): return mod_data.N",
        "from mod_data import N\ndef read(): return N",
        "N = int(open(FILE).read())\ndef read(): return N",
        "import os\ndef read(): return int(os.environ['N'])\nread.cache_key = os.environ['N']",
        "def read(): return int(open(FILE).read())\nread.cache_key = open(FILE).read()",
        "class A:\n  cache_key = property(lambda s: open(FILE).read())\n"
        "  def __call__(s): return int(open(FILE).read())\nread = A()",
    ],
)
def test_every_process_gets_the_kernel_of_its_value(code: str, run_subject: Callable[..., Any]) -> None:
    for number, hit in ((64, False), (128, False), (64, True)):
        assert run_subject(code, number) == [number, hit]
