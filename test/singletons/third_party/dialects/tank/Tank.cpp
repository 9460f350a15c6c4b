// SPDX-License-Identifier: Apache-2.0

#include "Tank.h"

#include "Tank.cpp.inc"
