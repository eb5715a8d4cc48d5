// SPDX-License-Identifier: Apache-2.0
// The messages that warplens_last_error() returns.
//
//   last_error() = render(errors, text);
#pragma once

#include <string>

namespace warplens::c {

/// Of the calling thread; empty at first.
std::string& last_error();

} // namespace warplens::c
