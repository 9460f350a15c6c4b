# SPDX-License-Identifier: Apache-2.0
"""Python programs of tests, in processes that are forked from one that has imported torch.

Starting Python and importing torch takes a program a second of processor time, most of what many programs of tests
take. `run` has a server fork the program's process instead, after it has imported `IMPORTED`. The program still has a
process of its own: its own memory, variables, directory and files, and it may crash. It finds `IMPORTED` imported when
it imports it (`Imported`), and Triton and triton-ext not imported, because both read variables at their import. What
`IMPORTED` reads, and what Python reads at its start, depends on the variables `DECIDING` only. A program with other
ones than the server is started, and so is one with options of Python.

``python -m support.forked_python FD`` is the server; the file FD is a socket, through which requests come.
"""

from __future__ import annotations

import atexit
import contextlib
import copy
import ctypes
import functools
import gc
import importlib
import importlib.util
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.machinery import BuiltinImporter, ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import IO, Any

import support
from support.become import become

#: What many programs import, and what does not import Triton.
IMPORTED = ("torch", "numpy", "pytest", "hypothesis", "click", "filelock")
#: The first letters of variables that Python or `IMPORTED` may read when they start.
DECIDING = (
    "CI", "CUDA", "GLIBC", "GOMP", "HYPOTHESIS", "KINETO", "KMP", "LANG", "LC_", "LD_", "MALLOC", "MKL", "NPY", "NUMPY",
    "OMP", "OPENBLAS", "PYTEST_", "PYTHON", "PYTORCH", "TORCH",
)  # fmt: skip
#: Variables among them that may differ: `become` and `_main` see to them, and pytest sets the last one for each test.
SEEN_TO = {"PYTHONPATH", "PYTHONUNBUFFERED", "PYTEST_CURRENT_TEST"}
_LARGEST = 1 << 17  # bytes of a request: a socket's buffer has room for them


@dataclass(frozen=True)
class Program:
    """A program to run."""

    command: list[str]  #: the whole command line
    asked: list[str]  #: what Python is asked to run: ``-c`` or ``-m`` and a text, or a file; and its arguments
    environment: dict[str, str]  #: all variables
    directory: str  #: where it runs


