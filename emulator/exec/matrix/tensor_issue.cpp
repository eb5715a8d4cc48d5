// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/matrix/tensor_issue.hpp"

#include "emulator/exec/block/tensor_faults.hpp"
#include "emulator/exec/block/worker.hpp"

#include <fmt/format.h>

#include <utility>

namespace warplens::exec {

namespace {

class IssueReader {
public:
  IssueReader(const Op* op, Warp* warp, int lane, TensorIssue& issue)
      : op_(op), warp_(warp), lane_(lane), site_(*op->product), t_(issue) {}

  bool run() {
    const std::uint32_t bits = row<std::uint32_t>(warp_, site_.instruction)[lane_];
    if (const std::string why = read_instruction(site_, bits, t_.product); !why.empty())
      return stop(fmt::format("the instruction descriptor {:#x} is invalid for .kind::{}: {}", bits, site_.name, why));
    constexpr int kTarget = 103;
    if (const int sm = warp_->cta->program.module->sm; t_.product.k == kLongDepth && sm != kTarget)
      return stop(fmt::format("K = 96 needs sm_103a, but the module is for sm_{}", sm));
    t_.layout = layout_of(site_, t_.product);
    t_.accumulate = (predicate(warp_, site_.accumulate) >> lane_ & 1) != 0;
    return blocks() && factors() && masks() && tensor_memory();
  }

private:
  bool stop(std::string why) {
    stop_at_tensor_memory(op_, warp_, Mask{1} << lane_, std::move(why));
    return false;
  }

  bool blocks() {
    t_.blocks[0] = warp_->cta;
    if (!site_.pair) return true;
    t_.count = 2;
    Cta* const peer = peer_in_pair(op_, warp_, Mask{1} << lane_);
    if (peer == nullptr) return false;
    t_.blocks[warp_->cta->rank % 2] = warp_->cta;
    t_.blocks[peer->rank % 2] = peer;
    return true;
  }

  // 9.7.16.10.1 and 9.7.16.10.3: elements of 32 bits are transposed in chunks of 32 bytes, others in those of 16.
  bool factor(const char* name, std::uint32_t row_of, bool transposed, MatrixElement element, TensorDescriptor& to) {
    const std::uint64_t bits_of_it = row<std::uint64_t>(warp_, row_of)[lane_];
    to = TensorDescriptor(bits_of_it, t_.product.k == kLongDepth);
    const char* why = to.fault();
    if (why == nullptr && to.by_32_bytes() != (transposed && bits(element) == 32))
      why = to.by_32_bytes() ? "swizzling by 32 bytes is only for transposed elements of 32 bits"
                             : "transposed elements of 32 bits need swizzling of 128 by 32 bytes";
    return why == nullptr || stop(fmt::format("the descriptor of {}, {:#x}, is invalid: {}", name, bits_of_it, why));
  }
  bool factors() {
    const TensorProduct& p = t_.product;
    return factor("B", site_.b_descriptor, p.b_transposed, p.b, t_.b_shared) &&
           (site_.a_in_tensor_memory || factor("A", site_.a_descriptor, p.a_transposed, p.a, t_.a_shared));
  }

  bool masks() {
    for (int i = 0; site_.masks_lanes && i < 4 * t_.count; ++i)
      t_.masked_lanes[i] = row<std::uint32_t>(warp_, site_.lane_masks[static_cast<std::size_t>(i)])[lane_];
    if (!site_.masks_columns) return true;
    const std::uint64_t bits_of_mask = row<std::uint64_t>(warp_, site_.column_mask)[lane_];
    t_.columns = ColumnMask(bits_of_mask);
    const std::string why = t_.columns.fault(t_.product);
    return why.empty() || stop(fmt::format("the zero-column mask {:#x} is invalid: {}", bits_of_mask, why));
  }

  [[nodiscard]] std::uint32_t address(TensorProductSite::Place place) const {
    return row<std::uint32_t>(warp_, place.row)[lane_] + static_cast<std::uint32_t>(place.offset);
  }

