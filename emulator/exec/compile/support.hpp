// SPDX-License-Identifier: Apache-2.0
// The functions of the emulator that compiled code calls.
#pragma once

#include <utility>
#include <vector>

namespace warplens::exec {

/// By name, as the bitcode declares them.
std::vector<std::pair<const char*, void*>> support_functions();

} // namespace warplens::exec
