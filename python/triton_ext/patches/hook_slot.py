# SPDX-License-Identifier: Apache-2.0
"""Replaces Triton's slot for one hook, ``knobs.runtime.add_stages_inspection_hook``.

Triton reads the slot twice in every launch and in every compilation: to see whether it is empty, and to call the hook.
With arguments, the hook may change the stages of a compilation. Without arguments, it returns a text for the key of the
in-memory cache and one for the key of the disk cache.
"""

from __future__ import annotations

from .table import differs, expected

NAME = "add_stages_inspection_hook"


def replace_by(descriptor: object) -> None:
    """Puts the data descriptor `descriptor` in the place of the slot; a hook that is set stays in the instance.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """
    from triton import knobs

    runtime = expected("hook_slot", knobs, "runtime")
    found = vars(type(runtime)).get(NAME, ...)
    if found is not None:
        what = "nothing" if found is ... else repr(found)
        raise differs("hook_slot", f"the class of triton.knobs.runtime has {what} as {NAME}, expected None")
    setattr(type(runtime), NAME, descriptor)
