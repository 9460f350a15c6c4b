# SPDX-License-Identifier: Apache-2.0
"""Runs lit tests with every ``triton-ext-opt`` under valgrind, or a Python program under it.

    python test/memcheck/memcheck.py passes dialects backends/cpu     # what follows are arguments of lit
    python test/memcheck/memcheck.py test/support/linalg/random_kernels.py --kernels 20 --jobs 1

An error is a read or write of memory that is freed or was never allocated, or a branch on a value that was never
written, in our libraries or in libtriton. Each command line with errors is printed with its first error, and the exit
code is 1. Memory that is still there at the end is not an error.

Valgrind takes 15 s to load libtriton. Hence one server process does that, once, under valgrind; in lit's PATH stand
programs that hand their arguments to it, and it forks for each.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAMS = {"triton-ext-opt": "triton_ext.driver", "triton-linalg-opt": "triton_ext.backends.linalg.opt"}
FAILED = 99  # the exit code of a process in which valgrind has found an error

#: The driver, with a C function that sends its arguments to the server. Python itself does not run under valgrind.
_CLIENT = """#!{python}
import ctypes, json, os, socket, sys
import {module} as program
from triton_ext import driver

def remote(argc, argv, plugins, count, extensions):
    # The second field is what is loaded. It is the file, for valgrind reads the names of functions from it.
    names = [[p.path, p.path, p.argument, p.alias] for p in plugins]
    request = [argv[:argc], names, extensions], os.getcwd(), dict(os.environ)
    with socket.socket(socket.AF_UNIX) as server:
        server.connect({address!r})
        data = json.dumps(request, default=os.fsdecode).encode()
        socket.send_fds(server, [len(data).to_bytes(8, "little")], [0, 1, 2])
        server.sendall(data)
        answer = server.recv(1)
    return answer[0] if answer else 1

driver.opt_library().tritonExtOptMain = remote
program.main()
"""

_LIT = """
from pathlib import Path
from triton_ext.authoring.testing import configure_lit
configure_lit(config, Path({root!r}))
config.test_exec_root = {scratch!r}
config.environment["PATH"] = {scratch!r} + ":" + config.environment["PATH"]
"""


def valgrind(logs: Path) -> list[str]:
    """Returns the command line of valgrind, which writes a file for each process with errors."""
    return ["valgrind", "--quiet", f"--error-exitcode={FAILED}", "--num-callers=20", f"--log-file={logs}/%p.log"]


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--serve"]:
        serve(*map(Path, arguments[1:]))
        return 0
    if not shutil.which("valgrind"):
        sys.exit("error: valgrind is not installed (fix: apt-get install valgrind)")
    with tempfile.TemporaryDirectory(prefix="triton-ext-memcheck-") as name:
        scratch = Path(name)
        (logs := scratch / "logs").mkdir()
        if arguments and arguments[0].endswith(".py"):
            code = subprocess.run([*valgrind(logs), sys.executable, *arguments], check=False).returncode
        else:
            code = run_lit(scratch, logs, arguments)
        return 1 if report(logs) or code else 0


def run_lit(scratch: Path, logs: Path, arguments: list[str]) -> int:
    """Runs lit on `arguments` and returns its exit code."""
    address = scratch / "server"
    for program, module in PROGRAMS.items():
        client = scratch / program
        client.write_text(_CLIENT.format(python=sys.executable, address=str(address), module=module))
        client.chmod(0o755)
    server = subprocess.Popen([*valgrind(logs), sys.executable, __file__, "--serve", str(address), str(logs)])
    try:
        while not address.exists():
            if server.poll() is not None:
                sys.exit(f"error: the server ended with {server.returncode} before it had loaded libtriton")
            time.sleep(0.1)
        code = f"from lit.main import main; main({{'config_map': {configurations(scratch, arguments)!r}}})"
        return subprocess.run([sys.executable, "-c", code, *arguments], cwd=ROOT, check=False).returncode
    finally:
        server.terminate()
        server.wait()


def configurations(scratch: Path, arguments: list[str]) -> dict[str, str]:
    """Writes a configuration that lit uses instead of each ``lit.cfg.py`` beside or above the tests."""
    beside = [Path(argument).resolve() for argument in arguments if Path(argument).exists()]
    directories = dict.fromkeys(directory for path in beside for directory in (path, *path.parents))
    instead = {}
    for number, root in enumerate(d for d in directories if (d / "lit.cfg.py").is_file()):
        file = scratch / f"{number}.cfg.py"
        file.write_text(_LIT.format(root=str(root), scratch=str(scratch)))
        instead[str(root / "lit.cfg.py")] = str(file)
    return instead


def serve(address: Path, logs: Path) -> None:
    """Loads the driver, and runs it in a separate process for each request at `address`."""
    from triton_ext import driver

    library = driver.opt_library()
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the process itself answers the request
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address.with_suffix(".new")))
        listener.listen()
        address.with_suffix(".new").rename(address)
        while True:
            client, _ = listener.accept()
            if os.fork() == 0:
                break
            client.close()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # the driver waits for a child that does its work
    size, streams, *_ = socket.recv_fds(client, 8, 3)
    wanted, request = int.from_bytes(size, "little"), b""
    while len(request) < wanted:
        request += client.recv(wanted - len(request))
    (arguments, names, extensions), directory, environment = json.loads(request)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    rows = (driver._Plugin(*(text and os.fsencode(text) for text in row)) for row in names)
    plugins = (driver._Plugin * len(names))(*rows)
    argv = (ctypes.c_char_p * (len(arguments) + 1))(*map(os.fsencode, arguments))
    size = ctypes.c_size_t(len(plugins))
    code = library.tritonExtOptMain(len(arguments), argv, plugins, size, os.fsencode(extensions))
    if code == FAILED:
        (logs / f"{os.getpid()}.command").write_text(shlex.join([Path(arguments[0]).name, *arguments[1:]]))
    client.sendall(bytes([code]))
    os._exit(0)


def report(logs: Path) -> int:
    """Prints the first error of each process with errors, and returns the number of these processes."""
    failed = 0
    commands = {int(file.stem): file.read_text() for file in logs.glob("*.command")}
    for log in sorted(logs.glob("*.log"), key=lambda file: int(file.stem)):
        errors = re.sub(r"^==\d+== ?", "", log.read_text(), flags=re.MULTILINE).strip().split("\n\n")
        if errors == [""]:
            continue
        failed += 1
        # The driver does its work in a child of the process that notes the command line.
        parent = max((process for process in commands if process < int(log.stem)), default=0)
        print(f"\n{commands.get(parent, 'process ' + log.stem)}: {len(errors)} errors, the first of them:")
        print(errors[0])
    print(f"\nmemcheck: {failed} processes with errors of {len(list(logs.glob('*.log')))}")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
