# SPDX-License-Identifier: Apache-2.0
"""Everything in Triton that this package replaces or wraps, one module for each patch; `table` lists them.

No module here knows of extensions or pipelines: a patch calls functions that it is given. If Triton differs from what a
patch expects, one error names the patch.
"""
