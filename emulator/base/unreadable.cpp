// SPDX-License-Identifier: Apache-2.0
#include "emulator/base/unreadable.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace warplens {

std::string why_unreadable(const std::filesystem::path& file) {
  if (file.empty()) return "the name is empty";
  if (access(file.c_str(), R_OK) != 0) return std::strerror(errno);
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) return "a folder, not a file";
  return std::filesystem::is_regular_file(file, error) ? "it cannot be opened" : "not a regular file";
}

} // namespace warplens
