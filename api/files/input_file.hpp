// SPDX-License-Identifier: Apache-2.0
// Reads a whole file. The name may refer to anything: a folder, an endless device, a pipe without a writer.
//
//   Expected<std::string> text = read_file("k.ptx");     // "cannot read 'k.ptx': a device, not a file"
#pragma once

#include "emulator/base/expected.hpp"
#include "emulator/base/limits.hpp"
#include "emulator/base/unreadable.hpp" // why_unreadable()

#include <filesystem>
#include <string>

namespace warplens::api {

/// Reads a regular file, or a pipe that this process inherited: /dev/stdin, /dev/fd/N. Errors: no such file, another
/// type of file, more bytes than the limit allows.
Expected<std::string> read_file(const std::filesystem::path& file, const Limit& limit = limits::kInputBytes);

} // namespace warplens::api
