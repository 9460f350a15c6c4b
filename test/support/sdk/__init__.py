# SPDX-License-Identifier: Apache-2.0
"""A world in which an SDK is downloaded: servers, archives, packages and signatures."""
