// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/access/async_copy.hpp"

#include "emulator/exec/access/copied_bytes.hpp"
#include "emulator/exec/access/mbarrier.hpp"
#include "emulator/exec/block/cluster.hpp"
#include "emulator/exec/block/control.hpp"

#include <fmt/format.h>

#include <cstring>

namespace warplens::exec {

namespace {

using WARPLENS_LEVEL::lane_address, WARPLENS_LEVEL::reach_known;

constexpr unsigned kPiece = 16; // bytes: the unit of bulk copies
constexpr std::uint64_t kMostOfBulkStore = std::uint64_t{1} << 24;

const isa::Spelling& spelling_of(const Op* op, const Warp* warp) {
  const Program& program = warp->cta->program;
  return program.module->spellings[program.function->instructions[op->instruction].form];
}

bool stop_copy(const Op* op, Warp* warp, int lane, std::string why) {
  stop_with(op, warp, Trap::Kind::invalid_copy, Mask{1} << lane, std::move(why));
  return false;
}

struct Piece {
  alignas(kPiece) std::byte bytes[kPiece]{};
};

// Handles lanes that read fewer bytes than they write, one by one. Watchers see an access of the whole size.
bool read_partly(const Op* op, Warp* warp, Mask mask, const std::uint32_t* counts, Piece* pieces) {
  const unsigned size = op->site->lane_bytes;
  for (const int lane : EachLane(mask)) {
    if (counts[lane] > size)
      return stop_copy(op, warp, lane, fmt::format("its source size {} exceeds the copy size {}", counts[lane], size));
    Reached from;
    if (counts[lane] == 0) continue;
    if (!reach(op, warp, lane, address_in(op, warp, lane), counts[lane], size, from)) return false;
    if (from.bytes == nullptr) continue;
    std::memcpy(pieces[lane].bytes, from.bytes, counts[lane]);
    if (warp->worker->watch) {
      const std::int64_t none[kWarpSize]{};
      warp->worker->watch->irregular(*warp, *op->site, from.space, Mask{1} << lane, from.offset, none);
    }
  }
  return true;
}

bool read_wholly(const Op* op, Warp* warp, Mask mask, Piece* pieces, HostAccess& from) {
  if (mask == 0) return true;
  if (!op->site->resolve(op, warp, mask, from)) return false;
  const unsigned size = op->site->lane_bytes;
  for (const int lane : EachLane(mask)) std::memcpy(pieces[lane].bytes, from.at(lane), size);
  return true;
}

void count_sectors(const Op* op, Warp* warp, Mask mask, const HostAccess& from, const HostAccess& to) {
  LanePlaces places;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    places.from[lane] = reinterpret_cast<std::uint64_t>(from.at(lane));
    places.to[lane] = static_cast<std::uint64_t>(to.at(lane) - warp->cta->shared);
  }
  Worker& worker = *warp->worker;
  worker.lane_copies.add(*worker.shard, op->site->index, op->instruction, places, mask);
}

} // namespace

std::uint64_t place_in_block(const Warp* warp, const Cta& block, std::uint64_t offset) {
  return &block == warp->cta ? offset : (block.rank + 1) * kClusterStride + offset;
}

const Op* part_of_instruction(const Op* op, Warp*) { return op + 1; }

const Op* async_copy(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  if (mask == 0) return op + 2;
  const unsigned size = op->site->lane_bytes;
  Piece pieces[kWarpSize];
  Mask whole = mask;
  if (op->extra == static_cast<std::uint32_t>(CopySource::unless)) whole &= ~predicate(warp, op->src[1]);
  if (op->extra == static_cast<std::uint32_t>(CopySource::bytes)) {
    const auto* const counts = row<std::uint32_t>(warp, op->src[1]);
    for (Mask m = mask; m != 0; m &= m - 1)
      if (counts[__builtin_ctz(m)] != size) whole &= ~(m & -m);
    if (!read_partly(op, warp, mask & ~whole, counts, pieces)) return nullptr;
  }
  HostAccess from, to;
  if (!read_wholly(op, warp, whole, pieces, from)) return nullptr;
  if (!op[1].site->resolve(op + 1, warp, mask, to)) return nullptr;
  for (const int lane : EachLane(mask)) std::memcpy(to.at(lane), pieces[lane].bytes, size);
  if (op[1].extra != 0 && whole != 0 && warp->worker->shard) count_sectors(op, warp, whole, from, to);
  return op + 2;
}

