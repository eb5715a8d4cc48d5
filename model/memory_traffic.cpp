// SPDX-License-Identifier: Apache-2.0
#include "model/memory_traffic.hpp"

#include <algorithm>

namespace warplens::model {

double Traffic::cold() const { return read > 0 ? std::min(1.0 - from_host(), memory_read / (kSectorBytes * read)) : 0; }

double Traffic::from_host() const { return read > 0 ? std::min(1.0, host_read / (kSectorBytes * read)) : 0; }

Traffic traffic(const KernelStatistics& s, const MemorySystem& memory) {
  Traffic result;
  const double warps = total_warps(s), all = transactions(s);
  const double sectors = all > 0 ? transaction_bytes(s) / (all * kSectorBytes) : 0; // of a transaction
  result.read = warps * sectors * *s.load_transactions * (1 - value_of(s.l1_hit_ratio));
  result.updated = warps * value_of(s.atomic_transactions);
  result.written = warps * sectors * s.merged_store_transactions.value_or(*s.store_transactions) + result.updated;
  if (all > 0)
    result.scattered = std::min(1.0, value_of(s.uncoalesced_requests) * value_of(s.uncoalesced_transactions) / all);
  if (memory.sectors_of_a_fetch > 1 && s.lone_sectors && all > 0)
    result.scattered = std::min(result.scattered, *s.lone_sectors * kSectorBytes / transaction_bytes(s));
  const double fetched = 1 + result.scattered * (memory.sectors_of_a_fetch - 1);
  const double missed = kSectorBytes * result.read * fetched * (1 - value_of(s.l2_hit_ratio));
  const double most = s.argument_bytes.value_or(kSectorBytes * (result.read + result.written));
  double most_read = most, most_written = most;
  if (s.only_loaded_sectors && s.written_sectors) { // of those that are written, some may have been loaded before
    most_read = std::min(most, kSectorBytes * (*s.only_loaded_sectors + *s.written_sectors) * fetched);
    most_written = std::min(most, kSectorBytes * *s.written_sectors);
  }
  const double bytes_read = s.l2_hit_ratio ? missed : std::min(missed, most_read);
  const double bytes_written = std::min(kSectorBytes * result.written, most_written);
  const double bytes = value_of(s.argument_bytes);
  const double host = memory.host && bytes > 0 ? std::min(1.0, value_of(s.host_bytes) / bytes) : 0;
  result.host_read = host * bytes_read;
  result.host_written = host * bytes_written;
  result.memory_read = (1 - host) * bytes_read;
  result.memory_written = std::max(0.0, (1 - host) * bytes_written - memory.kept_bytes);
  return result;
}

double contention(const KernelStatistics& s, const AtomicIntervals& intervals) {
  return std::max({value_of(s.half_line_updates) * intervals.half_line,
                   value_of(s.word_float_updates) * intervals.float_word,
                   value_of(s.kilobyte_updates) * intervals.kilobyte});
}

double cycles_each(const Traffic& traffic, double whole, double scattered) {
  return traffic.scattered / scattered + (1 - traffic.scattered) / whole;
}

double constant_cycles(const KernelStatistics& s, const Device& device, double warps) {
  return device.throughput.constant_passes ? warps * value_of(s.constant_passes) / *device.throughput.constant_passes
                                           : 0;
}

} // namespace warplens::model
