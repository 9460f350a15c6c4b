# SPDX-License-Identifier: Apache-2.0
"""Everything in Triton that this package replaces or wraps, one module for each patch; `table` lists them.

Nothing here knows of extensions or pipelines: a patch is given the functions that it calls. A Triton that is not as a
patch expects is refused with one error that names the patch.
"""
