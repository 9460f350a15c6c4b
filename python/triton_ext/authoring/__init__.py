# SPDX-License-Identifier: Apache-2.0
"""For authors of extensions: templates, builds, tests, reference pages, and checks of the installation."""
