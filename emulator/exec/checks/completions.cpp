// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/completions.hpp"

#include "emulator/exec/access/async_copy.hpp"
#include "emulator/exec/access/launch_control.hpp"
#include "emulator/exec/access/mbarrier.hpp"
#include "emulator/exec/access/tensor_copy.hpp"
#include "emulator/exec/block/cluster.hpp"
#include "emulator/exec/state/program.hpp"

namespace warplens::exec {

namespace {

enum class Form : std::uint8_t { store, bulk, tensor, cancel, commit };

Form form_of(Handler handler) {
  return handler == bulk_copy         ? Form::bulk
         : handler == tensor_copy     ? Form::tensor
         : handler == try_cancel      ? Form::cancel
         : handler == mbarrier_commit ? Form::commit
                                      : Form::store;
}

/// How far behind the first op of the instruction the one of the mbarrier is.
constexpr int place_of_object(Form form) {
  return form == Form::commit ? 0 : form == Form::bulk ? 2 : form == Form::tensor ? 3 : 1;
}

// The blocks that an instruction names, by rank; `own`: without .multicast.
unsigned blocks_of(const Op* op, Warp* warp, int lane, Form form, const TensorSite* site, unsigned own) {
  const auto mask = [&](std::uint32_t of) -> unsigned { return row<std::uint16_t>(warp, of)[lane]; };
  switch (form) {
  case Form::bulk: return (op->extra & kMulticast) != 0 ? mask(op[1].src[1]) : own;
  case Form::tensor: return site->multicast ? mask(site->mask) : own;
  case Form::cancel: return (op->extra & kMulticast) != 0 ? ~0u : own;
  case Form::commit: return op->extra != 0 ? mask(op->src[1]) : own;
  case Form::store: break;
  }
  return own;
}

std::uint32_t bytes_of(const Op* op, Warp* warp, int lane, Form form) {
  if (form == Form::commit) return 0;
  if (form == Form::tensor) return bytes_of_tensor_copy(op, warp, lane);
  return form == Form::bulk ? row<std::uint32_t>(warp, op->src[1])[lane] : op->site->lane_bytes;
}

} // namespace

std::vector<Completion> completions_of(const WarpStep& step, int lane) {
  auto* const warp = const_cast<Warp*>(step.warp); // its rows are read only
  const Op* const op = step.op;
  const Form form = form_of(handler_of(op, warp));
  const Op* const object = op + place_of_object(form);
  const Cluster& cluster = *warp->cta->cluster;
  const std::byte* const at = reach(warp, *object->site, address_in(object, warp, lane), 8, lane);
  const Cta* const owner = at != nullptr ? cluster.owner(at) : nullptr;
  if (owner == nullptr) return {};
  const TensorSite* const site = form == Form::tensor ? &warp->cta->program.tensors[op->extra] : nullptr;
  const unsigned chosen = blocks_of(op, warp, lane, form, site, 1u << owner->rank);
  const std::uint32_t bytes = bytes_of(op, warp, lane, form);
  std::vector<Completion> list;
  for (const Cta* cta : cluster.ctas) {
    if ((chosen >> cta->rank & 1) == 0) continue;
    // 9.7.9.27.1: that of the pair whose rank is odd or even as that of the mbarrier's block.
    const std::uint32_t rank = site != nullptr && site->in_pair ? (cta->rank & ~1u) | (owner->rank & 1) : cta->rank;
    if (rank < cluster.ctas.size()) cta = cluster.ctas[rank];
    const std::byte* const place = cta->shared + (at - owner->shared);
    list.push_back({cta, static_cast<std::uint64_t>(place - cta->shared), place, bytes});
  }
  return list;
}

} // namespace warplens::exec
