# SPDX-License-Identifier: Apache-2.0
"""`FORMS`: all forms of PTX instructions that the tests of inline assembly cover."""

from __future__ import annotations

from support.cpu import ptx_conversion_forms, ptx_float_forms, ptx_integer_forms, ptx_video_forms

FORMS = {**ptx_integer_forms.FORMS, **ptx_float_forms.FORMS, **ptx_conversion_forms.FORMS, **ptx_video_forms.FORMS}