namespace {

// A bulk copy by one lane.
class Bulk {
public:
  Bulk(const Op* op, Warp* warp, int lane)
      : source_(op), destination_(op + 1), mbarrier_(op + 2), warp_(warp), lane_(lane), options_(op->extra),
        size_(row<std::uint32_t>(warp, op->src[1])[lane]) {}

  bool run() {
    if (size_ % kPiece != 0)
      return stop_copy(source_, warp_, lane_, fmt::format("its size is {}: expected a multiple of 16", size_));
    Reached from, to;
    if (!reach_known(source_, warp_, lane_, lane_address(source_, warp_, lane_), size_, kPiece, from)) return false;
    if (from.bytes != nullptr && warp_->worker->watch) observe_run(source_, warp_, from, size_);
    const bool multicast = (options_ & kMulticast) != 0;
    if (!reach_known(destination_, warp_, lane_, lane_address(destination_, warp_, lane_), size_, kPiece, to))
      return false;
    if (to.bytes == nullptr && size_ != 0) return true; // dropped: there is no block that waits for it
    if (warp_->worker->shard && from.bytes != nullptr && size_ != 0) count(from, to);
    if (!multicast) return copy(from, to) && complete(to.bytes);
    const Cta* const owner = warp_->cta->cluster->owner(to.bytes);
    return owner == nullptr || to_each_cta(from, to, *owner);
  }

private:
  void count(const Reached& from, const Reached& to) const {
    const bool loads = from.space == isa::Space::global, stores = to.space == isa::Space::global;
    BulkCopy event{source_->instruction, loads ? AccessKind::load : destination_->site->kind};
    if ((options_ & kMulticast) != 0)
      event.blocks =
          static_cast<std::uint32_t>(__builtin_popcount(row<std::uint16_t>(warp_, destination_->src[1])[lane_]));
    if (loads || stores) {
      const Reached &global = loads ? from : to, &shared = loads ? to : from;
      event.bytes = size_;
      event.sectors = copied_sectors(global.offset, shared.offset, size_);
    }
    if (loads) event.received = event.sectors;
    if (!loads) event.shared_read = size_;
    if (!stores) event.shared_written = std::uint64_t{size_} * event.blocks;
    warp_->worker->shard->bulk_copy(event);
  }

  // Copies to the same offset in the shared memory of each CTA that the mask names.
  bool to_each_cta(const Reached& from, const Reached& to, const Cta& owner) {
    const std::vector<Cta*>& ctas = warp_->cta->cluster->ctas;
    const unsigned mask = row<std::uint16_t>(warp_, destination_->src[1])[lane_];
    if (mask >> ctas.size() != 0)
      return stop_copy(
          destination_, warp_, lane_,
          fmt::format("its mask {:#06x} names blocks outside the cluster of {} blocks", mask, ctas.size()));
    for (std::size_t rank = 0; rank < ctas.size(); ++rank) {
      if ((mask >> rank & 1) == 0) continue;
      Reached there = to;
      there.bytes = ctas[rank]->shared + (to.bytes - owner.shared);
      there.offset = place_in_block(warp_, *ctas[rank], static_cast<std::uint64_t>(to.bytes - owner.shared));
      if (!copy(from, there) || !complete(there.bytes)) return false;
    }
    return true;
  }

  bool copy(const Reached& from, const Reached& to) {
    if (from.bytes == nullptr) return true; // dropped
    if (warp_->worker->watch) observe_run(destination_, warp_, to, size_);
    if ((options_ & kBulkReduces) != 0)
      reduce(from, to);
    else if ((options_ & kMasked) != 0)
      copy_masked(from, to);
    else if (size_ != 0)
      std::memmove(to.bytes, from.bytes, size_);
    return true;
  }

