// SPDX-License-Identifier: Apache-2.0
#include "emulator/base/archive.hpp"

#include <gtest/gtest.h>

namespace warplens {
namespace archive_test {

struct Inner {
  std::vector<std::uint32_t> numbers;
  std::string name;
  void fields(Archive& a) { a(numbers, name); }
  friend bool operator==(const Inner&, const Inner&) = default;
};
struct Outer {
  std::map<std::uint64_t, Inner> inner;
  std::optional<Inner> maybe, none;
  double plain = 0;
  void fields(Archive& a) { a(inner, maybe, none, plain); }
  friend bool operator==(const Outer&, const Outer&) = default;
};

Outer example() { return {{{7, {{1, 2, 3}, "seven"}}, {9, {}}}, Inner{{}, "one"}, std::nullopt, 0.5}; }

TEST(Archive, ReadsWhatItHasWritten) {
  Outer value = example();
  Archive out;
  out(value);
  const std::vector<std::byte> bytes = out.take();
  Archive in(bytes);
  Outer copy;
  in(copy);
  EXPECT_TRUE(in.good());
  EXPECT_FALSE(in.more());
  EXPECT_EQ(copy, example());
}

TEST(Archive, NoticesMissingBytes) {
  Outer value = example();
  Archive out;
  out(value);
  const std::vector<std::byte> bytes = out.take();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::span<const std::byte> part(bytes.data(), size);
    Archive in(part);
    Outer copy;
    in(copy);
    EXPECT_FALSE(in.good()) << size;
  }
}

} // namespace archive_test
} // namespace warplens
