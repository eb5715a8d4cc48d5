// SPDX-License-Identifier: Apache-2.0
#include "model/memory_bytes.hpp"

#include "model/memory_traffic.hpp"

#include <algorithm>

namespace warplens::model {

double memory_bytes(Prediction& p, const KernelStatistics& s, const Device& device) {
  const double asked = note(p, "requested_bytes", transaction_bytes(s) * total_warps(s), "bytes");
  const double all = transactions(s);
  const double share = s.load_transactions && all > 0 ? std::min(*s.load_transactions / all, 1.0) : 1;
  const double misses = (1 - value_of(s.l1_hit_ratio)) * (1 - value_of(s.l2_hit_ratio));
  const double loaded = asked * share * misses, stored = asked * (1 - share);
  if (!device.l2) return note(p, "bytes", loaded + stored, "bytes"); // all is moved again
  if (!s.l2_hit_ratio && s.only_loaded_sectors && s.written_sectors) {
    const double read = kSectorBytes * *s.only_loaded_sectors, written = kSectorBytes * *s.written_sectors;
    return note(p, "bytes", read + std::max(0.0, written - device.l2->bytes), "bytes");
  }
  if (asked > 0 && !s.l2_hit_ratio && !s.argument_bytes)
    p.remarks.push_back(
        "neither 'l2_hit_ratio' nor 'argument_bytes' was given: all requested bytes are assumed to come "
        "from device memory, so that the time may be no lower bound");
  const double moved = std::min(loaded + stored, s.argument_bytes.value_or(asked));
  const double kept = s.load_transactions ? std::min<double>(stored, device.l2->bytes) : 0;
  return note(p, "bytes", std::max(0.0, moved - kept), "bytes");
}

} // namespace warplens::model
