// SPDX-License-Identifier: Apache-2.0
// What an H100 reads from device memory for a load of a part of it: tests/data/hardware/fetches_h100.csv, from
// ask/fetches.cu. docs/critical-path.md has the table.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace warplens::tests {
namespace fetches_test {

struct Fetch {
  int granularity = 0;
  std::string accesses, order;
  int bytes_apart = 0;
  double requested = 0, read = 0;
};

std::vector<Fetch> fetches() {
  std::ifstream in(WARPLENS_SOURCE_DIR "/tests/data/hardware/fetches_h100.csv");
  std::string line;
  std::getline(in, line);
  std::vector<Fetch> list;
  while (std::getline(in, line)) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    list.push_back({std::stoi(cells.at(0)), cells[1], cells.at(2), std::stoi(cells.at(3)), std::stod(cells.at(4)),
                    std::stod(cells.at(5))});
  }
  return list;
}

/// "16 777 216"
std::string in_groups(double number) {
  std::string digits = fmt::format("{:.0f}", number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, " ");
  return digits;
}

TEST(Fetches, ThePageHasWhatAGpuRead) {
  std::ifstream in(WARPLENS_SOURCE_DIR "/docs/critical-path.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  int rows = 0;
  for (const Fetch& f : fetches()) {
    if (f.granularity != 64 || f.bytes_apart == 256 || (f.order == "permuted" && f.bytes_apart != 128)) continue;
    const std::string what = f.bytes_apart == 12 ? "all words of structures of 12 bytes"
                                                 : fmt::format("one word of every {} bytes{}", f.bytes_apart,
                                                               f.order == "permuted" ? ", in another order" : "");
    const std::string row =
        fmt::format("| {} | {} | {} | {:.2f} |", what, in_groups(f.requested), in_groups(f.read), f.read / f.requested);
    EXPECT_NE(page.find(row), std::string::npos) << "docs/critical-path.md lacks\n" << row;
    ++rows;
  }
  EXPECT_EQ(rows, 5);
}

/// The sentences below the table.
TEST(Fetches, TheGranularityDecides) {
  for (const Fetch& f : fetches()) {
    const bool whole = f.bytes_apart == 12; // nothing is read in vain
    const double least = whole || f.bytes_apart < f.granularity ? 1 : f.granularity / 32;
    EXPECT_GE(f.read, (1 - 1e-3) * least * f.requested);
    // Words closer than that share what is read.
    const bool exact = whole || f.granularity == 32 || f.bytes_apart >= f.granularity;
    if (exact) {
      EXPECT_LE(f.read, (1 + 1e-3) * least * f.requested) << f.granularity << ", " << f.bytes_apart;
    }
  }
}

} // namespace fetches_test
} // namespace warplens::tests
