// SPDX-License-Identifier: Apache-2.0
// Large rows of counts for the few instructions that have any: most instructions of a kernel do not access memory.
//
//   SparseRows<Row> rows(instructions + 1);
//   rows[7].requests += 1;                                         // makes the row at its first use
//   rows.each([&](std::size_t i, const Row& row) { total.add(row); });   // those that were made, ascending
#pragma once

#include "emulator/base/archive.hpp"

#include <memory>
#include <vector>

namespace warplens::analyzers {

template <class Row> class SparseRows {
public:
  explicit SparseRows(std::size_t size) : rows_(size) {}
  /// The number of rows that there can be.
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  Row& operator[](std::size_t i) {
    if (Row* const row = rows_[i].get()) [[likely]]
      return *row;
    return make(i);
  }
  template <class See> void each(See&& see) {
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i]) see(i, *rows_[i]);
  }
  template <class See> void each(See&& see) const {
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i]) see(i, std::as_const(*rows_[i]));
  }
  void fields(Archive& a) {
    std::size_t made = 0;
    each([&](std::size_t, Row&) { ++made; });
    made = a.size(made);
    if (!a.reads()) return each([&](std::size_t i, Row& row) { a(i, row); });
    for (std::size_t n = 0, i = 0; n < made && a.good(); ++n) {
      a(i);
      i < size() ? a((*this)[i]) : a.fail();
    }
  }

private:
  [[gnu::noinline]] Row& make(std::size_t i) { return *(rows_[i] = std::make_unique<Row>()); }
  std::vector<std::unique_ptr<Row>> rows_;
};

} // namespace warplens::analyzers
