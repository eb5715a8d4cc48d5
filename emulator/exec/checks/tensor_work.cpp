// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/tensor_work.hpp"

#include "emulator/exec/block/cta.hpp"
#include "emulator/exec/block/tensor_faults.hpp"
#include "emulator/exec/matrix/tensor_handlers.hpp"
#include "emulator/exec/matrix/tensor_issue.hpp"

#include <algorithm>

namespace warplens::exec {

namespace {

constexpr std::uint64_t kUnitBytes = 16;
constexpr int kBitsOfUnit = 128, kBitsOfWord = 32;

std::uint32_t address_of(const WarpStep& step, int lane) {
  auto* const warp = const_cast<Warp*>(step.warp); // its rows are read only
  return row<std::uint32_t>(warp, step.op->src[0])[lane] + static_cast<std::uint32_t>(step.op->imm);
}

void set_lanes(TensorRectangle& r, std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t i = first; i < std::min(first + count, TensorMemory::kLanes); ++i) r.lanes.set(i);
}

// ---- products

/// `rows` rows from `first` on, of k elements each.
struct Factor {
  const TensorDescriptor& descriptor;
  bool transposed;
  MatrixElement element;
  int first, rows, k;
};

void add_extents(const Factor& f, std::vector<Extent>& extents) {
  const int in_unit = kBitsOfUnit / bits(f.element);
  const auto add = [&](std::uint64_t at) { extents.push_back({at, at + kUnitBytes}); };
  if (!f.transposed) {
    for (int r = f.first; r < f.first + f.rows; ++r)
      for (int u = 0; u < f.k / in_unit; ++u)
        add(f.descriptor.unit(static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(u)));
    return;
  }
  for (int r = f.first; r < f.first + f.rows; r += in_unit)
    for (int j = 0; j < f.k; ++j) {
      const auto byte = static_cast<std::uint32_t>(r * bits(f.element) / 8);
      add(f.descriptor.unit_of_transposed(byte, static_cast<std::uint32_t>(j)));
    }
}

std::vector<Extent> matrices_of(const TensorProductSite& site, const TensorIssue& t) {
  const TensorProduct& p = t.product;
  std::vector<Extent> extents;
  if (!site.a_in_tensor_memory)
    add_extents({t.a_shared, p.a_transposed, p.a, 0, t.layout.rows, p.sparse ? p.k / 2 : p.k}, extents);
  // Columns of B that are shifted out are read all the same where units have several.
  const int shift = t.columns.shift(), first = p.b_transposed ? shift / 16 * 16 : shift;
  add_extents({t.b_shared, p.b_transposed, p.b, first, p.n / t.count, p.k}, extents);
  join_neighbours(extents);
  return extents;
}

std::vector<TensorRectangle> rectangles_of(const TensorProductSite& site, const TensorIssue& t, int block) {
  const TensorProduct& p = t.product;
  const TensorLayout& layout = t.layout;
  const auto columns = static_cast<std::uint32_t>(p.n / layout.parts);
  TensorRectangle d{{}, t.d.column, t.d.column + columns, true}, rows = d;
  for (int part = 0; part < layout.parts; ++part)
    for (int r = 0; r < layout.rows; ++r) {
      const std::uint32_t lane = t.d.lane + layout.lane(part, r);
      rows.lanes.set(lane);
      if (t.writes(block, lane)) d.lanes.set(lane);
    }
  std::vector<TensorRectangle> list{d};
  const auto read = [&](std::uint32_t column, std::uint32_t count, bool all) {
    TensorRectangle r{rows.lanes, column, column + count, false};
    if (all) r.lanes.set();
    list.push_back(r);
  };
  const int k = p.sparse ? p.k / 2 : p.k;
  if (site.a_in_tensor_memory)
    read(t.a.column, static_cast<std::uint32_t>((k * bits(p.a) + kBitsOfWord - 1) / kBitsOfWord), false);
  if (site.sparse) read(t.metadata.column, bits(p.a) <= 8 ? 2 : 1, false);
  if (site.scales != 0) {
    const auto columns_of = [](ScaleColumns of) { return static_cast<std::uint32_t>(of.columns); };
    read(t.a_scales.column, columns_of(ScaleColumns::of_a(p, layout)), true);
    read(t.b_scales.column, columns_of(ScaleColumns::of_b(p, layout)), true);
  }
  return list;
}

// It has passed its checks: reading it again does not stop the kernel.
std::vector<TensorWork> work_of_product(const WarpStep& step, int lane) {
  TensorIssue t;
  if (!read_issue(step.op, const_cast<Warp*>(step.warp), lane, t)) return {};
  const TensorProductSite& site = *step.op->product;
  std::vector<TensorWork> list;
  list.reserve(static_cast<std::size_t>(t.count));
  for (int i = 0; i < t.count; ++i) list.push_back({t.blocks[i], matrices_of(site, t), rectangles_of(site, t, i)});
  return list;
}

// ---- the others

// The block of the warp and, for a pair, the other one.
std::vector<TensorWork> in_blocks(const WarpStep& step, bool pair, const TensorWork& work) {
  std::vector<TensorWork> list{work};
  list.back().cta = step.warp->cta;
  if (!pair) return list;
  if (const Cta* const peer = peer_of(step.warp->cta)) {
    list.push_back(work);
    list.back().cta = peer;
  }
  return list;
}

std::vector<TensorWork> work_of_copy(const WarpStep& step, int lane) {
  const SharedToTensor& c = *step.op->copy;
  const TensorAddress to(address_of(step, lane));
  const TensorDescriptor from(row<std::uint64_t>(const_cast<Warp*>(step.warp), step.op->src[1])[lane]);
  constexpr std::uint32_t kWordsOfUnit = 4;
  TensorWork work;
  TensorRectangle written{{}, to.column, to.column + c.columns, true};
  for (std::uint32_t r = 0; r < c.rows; ++r) {
    for (std::uint32_t i = 0; i < c.copies; ++i) written.lanes.set((to.lane + c.lane(r, i)) % TensorMemory::kLanes);
    for (std::uint32_t u = 0; u < c.columns / kWordsOfUnit; ++u)
      work.reads.push_back({from.unit(r, u), from.unit(r, u) + kUnitBytes});
  }
  join_neighbours(work.reads);
  work.columns.push_back(written);
  return in_blocks(step, c.pair, work);
}

std::vector<TensorWork> work_of_shift(const WarpStep& step, int lane) {
  constexpr std::uint32_t kColumns = 8;
  const TensorAddress at(address_of(step, lane));
  TensorWork work;
  set_lanes(work.columns.emplace_back(TensorRectangle{{}, at.column, at.column + kColumns, true}), at.lane, kWarpSize);
  return in_blocks(step, step.op->extra != 0, work);
}

std::vector<TensorWork> work_of_transfer(const WarpStep& step, int lane) {
  const TensorTransfer& t = *step.op->transfer;
  const std::uint32_t first = address_of(step, lane);
  TensorWork work;
  const auto add = [&](std::uint32_t address) {
    const TensorAddress at(address);
    TensorRectangle r{{}, at.column, at.column + t.columns, handler_of(step.op, step.warp) == tensor_store};
    set_lanes(r, at.lane, t.lanes);
    work.columns.push_back(r);
  };
  add(first);
  if (t.shape == TensorTransfer::Shape::two_of_x32b) add(first + t.second);
  return in_blocks(step, false, work);
}

} // namespace

std::vector<TensorWork> work_of(const WarpStep& step, int lane) {
  const Handler run = handler_of(step.op, step.warp);
  if (run == tensor_load || run == tensor_store) return work_of_transfer(step, lane);
  if (run == tensor_copy_shared) return work_of_copy(step, lane);
  if (run == tensor_shift) return work_of_shift(step, lane);
  return work_of_product(step, lane);
}

} // namespace warplens::exec
