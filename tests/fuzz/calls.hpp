// SPDX-License-Identifier: Apache-2.0
// Reads an input as a sequence of calls: bytes select the calls and their arguments. After the end, all bytes are 0.
//
//   Calls calls(input);
//   while (calls.more()) functions[calls.below(n)](…calls.of(streams)…);
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace warplens::fuzz {

class Calls {
public:
  explicit Calls(std::string_view input) : rest_(input) {}

  [[nodiscard]] bool more() const { return !rest_.empty(); }
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  std::size_t below(std::size_t n) { return byte() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  std::uint64_t word() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return value;
  }
  /// Mostly small, now and then enormous.
  std::uint64_t size() {
    const std::size_t kind = below(16);
    if (kind == 0) return word();
    if (kind == 1) return std::uint64_t{1} << below(64);
    if (kind == 2) return 0;
    return kind < 8 ? byte() : std::uint64_t{byte()} * 64;
  }
  /// One of the list, also what has been destroyed; now and then a null.
  template <class Handle> Handle of(const std::vector<Handle>& list) {
    const std::size_t at = byte();
    return list.empty() || at > 250 ? Handle{} : list[at % list.size()];
  }

private:
  std::string_view rest_;
};

} // namespace warplens::fuzz
