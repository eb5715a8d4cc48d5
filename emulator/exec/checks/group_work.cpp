// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/group_work.hpp"

#include "emulator/exec/matrix/group_tiles.hpp"

namespace warplens::exec {

using scalar::kUnit;
using scalar::SharedFactor;

namespace {

// The bytes of these rows of `k` elements; what is beyond the shared memory of the block is left to the product itself.
void add_extents(const SharedFactor& factor, MatrixElement element, RowsOfA rows, int k, const Cta& cta,
                 std::vector<Extent>& extents) {
  const int along = factor.transposed() ? k : k * bits(element) / 128, step = factor.transposed() ? 8 : 1;
  for (int row = rows.first; row < rows.end; row += step)
    for (int u = 0; u < along; ++u)
      if (const std::byte* const unit = factor.unit(static_cast<unsigned>(row), static_cast<unsigned>(u))) {
        const auto at = static_cast<std::uint64_t>(unit - cta.shared);
        extents.push_back({at, at + kUnit});
      }
}

} // namespace

std::vector<Extent> matrices_of(const GroupSite& s, Warp* warp, RowsOfA rows) {
  const Cta& cta = *warp->cta;
  const int lane = __builtin_ctz(warp->live);
  std::vector<Extent> extents;
  const SharedFactor b(row<std::uint64_t>(warp, s.b_descriptor)[lane], s.b_transposed, cta);
  add_extents(b, s.b, {0, s.n}, s.k, cta, extents);
  if (!s.a_in_registers) {
    const SharedFactor a(row<std::uint64_t>(warp, s.a_descriptor)[lane], s.a_transposed, cta);
    add_extents(a, s.a, rows, s.sparse ? s.k / 2 : s.k, cta, extents);
  }
  join_neighbours(extents);
  return extents;
}

} // namespace warplens::exec