def run(
    command: Sequence[object], *, env: Mapping[str, str] | None = None, cwd: str | Path | None = None,
    text: str = "", timeout: float | None = None, check: bool = False,
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """Runs a program as `subprocess.run` does; a Python program is forked if it can be.

    Args:
        command: the program and its arguments.
        env: all variables; those of this process by default.
        cwd: the directory in which it runs; this process's by default.
        text: its standard input.
        timeout: seconds, after which the program is killed.
        check: whether another status than 0 is an error.

    Raises:
        subprocess.TimeoutExpired: The program took longer.
        subprocess.CalledProcessError: The program failed, and `check` is true.
    """
    words, environment = list(map(str, command)), {**(os.environ if env is None else env)}
    asked = _asked(words)
    request = json.dumps(asdict(Program(words, asked or [], environment, str(cwd or os.getcwd())))).encode()
    if asked is None or _deciding(environment) != _deciding(os.environ) or len(request) > _LARGEST:
        return start(words, env=environment, cwd=cwd, input=text, timeout=timeout, check=check)
    with contextlib.ExitStack() as files:
        standard = [files.enter_context(tempfile.TemporaryFile("w+")) for _ in range(3)]
        standard[0].write(text)
        standard[0].seek(0)
        status = _ask(request, standard, timeout)
        for file in standard[1:]:
            file.seek(0)
        done = subprocess.CompletedProcess(words, status or 0, standard[1].read(), standard[2].read())
    if status is None:
        assert timeout is not None
        raise subprocess.TimeoutExpired(words, timeout, done.stdout, done.stderr)
    if check:
        done.check_returncode()
    return done


def start(command: Sequence[object], *, check: bool = False, **options: Any) -> subprocess.CompletedProcess[str]:
    """Starts a program with `options` of `subprocess.run`, waits for its end, and returns what it has written."""
    return subprocess.run(list(map(str, command)), check=check, capture_output=True, text=True, **options)


def _deciding(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(DECIDING) and name not in SEEN_TO}


@functools.cache
def _is_script(program: str) -> bool:
    """Returns whether `program` is a script of this environment."""
    path, python = Path(program), Path(sys.executable)
    return path.parent == python.parent and path.read_bytes().startswith(b"#!" + bytes(python))


def _asked(words: list[str]) -> list[str] | None:
    """Returns what Python is asked to run, and its arguments; None if the program cannot be forked."""
    if words[0] == sys.executable:
        is_option = len(words) < 2 or (words[1].startswith("-") and words[1] not in {"-c", "-m"})
        return None if is_option else words[1:]
    return words if _is_script(words[0]) else None


def _ask(request: bytes, standard: Sequence[IO[str]], timeout: float | None) -> int | None:
    """Returns the status of a program, or minus the number of the signal that has ended it; None if it takes longer."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        with theirs:
            socket.send_fds(_server(), [request], [*(file.fileno() for file in standard), theirs.fileno()])
        process = int(ours.recv(32) or 0)
        assert process, "the server has ended"
        ours.settimeout(timeout)
        try:
            return int(ours.recv(32))
        except TimeoutError:
            os.kill(process, signal.SIGKILL)
            ours.settimeout(None)
            ours.recv(32)
            return None


@functools.cache
def _server() -> socket.socket:
    """Starts the server of this process; it ends when this process does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        # The first variable makes `support.SITE` load torch as in other programs of tests. Without the second one, C's
        # output of all programs would be unbuffered where this process's is; `become` sees to programs that want it.
        environment = support.environment(PYTEST_CURRENT_TEST="", PYTHONUNBUFFERED="")
        command = [sys.executable, "-m", __name__, str(theirs.fileno())]
        server = subprocess.Popen(command, env=environment, pass_fds=[theirs.fileno()], cwd=support.ROOT)

    @atexit.register
    def end() -> None:
        ours.close()
        server.wait()

    return ours


class Imported:
    """Finds modules that this process has imported, and gives them to the first program that imports their package.

    Until then, ``sys.modules`` has none of them: programs look there whether they use torch.
    """

    def __init__(self, before: Container[str]) -> None:
        """Takes the modules that are not in `before` out of ``sys.modules``, except those of Python."""
        self.packages: dict[str, dict[str, ModuleType]] = {}
        for name in [name for name in sys.modules if name not in before]:
            package = name.partition(".")[0]
            if package not in sys.stdlib_module_names:
                self.packages.setdefault(package, {})[name] = sys.modules.pop(name)

    def find_spec(self, name: str, path: object = None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = copy.copy(self.packages[name][name].__spec__) if name in self.packages else None
        if spec is not None:
            spec.loader = self
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        modules = self.packages.pop(spec.name)
        sys.modules.update(modules)
        self.spec = modules[spec.name].__spec__
        return modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec


def serve(requests: socket.socket) -> None:
    """Forks a process for each request until the other end of `requests` is closed."""
    before = {*sys.modules}
    for name in IMPORTED:
        importlib.import_module(name)
    sys.meta_path.insert(0, Imported(before))
    found = importlib.util.find_spec("triton")
    assert found is not None
    assert found.origin is not None
    for library in (Path(found.origin).parent / "_C").glob("libtriton*.so"):
        ctypes.CDLL(str(library))  # finds its symbols; only importing it initializes Triton
    gc.collect()
    gc.freeze()
    path = sys.path[1 + len(os.environ["PYTHONPATH"].split(os.pathsep)) :]
    selector = selectors.DefaultSelector()
    selector.register(requests, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is requests:
                request, files, *_ = socket.recv_fds(requests, _LARGEST, 4)
                if not request:
                    return
                process = os.fork()
                if not process:
                    selector.close()
                    requests.close()
                    _become(path, files, Program(**json.loads(request)))
                answer = socket.socket(fileno=files.pop())
                answer.send(str(process).encode())
                for file in files:
                    os.close(file)
                selector.register(os.pidfd_open(process), selectors.EVENT_READ, (process, answer))
            else:
                process, answer = key.data
                selector.unregister(key.fileobj)
                os.close(key.fd)
                with answer, contextlib.suppress(BrokenPipeError):
                    answer.send(str(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])).encode())


def _become(path: Sequence[str], files: Sequence[int], program: Program) -> None:
    """Makes this process run a program.

    Args:
        path: what is in ``sys.path`` behind the directories of the program and of PYTHONPATH.
        files: the program's input, output and errors, and others, which are closed.
        program: the program.
    """
    for number, file in enumerate(files):
        if number < 3:
            os.dup2(file, number)
        os.close(file)
    os.chdir(program.directory)
    for name in [name for name in sys.modules if name.partition(".")[0] == __package__]:
        del sys.modules[name]
    sys.path[:] = [*filter(None, program.environment.get("PYTHONPATH", "").split(os.pathsep)), *path]
    importlib.invalidate_caches()
    sys.orig_argv = program.command
    main = sys.modules["__main__"] = ModuleType("__main__")
    kind, *rest = program.asked
    arguments = [kind, *rest[1:]] if kind in {"-c", "-m"} else program.asked
    become(functools.partial(_call, main, program.asked), arguments, program.environment)


def _call(main: ModuleType, asked: Sequence[str]) -> None:
    """Runs a program in the module `main`, as Python does."""
    kind = asked[0]
    if kind == "-m":
        sys.path.insert(0, os.getcwd())
        runpy._run_module_as_main(asked[1])
        return
    if kind == "-c":
        sys.path.insert(0, "")
        code = compile(asked[1], "<string>", "exec")
        main.__loader__ = BuiltinImporter
    else:
        sys.path.insert(0, os.path.dirname(os.path.realpath(kind)))
        code = compile(Path(kind).read_bytes(), kind, "exec")
        main.__file__, main.__loader__ = os.path.abspath(kind), SourceFileLoader("__main__", kind)
    exec(code, vars(main))


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
