// SPDX-License-Identifier: Apache-2.0
#include "analyzers/coalescing.hpp"

#include <algorithm>
#include <vector>

namespace warplens::analyzers {

using rules::Coalescing;
using rules::WordClass;

bool in_turns(const Coalescing& rule, exec::AccessKind kind) {
  return rule.equal_addresses_wait || (is_atomic(kind) && rule.atomics == Coalescing::Atomics::in_turns);
}

namespace {

struct Request {
  const Coalescing& rule;
  const WordClass& word;
  const std::uint64_t* addresses;
  exec::Mask lanes;         // of this request
  std::uint32_t first_lane; // of the request, active or not
  std::uint32_t lane_bytes;
  bool turns;
  Transactions& result;
  std::vector<Transaction>* list;

  /// The blocks of `smallest` bytes that the lanes touch, lane after lane.
  struct Block {
    std::uint64_t base;
    exec::Mask lane;
  };
  struct Blocks {
    Block block[exec::kWarpSize * (kLineBytes / 4 + 1)];
    std::size_t count = 0;
  };
  [[nodiscard]] Blocks blocks() const {
    Blocks found;
    const std::uint64_t within = rule.smallest - 1;
    for (exec::Mask rest = lanes; rest; rest &= rest - 1) {
      const std::uint64_t address = addresses[std::countr_zero(rest)];
      const std::uint64_t first = address & ~within; // by count, because the last addresses have no successors
      const std::uint64_t count = (address - first + lane_bytes - 1) / rule.smallest + 1;
      for (std::uint64_t i = 0; i < count; ++i)
        found.block[found.count++] = {first + i * rule.smallest, rest & (~rest + 1)};
    }
    return found;
  }

  void emit(std::uint32_t bytes, std::uint64_t base, exec::Mask served) const {
    result.add(bytes);
    if (turns) result.repeats += most_of_one_address(lanes_in(base, bytes) & served) - 1;
    if (list) list->push_back({bytes, base, served});
  }

  /// Lanes; at least 1.
  [[nodiscard]] std::uint32_t most_of_one_address(exec::Mask among) const {
    std::uint32_t most = 1;
    for (exec::Mask rest = among; rest; rest &= rest - 1) {
      std::uint32_t same = 0;
      for (exec::Mask other = rest; other; other &= other - 1)
        same += addresses[std::countr_zero(other)] == addresses[std::countr_zero(rest)];
      most = std::max(most, same);
    }
    return most;
  }

  /// Those whose address lies in the segment.
  [[nodiscard]] exec::Mask lanes_in(std::uint64_t base, std::uint32_t bytes) const {
    exec::Mask inside = 0;
    for (exec::Mask rest = lanes; rest; rest &= rest - 1)
      if (addresses[std::countr_zero(rest)] - base < bytes) inside |= rest & (~rest + 1);
    return inside;
  }

  [[nodiscard]] std::uint32_t distinct_addresses() const {
    std::uint32_t count = 0;
    for (exec::Mask rest = lanes; rest; rest &= rest - 1) {
      const std::uint64_t address = addresses[std::countr_zero(rest)];
      exec::Mask later = rest & (rest - 1);
      while (later && addresses[std::countr_zero(later)] != address) later &= later - 1;
      count += later == 0;
    }
    return count;
  }

  /// The address that lane 0 of the request would access.
  [[nodiscard]] std::uint64_t start() const {
    const auto first = static_cast<std::uint32_t>(std::countr_zero(lanes));
    return addresses[first] - std::uint64_t{first - first_lane} * lane_bytes;
  }

  /// Guide 2.0, section 5.1.2.1, compute capability 1.0 and 1.1.
  [[nodiscard]] bool in_order() const {
    if (word.bytes != lane_bytes || start() % word.starts_at() != 0) return false;
    for (exec::Mask rest = lanes; rest; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      if (addresses[lane] != start() + std::uint64_t{lane - first_lane} * lane_bytes) return false;
    }
    return true;
  }

  void serve_in_order() const {
    result.ideal += std::max(1u, word.requests.lanes * lane_bytes / word.segment);
    if (in_order()) {
      for (std::uint32_t offset = 0; offset < word.requests.lanes * word.bytes; offset += word.segment)
        emit(word.segment, start() + offset, lanes_in(start() + offset, word.segment));
      return;
    }
    const Blocks own = blocks();
    for (std::size_t i = 0; i < own.count; ++i) {
      emit(rule.smallest, own.block[i].base, own.block[i].lane);
      ++result.uncoalesced;
    }
  }

