// SPDX-License-Identifier: Apache-2.0
// A trace of several files: any program that reads HDF5 sees one file, and the reader knows whether it has all rows.
#include "analyzers/trace/file.hpp"
#include "tests/tools/folder.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <numeric>

namespace warplens::analyzers::trace {
namespace parts_test {

using testing::Folder;

constexpr std::uint32_t kPiece = kBlockEvents;

std::size_t at(Table table) { return static_cast<std::size_t>(table); }

class Parts : public ::testing::Test {
protected:
  /// Two files with so many pieces of events, and the one that joins them. The numbers of patterns ascend.
  void write(std::uint64_t first, std::uint64_t second, const std::string& other_name = "t.rank1.h5") {
    Joined joined{"this run", {}, {{0, 5}}, {}, {}};
    std::uint16_t next = 0;
    for (const auto& [name, pieces] : {std::pair{std::string("t.rank0.h5"), first}, {other_name, second}}) {
      const std::uint32_t rank = joined.parts.empty() ? 0 : 1;
      auto file = File::create(folder_.path() / name, "a test", PartId{"this run", rank});
      ASSERT_TRUE(file.has_value());
      ASSERT_TRUE((*file)->append(Table::text, std::as_bytes(std::span("texts", 5))).has_value());
      std::vector<std::uint16_t> numbers(pieces * kPiece);
      for (std::uint16_t& number : numbers) number = static_cast<std::uint16_t>(next++ % kBlockPatterns);
      if (pieces > 0) {
        ASSERT_TRUE((*file)->append(Table::pattern, std::as_bytes(std::span(numbers))).has_value());
      }
      expected_.insert(expected_.end(), numbers.begin(), numbers.end());
      FilePart part{name, {}};
      for (std::size_t i = 0; i < kTables; ++i) part.rows[i] = *(*file)->rows(static_cast<Table>(i));
      ASSERT_TRUE((*file)->close().has_value());
      joined.parts.push_back(part);
    }
    ASSERT_TRUE(File::join(path("t.h5"), "a test", joined).has_value());
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  [[nodiscard]] std::string why_not() const {
    const auto file = File::open(path("t.h5"));
    return file ? std::string() : file.error().list().front().message;
  }
  /// The column as HDF5 itself reads it.
  [[nodiscard]] std::vector<std::uint16_t> read_plainly() const {
    const hid_t file = H5Fopen(path("t.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT),
                data = H5Dopen2(file, "pattern", H5P_DEFAULT);
    std::vector<std::uint16_t> numbers(expected_.size());
    EXPECT_GE(H5Dread(data, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()), 0);
    H5Dclose(data);
    H5Fclose(file);
    return numbers;
  }

  Folder folder_;
  std::vector<std::uint16_t> expected_;
};

TEST_F(Parts, AreOneFile) {
  for (const auto& [first, second] : {std::pair{2u, 3u}, {0u, 1u}, {1u, 0u}}) {
    expected_.clear();
    write(first, second);
    const auto file = File::open(path("t.h5"));
    ASSERT_TRUE(file.has_value()) << why_not();
    EXPECT_FALSE((*file)->is_part());
    EXPECT_EQ(*(*file)->rows(Table::pattern), expected_.size());
    const auto read = (*file)->read<std::uint16_t>(Table::pattern, 0, expected_.size());
    ASSERT_TRUE(read.has_value());
    EXPECT_TRUE(*read == expected_) << first << second;
    // Rows of both parts.
    const auto some = (*file)->read<std::uint16_t>(Table::pattern, expected_.size() / 2 - 7, 20);
    EXPECT_TRUE(std::equal(some->begin(), some->end(), expected_.begin() + expected_.size() / 2 - 7));
    EXPECT_EQ(*(*file)->rows(Table::launches), 1u);
    EXPECT_TRUE(read_plainly() == expected_);
    EXPECT_TRUE((*File::open(path("t.rank1.h5")))->is_part());
  }
}

TEST_F(Parts, MayHaveNoEvents) {
  write(0, 0);
  EXPECT_EQ(why_not(), "");
  EXPECT_EQ(*(*File::open(path("t.h5")))->rows(Table::pattern), 0u);
}

TEST_F(Parts, MustAllBeThere) {
  write(2, 1);
  std::filesystem::rename(path("t.rank1.h5"), path("elsewhere"));
  EXPECT_NE(why_not().find("t.rank1.h5"), std::string::npos) << why_not();
  // There is no such pattern: a program that does not look for the file cannot take these rows for events.
  EXPECT_EQ(read_plainly().back(), 0xffff);
  EXPECT_EQ(read_plainly().front(), 0);
}

TEST_F(Parts, AreInTheFolderOfTheTrace) {
  std::filesystem::create_directory(path("other"));
  write(1, 1, "other/t.rank1.h5");
  EXPECT_NE(why_not().find("is damaged"), std::string::npos) << why_not();
}

} // namespace parts_test
} // namespace warplens::analyzers::trace