  // A matrix in the tensor memory of each block. Lanes begin at 0 or, where only half of them is used, also at 16;
  // then at the same one as D.
  bool matrix(const char* name, std::uint32_t at, std::uint32_t columns, TensorAddress& to) {
    const TensorLayout& layout = t_.layout;
    const auto lanes = layout.lane(layout.parts - 1, layout.rows - 1) + 1;
    for (int i = 0; i < t_.count; ++i)
      if (!holds_columns(op_, warp_, Mask{1} << lane_, *t_.blocks[i]->tensor_memory, name, at, columns, lanes))
        return false;
    to = TensorAddress(at);
    if (layout.half_used ? to.lane == 0 || to.lane == 16 : to.lane == 0) return true;
    return stop(fmt::format("{} begins at lane {} instead of {}", name, to.lane, layout.half_used ? "0 or 16" : "0"));
  }
  bool same_lane(const char* name, TensorAddress at) {
    return at.lane == t_.d.lane ||
           stop(fmt::format("{} begins at lane {}, but D at lane {}", name, at.lane, t_.d.lane));
  }

  bool tensor_memory() {
    const TensorProduct& p = t_.product;
    const int columns = p.n / t_.layout.parts;
    if (!matrix("D", address(site_.d), static_cast<std::uint32_t>(columns), t_.d)) return false;
    if (site_.a_in_tensor_memory && (!matrix("A", address(site_.a), p.columns_of_a(), t_.a) || !same_lane("A", t_.a)))
      return false;
    if (site_.sparse && (!metadata() || !same_lane("the metadata", t_.metadata))) return false;
    if (site_.scales == 0) return true;
    const auto scales = [&](const char* name, TensorProductSite::Place place, ScaleColumns of, TensorAddress& to) {
      return matrix(name, address(place), static_cast<std::uint32_t>(of.columns), to);
    };
    return scales("the scales of A", site_.a_scales, ScaleColumns::of_a(p, t_.layout), t_.a_scales) &&
           scales("the scales of B", site_.b_scales, ScaleColumns::of_b(p, t_.layout), t_.b_scales);
  }

  // 9.7.16.10.8.4. Of elements of 16 and 32 bits, the selector chooses one of a pair of columns.
  bool metadata() {
    const std::uint32_t at = address(site_.metadata);
    if (bits(t_.product.a) <= 8) return matrix("the metadata", at, 2, t_.metadata);
    return matrix("the metadata", (at & ~1u) + static_cast<std::uint32_t>(t_.product.selector), 1, t_.metadata);
  }

  const Op* op_;
  Warp* warp_;
  int lane_;
  const TensorProductSite& site_;
  TensorIssue& t_;
};

} // namespace

bool read_issue(const Op* op, Warp* warp, int lane, TensorIssue& issue) {
  return IssueReader(op, warp, lane, issue).run();
}

void count_product(const Op* op, Warp* warp, const TensorIssue& issue) {
  const TensorProduct& p = issue.product;
  const auto all = static_cast<std::uint64_t>(p.m) * static_cast<std::uint64_t>(p.n) * static_cast<std::uint64_t>(p.k);
  if (warp->worker->shard)
    warp->worker->shard->product({op->instruction, p.a, p.sparse ? all / 2 : all, p.d == MatrixElement::f16});
}

void stop_at_factor(const Op* op, Warp* warp, int lane, const char* matrix, const TensorIssue& issue) {
  const TensorProductSite& s = *op->product;
  const std::uint32_t row_of = *matrix == 'A' ? s.a_descriptor : s.b_descriptor;
  stop_at_tensor_memory(
      op, warp, Mask{1} << lane,
      fmt::format("the descriptor of {}, {:#x}, reaches beyond the {} bytes of shared memory of the block", matrix,
                  row<std::uint64_t>(warp, row_of)[lane], issue.blocks[0]->shared_bytes));
}

} // namespace warplens::exec
