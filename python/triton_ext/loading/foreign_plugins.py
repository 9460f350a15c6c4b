# SPDX-License-Identifier: Apache-2.0
"""Finds out what plugins that are not built with triton-ext offer, each in a separate process, because it may crash."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import TritonExtError
from ..support import resources, scratch, storage
from ..support.json_shape import parsed
from .host import find_triton
from .library_bytes import LibraryBytes, descriptor_of, in_memory, in_words

#: Seconds that a foreign plugin may take to load and to describe itself.
_PROBE_SECONDS = 5
#: Seconds of these until a message says what is waited for.
_SILENT_SECONDS = 1
#: Seconds that Python and libtriton may take to load before that.
_LOADING_SECONDS = 60
_LATE = f"it did not load and describe itself within {_PROBE_SECONDS} s, and is not asked again until its bytes change"
_TOO_SLOW = ".late"
#: The shape of what a plugin offers, by kind.
OFFERS = {"passes": [str], "dialects": [str], "ops": [str]}
#: The shape of a plugin's description.
DESCRIPTION = {"name": str, "version": str, **OFFERS}


def description_of(library: LibraryBytes, needed: Iterable[str]) -> dict[str, Any]:
    """Returns the description of a foreign plugin, in the shape of `DESCRIPTION`.

    The answer is kept in the cache under the hash of the plugin's bytes. A plugin that did not answer in time is noted
    there, too, because every process would have to wait for it again.

    Args:
        library: the plugin.
        needed: file names of the libraries that it is linked to.

    Raises:
        TritonExtError: the plugin crashes, does not answer in time, or its description is not usable.
    """
    path, answers = library.path, _answers()
    answer = answers / f"{find_triton().version}-{library.digest}.json" if answers else None
    too_slow = answer.with_suffix(_TOO_SLOW) if answer else None
    found = parsed(storage.read_private(answer), DESCRIPTION) if answer else None
    if found is None:
        if too_slow and storage.read_private(too_slow) is not None:
            found = {"problem": _LATE, "late": True}
        else:
            found = _asked.get(library.digest) or _asked.setdefault(library.digest, _run_probe(library, needed))
        late = found.get("late", False)
        if late and too_slow:
            storage.write_cache_file(too_slow, os.fsencode(path))
        if "problem" in found:
            raise TritonExtError(
                f"{path} is not a usable plugin: {found['problem']}", fix="triton-ext list --retry" if late else None
            ) from None
        if answer:
            storage.write_cache_file(answer, json.dumps(found).encode())
    return found


def forget_slow_plugins() -> None:
    """Forgets which plugins did not answer in time, so that they are asked again."""
    _asked.clear()
    if answers := _answers():
        for file in answers.glob(f"*{_TOO_SLOW}"):
            file.unlink(missing_ok=True)


def _answers() -> Path | None:
    cache = storage.cache_dir()
    return cache / "probe" if cache else None


#: The answers in this process, bad ones included, by the hash of the plugin's bytes.
_asked: dict[str, dict[str, Any]] = {}


def _run_probe(library: LibraryBytes, needed: Iterable[str]) -> dict[str, Any]:
    """Returns the plugin's description, or a ``problem``, with ``late`` if it did not answer in time."""
    path = library.path
    beside = [str(place) for place in map(path.resolve().with_name, needed) if place.is_file()]
    ready, is_ready = os.pipe()
    with scratch.scratch_file() as answer, open(ready, "rb") as started:
        content = descriptor_of(in_memory(library))
        command = [sys.executable, "-P", "-m", "triton_ext.loading.describe_plugin", f"/proc/self/fd/{content}"]
        try:
            process = subprocess.Popen(
                [*command, str(answer.fileno()), str(is_ready), *beside],
                env=resources.child_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[answer.fileno(), is_ready, content],
                start_new_session=True,
            )
        finally:
            os.close(is_ready)
        try:
            # The plugin's time begins when Python and libtriton are loaded, which takes long on a busy machine.
            if not select.select([started], [], [], _LOADING_SECONDS)[0]:
                return {"problem": f"asking it took too long: libtriton did not load within {_LOADING_SECONDS} s"}
            status = _wait(process, path)
        except subprocess.TimeoutExpired:
            return {"problem": _LATE, "late": True}
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)  # and all processes that it has started
                process.wait()
        if status < 0:
            return {"problem": f"its entry point crashed ({signal.Signals(-status).name})"}
        answer.seek(0)
        said = answer.read()
        if problem := parsed(said, {"problem": str}):
            return {"problem": in_words(problem["problem"])}
        found: dict[str, Any] | None = parsed(said, DESCRIPTION)
        return found or {"problem": f"its entry point ended the process (exit code {status})"}


def _wait(process: subprocess.Popen[bytes], path: Path) -> int:
    """Waits for a probe to end and returns its exit status; prints what it waits for if that takes long.

    Raises:
        TimeoutExpired: it did not end in time.
    """
    try:
        return process.wait(_SILENT_SECONDS)
    except subprocess.TimeoutExpired:
        # The user may not have asked for this library, and wonders why the program does not go on.
        print(f"triton-ext: waiting up to {_PROBE_SECONDS} s for {path} to load", file=sys.stderr, flush=True)
        return process.wait(_PROBE_SECONDS - _SILENT_SECONDS)
