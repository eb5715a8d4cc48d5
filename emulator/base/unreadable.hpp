// SPDX-License-Identifier: Apache-2.0
// Why a file cannot be read, for messages.
//
//   failure(fmt::format("cannot read '{}': {}", path.string(), why_unreadable(path)))   … "No such file or directory"
#pragma once

#include <filesystem>
#include <string>

namespace warplens {

/// The system's reason, or the kind of the file if it is not a regular one.
std::string why_unreadable(const std::filesystem::path& file);

} // namespace warplens
