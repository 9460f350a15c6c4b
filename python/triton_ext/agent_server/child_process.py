# SPDX-License-Identifier: Apache-2.0
"""The process of one action: sets limits, runs the action, and sends its answer.

The answer is one line of JSON. The server takes no pickled objects from this process, because it runs the user's code.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import sys
import tempfile
from multiprocessing.connection import Connection
from typing import Any

from ..errors import TritonExtError
from ..support.process_tree import end_with_parent
from .limits import Limits


def run(
    answer: Connection[Any, Any],
    printed: Connection[Any, Any],
    call: tuple[str, dict[str, Any]],
    limits: Limits,
    directory: str,
) -> None:
    """Runs an action in this process, which was forked for it.

    Args:
        answer: where the answer goes.
        printed: where everything goes that this process prints.
        call: the name of an action, and its arguments.
        limits: what it may use; the server itself limits the time.
        directory: an empty directory for temporary files, which the server removes.
    """
    os.setsid()
    end_with_parent()
    if _is_closed(answer.fileno()):
        return
    nowhere = os.open(os.devnull, os.O_RDONLY)
    for source, number in ((nowhere, 0), (printed.fileno(), 1), (printed.fileno(), 2)):
        os.dup2(source, number)
    sys.stdin = os.fdopen(0, closefd=False)
    _close_all_but(answer.fileno())
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for kind, most in ((resource.RLIMIT_DATA, limits.memory), (resource.RLIMIT_FSIZE, limits.file)):
        _, hard = resource.getrlimit(kind)
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (value, value))
    # What LLVM writes without a directory, as its pass dot-cfg does, does not land among the user's files.
    os.chdir(directory)
    os.environ["TMPDIR"] = tempfile.tempdir = directory
    text = json.dumps(_answer_of(*call, limits)).encode() + b"\n"
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    while text:
        text = text[os.write(answer.fileno(), text) :]


def _is_closed(pipe: int) -> bool:
    """Whether nobody reads `pipe` any more, because the server has given the action up before this process began."""
    poll = select.poll()
    poll.register(pipe, 0)
    return bool(poll.poll(0))


def _close_all_but(answer: int) -> None:
    """Closes the descriptors by which this process could disturb the fork server and what tracks its resources."""
    os.closerange(3, answer)
    os.closerange(answer + 1, 1 << 16)


def _answer_of(action: str, arguments: dict[str, Any], limits: Limits) -> dict[str, Any]:
    from .answers import Answer, FailedError, cut

    try:
        from .actions import action as find

        found = find(action)(**arguments)
    except FailedError as error:
        found = Answer(str(error), error.status)
    except TritonExtError as error:
        found = Answer(str(error), "error")
    except MemoryError:
        found = Answer(f"the action needs more than {limits.memory >> 20:,} MiB of memory", "memory limit")
    except (Exception, SystemExit) as error:  # the user's code may raise anything
        found = Answer(f"{type(error).__name__}: {error}", "error")
    return {"status": found.status, "text": cut(found.text, limits.output, found.rest), "figures": found.figures}
