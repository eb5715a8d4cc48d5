// SPDX-License-Identifier: Apache-2.0
// Compressed chunks of a trace: they round-trip, damage is detected, and HDF5's own filters can read them.
#include "analyzers/trace/deflate.hpp"
#include "analyzers/trace/file.hpp"
#include "tests/tools/folder.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <optional>
#include <random>
#include <thread>

namespace warplens::analyzers::trace {
namespace deflate_test {

// From constant bytes (0) to noise (255).
Bytes rows_of(std::size_t size, unsigned noise, std::mt19937_64& random) {
  Bytes rows(size);
  for (std::byte& b : rows) b = static_cast<std::byte>(random() % (noise + 1));
  return rows;
}

std::optional<Bytes> decompressed(std::span<const std::byte> compressed, std::size_t size, std::size_t row_bytes) {
  Bytes rows(size);
  if (!decompress(compressed, row_bytes, rows)) return std::nullopt;
  return rows;
}

TEST(Deflate, WhateverIsCompressedComesBack) {
  std::mt19937_64 random(5);
  for (const std::size_t row_bytes : {1u, 2u, 4u, 16u, 56u})
    for (const std::size_t count : {1u, 2u, 255u, 1024u, 65536u})
      for (const unsigned noise : {0u, 1u, 15u, 255u}) {
        const Bytes rows = rows_of(row_bytes * count, noise, random);
        const Bytes compressed = compress(rows, row_bytes);
        EXPECT_LE(compressed.size(), rows.size() + rows.size() / 1000 + 64);
        EXPECT_EQ(decompressed(compressed, rows.size(), row_bytes), rows)
            << row_bytes << " x " << count << ", " << noise;
        EXPECT_FALSE(decompressed(compressed, rows.size() + row_bytes, row_bytes));
        EXPECT_FALSE(decompressed(compressed, rows.size() - row_bytes, row_bytes));
      }
}

// Each thread has a compressor of its own, in memory that others have used.
TEST(Deflate, WhatMemoryHeldBeforeChangesNothing) {
  std::mt19937_64 random(8);
  Bytes rows;
  while (rows.size() < 131072) rows.insert(rows.end(), 500, static_cast<std::byte>(random()));
  const Bytes expected = compress(rows, 2);
  Bytes found;
  std::thread([&] {
    for (int twice = 0; twice < 2; ++twice) { // the second time from a heap that stays
      std::vector<std::uint16_t> used(1 << 19, 1);
      found.assign(1, static_cast<std::byte>(used[random() % used.size()]));
    }
    found = compress(rows, 2);
  }).join();
  EXPECT_EQ(found.size(), expected.size());
}

TEST(Deflate, DamageIsSeen) {
  std::mt19937_64 random(6);
  const Bytes rows = rows_of(2048, 15, random), compressed = compress(rows, 4);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < compressed.size(); ++i) {
    Bytes damaged = compressed;
    damaged[i] ^= static_cast<std::byte>(1u << random() % 8);
    EXPECT_EQ(decompressed(damaged, rows.size(), 4).value_or(rows), rows) << "byte " << i; // some bits say nothing
    refused += decompressed(damaged, rows.size(), 4) ? 0u : 1u;
    EXPECT_FALSE(decompressed(std::span(compressed).first(i), rows.size(), 4)) << "the first " << i;
  }
  EXPECT_GE(refused + 2, compressed.size());
}

TEST(Deflate, AnotherProgramReadsIt) {
  const testing::Folder folder;
  const std::string path = (folder.path() / "t.h5").string();
  std::mt19937_64 random(7);
  std::vector<std::uint32_t> rows(3 * kBlockEvents);
  for (std::size_t i = 0; i < rows.size(); ++i) // one piece of each kind: alike, regular, noise
    rows[i] = static_cast<std::uint32_t>(i < kBlockEvents ? 7 : i < 2 * kBlockEvents ? 128 * i : random());
  auto file = File::create(path, "test");
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->append(Table::base, std::as_bytes(std::span(rows))));
  ASSERT_TRUE((*file)->close());
  const hid_t there = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), table = H5Dopen2(there, "base", H5P_DEFAULT);
  std::vector<std::uint32_t> read(rows.size());
  EXPECT_GE(H5Dread(table, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data()), 0);
  EXPECT_EQ(read, rows);
  H5Dclose(table);
  H5Fclose(there);
}

} // namespace deflate_test
} // namespace warplens::analyzers::trace
