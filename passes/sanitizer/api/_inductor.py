# SPDX-License-Identifier: Apache-2.0
"""Has Inductor compile the kernels of ``torch.compile`` in this process, where the checks of a block apply.

By default its worker processes compile them without checks, as soon as they have started, and a launcher of torch's own
runs them, which nobody else sees.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

#: For each setting of ``torch._inductor.config``: its value while a block is active, the environment variable that it
#: has when torch is imported, and the function there that gives its value otherwise.
_SETTINGS = {
    "compile_threads": (1, "TORCHINDUCTOR_COMPILE_THREADS", "decide_compile_threads"),
    "use_static_cuda_launcher": (False, "TORCHINDUCTOR_USE_STATIC_CUDA_LAUNCHER", "static_cuda_launcher_default"),
}
_lock = threading.Lock()
_blocks = 0
_before: dict[str, Any] = {}  # values of settings and, by the names of variables, of the environment


def begin() -> None:
    """Sets Inductor up, until as many calls of `end` have followed. Imports nothing of torch."""
    global _blocks  # noqa: PLW0603 - of the process
    with _lock:
        _blocks += 1
        if _blocks > 1:
            return
        config: Any = sys.modules.get("torch._inductor.config")
        for setting, (value, variable, _) in _SETTINGS.items():
            _before[variable] = os.environ.get(variable)
            os.environ[variable] = str(int(value))
            if hasattr(config, setting):
                _before[setting] = getattr(config, setting)
                setattr(config, setting, value)


def end() -> None:
    """Takes back one `begin`; the last one restores the settings."""
    global _blocks  # noqa: PLW0603 - of the process
    with _lock:
        _blocks -= 1
        if _blocks:
            return
        config: Any = sys.modules.get("torch._inductor.config")
        for setting, (_, variable, default) in _SETTINGS.items():
            if (value := _before[variable]) is None:
                os.environ.pop(variable, None)
            else:
                os.environ[variable] = value
            if setting in _before:
                setattr(config, setting, _before[setting])
            elif hasattr(config, default):  # it was imported in a block
                setattr(config, setting, getattr(config, default)())
        _before.clear()
