// SPDX-License-Identifier: Apache-2.0
// The files of tests/data/fatbin, and ways to modify them.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace warplens::fatbin {

using Bytes = std::vector<std::byte>;

Bytes specimen(std::string_view name);

/// Overwrites a field of a file.
template <class T> void write(Bytes& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// A copy that ends at a page boundary; the next page is inaccessible, so that reading past the end crashes.
class Fenced {
public:
  explicit Fenced(std::span<const std::byte> bytes);
  ~Fenced();
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

private:
  void* pages_ = nullptr;
  std::size_t mapped_ = 0;
  std::span<const std::byte> bytes_;
};

} // namespace warplens::fatbin
