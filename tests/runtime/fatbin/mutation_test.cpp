// SPDX-License-Identifier: Apache-2.0
// Damaged files: the result is always a diagnostic or code, and nothing is read past the end (see Fenced).
#include "runtime/fatbin/executable.hpp"
#include "runtime/fatbin/module_image.hpp"
#include "tests/runtime/fatbin/specimens.hpp"

#include <gtest/gtest.h>

#include <random>

namespace warplens::fatbin {
namespace mutation_test {

constexpr int kRounds = 1500;

/// Changes a few bits, bytes or words, and sometimes truncates the file. Half of the changes are in headers.
Bytes damaged(Bytes bytes, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  for (std::size_t n = 1 + below(4); n > 0; --n) {
    const std::size_t at = below(below(2) == 0 ? std::min<std::size_t>(bytes.size(), 144) : bytes.size());
    switch (below(4)) {
    case 0: bytes[at] ^= std::byte(1U << below(8)); break;
    case 1: bytes[at] = std::byte(below(256)); break;
    case 2: bytes[at] = std::byte(below(2) == 0 ? 0 : 255); break;
    default:
      if (at + 8 <= bytes.size()) write(bytes, at, below(3) == 0 ? ~std::uint64_t{0} : std::uint64_t{1} << below(64));
    }
  }
  if (below(4) == 0) bytes.resize(below(bytes.size() + 1));
  return bytes;
}

TEST(Damaged, ContainersAndTheirEntries) {
  std::mt19937 random(1);
  int refused = 0, read = 0;
  for (const char* file : {"targets.fatbin", "lz4.fatbin", "zstd.fatbin", "plain.fatbin", "debug.fatbin"})
    for (int round = 0; round < kRounds; ++round) {
      const Fenced bytes(damaged(specimen(file), random));
      const auto images = read_container(bytes.bytes());
      EXPECT_TRUE(images || images.error().has_errors());
      for (const Image& image : images ? *images : std::vector<Image>{}) ++(contents(image) ? read : refused);
      const LoadedCode code = load_code(bytes.bytes(), {9, 0});
      EXPECT_TRUE(code || code.error().diagnostics.has_errors());
    }
  EXPECT_GT(refused, 1000); // the damage reaches the payloads
  EXPECT_GT(read, 1000);
}

TEST(Damaged, Executables) {
  std::mt19937 random(2);
  int refused = 0, found = 0;
  for (const char* file : {"object.elf", "relocatable_object.elf"})
    for (int round = 0; round < kRounds; ++round) {
      const Fenced bytes(damaged(specimen(file), random));
      const auto containers = containers_in(bytes.bytes());
      refused += containers ? 0 : 1;
      for (const Embedded& embedded : containers ? *containers : std::vector<Embedded>{}) {
        ++found;
        (void)read_container(embedded.container);
      }
    }
  EXPECT_GT(refused, 100);
  EXPECT_GT(found, 100);
}

} // namespace mutation_test
} // namespace warplens::fatbin