  void copy_masked(const Reached& from, const Reached& to) {
    const unsigned mask = row<std::uint16_t>(warp_, destination_->src[1])[lane_];
    for (std::uint32_t i = 0; i < size_; ++i)
      if ((mask >> i % kPiece & 1) != 0) to.bytes[i] = from.bytes[i];
  }

  void reduce(const Reached& from, const Reached& to) {
    const isa::Spelling& spelling = spelling_of(source_, warp_);
    const Reducer apply = reducer(spelling);
    const auto step = static_cast<unsigned>(isa::bytes(spelling.form.type()));
    const bool locked = to.space != isa::Space::shared && !warp_->worker->alone;
    for (std::uint32_t i = 0; i < size_; i += step) apply(to.bytes + i, from.bytes + i, locked);
  }

  bool complete(const std::byte* destination) {
    if ((options_ & kCompletes) == 0) return true;
    const Cta* const cta = warp_->cta->cluster->owner(destination);
    return complete_bytes(mbarrier_, warp_, lane_, cta, (options_ & kMulticast) != 0, size_);
  }

  const Op *source_, *destination_, *mbarrier_;
  Warp* warp_;
  int lane_;
  std::uint32_t options_, size_;
};

} // namespace

const Op* bulk_copy(const Op* op, Warp* warp) {
  for (Mask m = acting(op, warp); m != 0; m &= m - 1)
    if (!Bulk(op, warp, __builtin_ctz(m)).run()) return nullptr;
  return op + ((op->extra & kCompletes) != 0 ? 3 : 2);
}

namespace {

// A lane's values, packed.
void gather(Warp* warp, const MemorySite& site, unsigned count, int lane, std::byte* values) {
  const std::size_t each = site.lane_bytes / count;
  for (unsigned e = 0; e < count; ++e)
    std::memcpy(values + e * each, row<std::byte>(warp, site.from[e]) + static_cast<unsigned>(lane) * each, each);
}

} // namespace

const Op* async_store(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  if (mask == 0) return op + 2;
  const MemorySite& site = *op->site;
  const Reducer apply = site.kind == AccessKind::reduction ? reducer(spelling_of(op, warp)) : nullptr;
  HostAccess to;
  if (!op->site->resolve(op, warp, mask, to)) return nullptr;
  for (const int lane : EachLane(mask)) {
    if (to.at(lane) == warp->worker->nowhere) continue;
    const Cta* const cta = warp->cta->cluster->owner(to.at(lane));
    if (cta == nullptr) {
      stop_copy(op, warp, lane, "its destination must be in shared memory");
      return nullptr;
    }
    Piece values;
    gather(warp, site, op->extra, lane, values.bytes);
    if (apply != nullptr)
      apply(to.at(lane), values.bytes, false);
    else
      std::memcpy(to.at(lane), values.bytes, site.lane_bytes);
    if (!complete_bytes(op + 1, warp, lane, cta, false, site.lane_bytes)) return nullptr;
  }
  return op + 2;
}

const Op* bulk_store(const Op* op, Warp* warp) {
  const auto* const sizes = row<std::uint64_t>(warp, op->src[1]);
  for (const int lane : EachLane(acting(op, warp))) {
    Reached to;
    if (sizes[lane] % 8 != 0 || sizes[lane] > kMostOfBulkStore) {
      stop_copy(op, warp, lane, fmt::format("its size is {}: expected a multiple of 8 up to 16777216", sizes[lane]));
      return nullptr;
    }
    if (!reach(op, warp, lane, address_in(op, warp, lane), sizes[lane], 8, to)) return nullptr;
    if (to.bytes == nullptr) continue;
    if (to.space != isa::Space::shared) {
      stop_copy(op, warp, lane, "its destination must be in shared memory");
      return nullptr;
    }
    observe_run(op, warp, to, sizes[lane]);
    if (sizes[lane] != 0) std::memset(to.bytes, 0, sizes[lane]);
  }
  return op + 1;
}

} // namespace warplens::exec
