# SPDX-License-Identifier: Apache-2.0
"""The records of a session as a structured array."""

from __future__ import annotations

from typing import Any

import numpy as np

from triton_ext.errors import TritonExtError

from ._decode import Seen, dtype_of


def array_of(seen: Seen, name: str | None, *, coordinates: bool = False) -> Any:
    """Returns the records of the probes called `name`, or all; `Session.records` describes the fields.

    Raises:
        TritonExtError: no probe of this name has run.
    """
    sites = {site: i for i, site in enumerate(seen.sites())}
    written = seen.part(by_rule=False)
    chosen = [one for one in written.records if name is None or one.site.name == name]
    named = [site for site in written.sites() if site.has_records and (name is None or site.name == name)]
    if name is not None and not named and sites:
        raise TritonExtError(f"no probe '{name}' has run, there are: {', '.join(s.name for s in sites)}")
    width = max((len(site.types) for site in named), default=0)
    types = [np.result_type(*(dtype_of(site.types[i]) for site in named if len(site.types) > i)) for i in range(width)]
    head = [("site", np.int32), ("x", np.uint32), ("y", np.uint32), ("z", np.uint32), ("lane", np.int32)]
    axes = max((len(site.shape) for site in named), default=0) if coordinates else 0
    places = [(f"i{axis}", np.int32) for axis in range(axes)]
    dtype = np.dtype([*head, *places, *((f"v{i}", one) for i, one in enumerate(types))])
    out = np.zeros(sum(len(one.lanes) for one in chosen), dtype)
    start = 0
    for one in chosen:
        part = out[start : start + len(one.lanes)]
        start += len(one.lanes)
        part["site"] = sites[one.site]
        part["x"], part["y"], part["z"] = one.programs
        part["lane"] = one.lanes
        own = np.unravel_index(one.lanes, one.site.shape) if one.site.shape else ()
        for axis in range(axes):
            part[f"i{axis}"] = own[axis] if axis < len(own) else -1
        for i, value in enumerate(one.values):
            part[f"v{i}"] = value
    return out
