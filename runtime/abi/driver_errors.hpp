// SPDX-License-Identifier: Apache-2.0
// CUresult, from the table in driver_errors.def.
#pragma once

enum CUresult : int {
#define X(name, value, text) name = (value),
#include "runtime/abi/driver_errors.def"
#undef X
};
