// Reading a file whole. What is named may be anything: a folder, a device without end, a pipe that nobody writes to.
//
//   Expected<std::string> text = read_file("k.ptx");     // "cannot read 'k.ptx': a device, not a file"
#pragma once

#include "emulator/base/expected.hpp"
#include "emulator/base/limits.hpp"

#include <filesystem>
#include <string>

namespace warplens::api {

/// A regular file, or a pipe that this process was given: /dev/stdin, /dev/fd/N. Errors: no such file, something else,
/// more bytes than the limit admits.
Expected<std::string> read_file(const std::filesystem::path& file, const Limit& limit = limits::kInputBytes);

} // namespace warplens::api
