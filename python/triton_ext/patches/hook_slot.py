# SPDX-License-Identifier: Apache-2.0
"""The one slot that Triton has for a hook: ``knobs.runtime.add_stages_inspection_hook``.

Triton reads it twice at every launch and at every compilation: to see whether it is empty, and to call what is in it.
Called with arguments, the hook may change the stages of a compilation; without, it returns what enters the keys of the
in-memory and of the disk cache.
"""

from __future__ import annotations

from .table import differs, expected

NAME = "add_stages_inspection_hook"


def replace_by(descriptor: object) -> None:
    """Puts a data descriptor in the place of the slot; what the user has set stays in the instance.

    Raises:
        TritonExtError: Triton is not as expected.
    """
    from triton import knobs

    runtime = expected("hook_slot", knobs, "runtime")
    found = vars(type(runtime)).get(NAME, ...)
    if found is not None:
        what = "nothing" if found is ... else repr(found)
        raise differs("hook_slot", f"the class of triton.knobs.runtime has {what} as {NAME}, expected None")
    setattr(type(runtime), NAME, descriptor)
