// SPDX-License-Identifier: Apache-2.0
// The functions that only call the driver, of all versions. The others are next to the functions that differ.
#include "runtime/cudart/export.hpp"

#define FORWARD_WITHOUT_CONTEXT(name, driver) EXPORT(name, Forward<driver>::without_context)
#include "runtime/abi/forwarded_functions.def"
