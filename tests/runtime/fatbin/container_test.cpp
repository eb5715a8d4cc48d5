// SPDX-License-Identifier: Apache-2.0
// Entries of containers that nvcc 13 wrote (tests/data/fatbin/make.sh), as cuobjdump lists them.
#include "runtime/fatbin/container.hpp"
#include "tests/runtime/fatbin/specimens.hpp"

#include <gtest/gtest.h>

namespace warplens::fatbin {
namespace container_test {

std::string first_error(const Diagnostics& errors) { return errors.list().at(0).message; }

TEST(Container, ListsEveryEntry) {
  const Bytes bytes = specimen("targets.fatbin");
  const auto images = read_container(bytes);
  ASSERT_TRUE(images);
  std::string list;
  for (const Image& image : *images) list += name(image.target, image.kind == Kind::ptx ? "compute" : "sm") + " ";
  EXPECT_EQ(list, "compute_75 sm_90 compute_90 compute_90a compute_100f compute_100a sm_120 ");
}

TEST(Container, PtxIsTheSameHoweverItIsCompressed) {
  const std::pair<const char*, Compression> files[] = {
      {"plain.fatbin", Compression::none}, {"lz4.fatbin", Compression::lz4}, {"zstd.fatbin", Compression::zstd}};
  std::vector<std::string> texts;
  for (const auto& [file, compression] : files) {
    const Bytes bytes = specimen(file);
    const auto images = read_container(bytes);
    ASSERT_TRUE(images) << file;
    ASSERT_EQ(images->size(), 1U);
    EXPECT_EQ(images->front().compression, compression) << file;
    texts.push_back(contents(images->front()).value());
  }
  EXPECT_NE(texts[0].find(".visible .entry scale("), std::string::npos);
  EXPECT_EQ(texts[0].back(), '\n'); // the padding is gone
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(texts[0], texts[2]);
}

TEST(Container, MachineCodeIsDecompressedToo) {
  const Bytes bytes = specimen("machine_code.fatbin");
  const auto images = read_container(bytes);
  ASSERT_TRUE(images);
  EXPECT_EQ(images->at(1).kind, Kind::elf);
  EXPECT_EQ(contents(images->at(1)).value().substr(1, 3), "ELF");
}

TEST(Container, DebugEntriesHaveANameAndOptions) {
  const Bytes bytes = specimen("debug.fatbin");
  const Image image = read_container(bytes).value().at(0);
  EXPECT_EQ(image.identifier, "scale.cu");
  EXPECT_TRUE(image.options.starts_with("-g --dont-merge-basicblocks")) << image.options;
}

TEST(Container, WhatFollowsIsLeftAlone) {
  Bytes bytes = specimen("zstd.fatbin");
  bytes.resize(bytes.size() + 100, std::byte{0x50});
  EXPECT_EQ(read_container(bytes).value().size(), 1U);
}

TEST(Container, RefusesWhatIsNone) {
  Bytes bytes = specimen("plain.fatbin");
  write(bytes, 0, std::uint32_t{0x464C457F});
  EXPECT_EQ(first_error(read_container(bytes).error()), "not a fat binary: it begins with 0x464c457f, not 0xba55ed50");
  bytes = specimen("plain.fatbin");
  write(bytes, 4, std::uint16_t{2});
  EXPECT_EQ(first_error(read_container(bytes).error()),
            "unsupported fat binary version 2: only version 1 is supported");
  write(bytes, 4, std::uint16_t{1});
  write(bytes, 8, ~std::uint64_t{0});
  EXPECT_EQ(first_error(read_container(bytes).error()),
            "corrupt fat binary: a header of 16 bytes before 18446744073709551615 bytes of entries");
}

TEST(Container, SaysWhereItIsCut) {
  Bytes bytes = specimen("plain.fatbin");
  const std::size_t size = bytes.size();
  bytes.resize(size - 1);
  EXPECT_EQ(first_error(read_container(bytes).error()), "corrupt fat binary: 767 bytes, but 768 are expected");
  write(bytes, 8, std::uint64_t{size - 1 - 16});
  EXPECT_EQ(first_error(read_container(bytes).error()),
            "corrupt fat binary: the entry at byte 16 extends past the end");
  bytes.resize(7);
  EXPECT_EQ(first_error(read_container(bytes).error()), "corrupt fat binary: 7 bytes, fewer than its header");
}

TEST(Container, AnEntryOfNoSizeIsNoEndlessLoop) {
  Bytes bytes = specimen("plain.fatbin");
  write(bytes, 16 + 4, std::uint32_t{0});
  write(bytes, 16 + 8, std::uint64_t{0});
  EXPECT_EQ(first_error(read_container(bytes).error()),
            "corrupt fat binary: the entry at byte 16 has a header of 0 bytes");
}

TEST(Container, RefusesDataThatDoNotDecompress) {
  for (const char* file : {"lz4.fatbin", "zstd.fatbin"}) {
    for (const std::uint64_t size : {std::uint64_t{5}, std::uint64_t{669}, std::uint64_t{1} << 30, ~std::uint64_t{0}}) {
      Bytes bytes = specimen(file);
      write(bytes, 16 + 56, size); // what it is said to become: 668 bytes would be right
      EXPECT_FALSE(contents(read_container(bytes).value().at(0))) << file << " " << size;
    }
    Bytes bytes = specimen(file);
    write(bytes, 16 + 16, std::uint32_t{1000}); // more than there is
    EXPECT_EQ(first_error(read_container(bytes).error()).find("corrupt fat binary: an entry of "), 0U);
  }
}

} // namespace container_test
} // namespace warplens::fatbin
