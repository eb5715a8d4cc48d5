// SPDX-License-Identifier: Apache-2.0
// Digests of texts: FNV-1a with 128 bits. They tell inputs apart that differ by accident, not by intent.
//
//   Digest d;
//   d.add("vector_add").add("64");     // the parts cannot run into each other: "ab", "c" differs from "a", "bc"
//   d.text()  ->  32 hexadecimal digits
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace warplens::api {

class Digest {
public:
  using Value = unsigned __int128;
  static constexpr std::size_t kDigits = 32;

  Digest& bytes(std::string_view text) {
    constexpr Value kPrime = (Value{1} << 88) + 0x13b;
    for (const char c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * kPrime;
    return *this;
  }
  Digest& add(std::string_view part) { return bytes(fmt::format("{}:", part.size())).bytes(part); }
  [[nodiscard]] Value value() const { return value_; }
  [[nodiscard]] std::string text() const {
    return fmt::format("{:016x}{:016x}", static_cast<std::uint64_t>(value_ >> 64), static_cast<std::uint64_t>(value_));
  }

private:
  Value value_ = (Value{0x6c62'272e'07bb'0142} << 64) + 0x62b8'2175'6295'c58d;
};

} // namespace warplens::api