  /// Guide 2.0, section 5.1.2.1, compute capability 1.2 and higher; without shrinking: distinct segments.
  void serve_any() const {
    const std::uint32_t unit = word.sector ? word.sector : word.segment;
    result.ideal += least_moved(distinct_addresses() * lane_bytes, unit, rule.shrink ? rule.smallest : unit);
    Blocks waiting = blocks();
    while (waiting.count) {
      std::uint64_t segment = waiting.block[0].base;
      if (word.starts_at() < word.segment) // the order of segments determines what remains for the others
        for (std::size_t i = 1; i < waiting.count; ++i) segment = std::min(segment, waiting.block[i].base);
      segment &= ~std::uint64_t{word.starts_at() - 1};
      if (word.sector) result.skipped += word.segment - word.sector * sectors_touched(waiting, segment);
      std::uint64_t low = ~std::uint64_t{0}, high = 0;
      exec::Mask served = 0;
      const auto end = std::remove_if(waiting.block, waiting.block + waiting.count, [&](const Block& block) {
        const std::uint64_t offset = block.base - segment;
        if (offset >= word.segment) return false;
        low = std::min(low, offset);
        high = std::max(high, offset);
        served |= block.lane;
        return true;
      });
      waiting.count = static_cast<std::size_t>(end - waiting.block);
      std::uint32_t bytes = word.segment;
      while (rule.shrink && bytes > rule.smallest && low / (bytes / 2) == high / (bytes / 2)) bytes /= 2;
      emit(bytes, segment + low / bytes * bytes, served);
    }
  }

  [[nodiscard]] std::uint32_t sectors_touched(const Blocks& waiting, std::uint64_t segment) const {
    std::vector<std::uint64_t> sectors;
    for (std::size_t i = 0; i < waiting.count; ++i)
      if (waiting.block[i].base - segment < word.segment)
        sectors.push_back((waiting.block[i].base - segment) / word.sector);
    std::sort(sectors.begin(), sectors.end());
    return static_cast<std::uint32_t>(std::unique(sectors.begin(), sectors.end()) - sectors.begin());
  }
};

/// All lanes access one word each.
void serve(const Coalescing& rule, const WordClass& word, const std::uint64_t* addresses, exec::Mask mask,
           std::uint32_t lane_bytes, bool turns, Transactions& result, std::vector<Transaction>* list) {
  word.requests.for_each([&](exec::Mask lanes) {
    const exec::Mask part = mask & lanes;
    if (!part) return;
    const Request request{rule,       word,  addresses, part, static_cast<std::uint32_t>(std::countr_zero(lanes)),
                          lane_bytes, turns, result,    list};
    if (rule.order == Coalescing::Order::kth_word)
      request.serve_in_order();
    else
      request.serve_any();
  });
}

} // namespace

Transactions transactions(const Coalescing& rule, const std::uint64_t* addresses, exec::Mask mask,
                          std::uint32_t lane_bytes, Service service, std::vector<Transaction>* list) {
  Transactions result;
  result.smallest = rule.smallest;
  lane_bytes = std::clamp(lane_bytes, 1u, kLineBytes);
  const std::uint32_t elements = rule.split_vectors ? std::min(service.elements, lane_bytes) : 1;
  const std::uint32_t bytes = lane_bytes / elements;
  const WordClass& word = rule.word(bytes, service.of());
  std::uint64_t moved[exec::kWarpSize];
  for (std::uint32_t element = 0; element < elements; ++element) {
    for (exec::Mask rest = mask; rest; rest &= rest - 1)
      moved[std::countr_zero(rest)] = addresses[std::countr_zero(rest)] + std::uint64_t{element} * bytes;
    serve(rule, word, moved, mask, bytes, in_turns(rule, service.kind), result, list);
  }
  const std::uint64_t taken = rule.order == Coalescing::Order::kth_word ? result.total() : result.bytes();
  result.ideal = static_cast<std::uint32_t>(std::min<std::uint64_t>(result.ideal, taken));
  return result;
}

} // namespace warplens::analyzers
