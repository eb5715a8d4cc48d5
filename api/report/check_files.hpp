// SPDX-License-Identifier: Apache-2.0
// The messages of the tools as files.
//
//   write_check_files(tools.options(), messages, "");    // --save, --sarif, --junit
#pragma once

#include "api/check/sanitizer.hpp"

#include <span>
#include <string>

namespace warplens::api {

/// SARIF 2.1.0: a rule for each kind, a result for each message.
std::string sarif_of_messages(std::span<const CheckMessage> messages);
/// JUnit XML: a test suite for each tool, and in it a test case for each kind, which fails if there are messages.
std::string junit_of_messages(exec::Tools tools, std::span<const CheckMessage> messages);

/// Writes the files that the options name; `suffix` follows their names. Error: of the first that cannot be written.
Expected<void> write_check_files(const CheckOptions& options, std::span<const CheckMessage> messages,
                                 const std::string& suffix);

} // namespace warplens::api
