// SPDX-License-Identifier: Apache-2.0
#include "analyzers/sparse_rows.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace warplens::analyzers {
namespace sparse_rows_test {

struct Row {
  std::uint64_t count = 0;
  void fields(Archive& a) { a(count); }
};
using Seen = std::vector<std::pair<std::size_t, std::uint64_t>>;

Seen seen(const SparseRows<Row>& rows) {
  Seen all;
  rows.each([&](std::size_t i, const Row& row) { all.emplace_back(i, row.count); });
  return all;
}

TEST(SparseRows, HasOnlyRowsThatWereUsed) {
  SparseRows<Row> rows(10);
  EXPECT_TRUE(seen(rows).empty());
  rows[7].count = 3;
  rows[2].count = 5;
  rows[7].count += 1;
  EXPECT_EQ(seen(rows), (Seen{{2, 5}, {7, 4}}));
}

TEST(SparseRows, GoThroughAnArchive) {
  SparseRows<Row> rows(10);
  rows[9].count = 1;
  rows[0].count = 2;
  Archive out;
  out(rows);
  const std::vector<std::byte> bytes = out.take();

  SparseRows<Row> copy(10);
  Archive in(bytes);
  in(copy);
  EXPECT_TRUE(in.good());
  EXPECT_EQ(seen(copy), seen(rows));

  SparseRows<Row> smaller(9); // has no row 9
  Archive again(bytes);
  again(smaller);
  EXPECT_FALSE(again.good());
}

} // namespace sparse_rows_test
} // namespace warplens::analyzers
