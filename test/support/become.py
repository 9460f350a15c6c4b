# SPDX-License-Identifier: Apache-2.0
"""How a process that has just been forked becomes a program."""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence

_libc = ctypes.CDLL(None)
_IONBF = 2  # of stdio.h: no buffer


def become(main: Callable[[], object], arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Calls `main` and ends this process, as Python ends a program.

    The files 0, 1 and 2 are the program's input, output and errors.

    Args:
        main: the program.
        arguments: ``sys.argv``.
        environment: all variables.
    """
    status = 1
    try:
        atexit._clear()
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # as Python does at its start
        unbuffered = bool(environment.get("PYTHONUNBUFFERED"))
        if unbuffered:  # as Python does: what C has written is there if the program aborts
            _libc.setvbuf(ctypes.c_void_p.in_dll(_libc, "stdout"), None, _IONBF, ctypes.c_size_t(0))
        sys.stdin = sys.__stdin__ = os.fdopen(0, closefd=False)
        sys.stdout = sys.__stdout__ = os.fdopen(1, "w", closefd=False)
        sys.stdout.reconfigure(write_through=unbuffered)
        sys.stderr = sys.__stderr__ = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)
        sys.argv = [*arguments]
        os.environ.clear()
        os.environ.update(environment)
        status = _status(main)
        threading._shutdown()  # waits for threads
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        _libc.fflush(None)  # of what C has written
    finally:
        os._exit(status & 255)


def _status(main: Callable[[], object]) -> int:
    """Calls `main` and returns the status with which Python ends then; prints the exception if there is one."""
    try:
        main()
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or 0
        print(ended.code, file=sys.stderr)
    except BaseException as error:
        trace = error.__traceback__
        while trace and trace.tb_next and trace.tb_frame.f_globals.get("__package__") == __package__:
            trace = trace.tb_next  # the program's part
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        if isinstance(error, KeyboardInterrupt):
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            sys.stdout.flush()
            os.kill(os.getpid(), signal.SIGINT)
    else:
        return 0
    return 1
