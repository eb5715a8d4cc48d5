// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/race/shadow.hpp"

namespace warplens::exec::race {

Mask Record::lanes_at(int place) const {
  if (!sequence()) return lanes;
  const int distance = place - base(), step = stride() > 0 ? stride() : -stride();
  // With a negative stride, the bytes of a lane lie in front of those of the lane before it.
  const int lane = stride() > 0 ? distance / step : (step - 1 - distance) / step;
  return lane >= 0 && lane < kWarpSize ? Mask{1} << lane : 0;
}

Record quartered(const Record& record, int quarter) {
  Record part = record;
  part.granules = 0;
  for (const int word : EachLane(record.granules >> 8 * quarter & 0xff)) part.granules |= 0xfu << 4 * word;
  if (record.sequence()) {
    const int base = record.base() - static_cast<int>(kFineBytes) * quarter;
    part.lanes = Record::pack(base, record.stride());
  }
  return part;
}

void Records::grow() {
  const auto room = static_cast<std::uint16_t>(4 * room_);
  auto more = std::make_unique<Record[]>(room);
  std::copy(begin(), end(), more.get());
  more_ = std::move(more);
  room_ = room;
}

void Line::refine() {
  if (fine) return;
  fine = std::make_unique<std::array<Line, 4>>();
  for (int quarter = 0; quarter < 4; ++quarter) {
    Line& part = (*fine)[static_cast<std::size_t>(quarter)];
    const auto take = [&](Records& from, Records& to) {
      for (const Record& r : from)
        if (const Record q = quartered(r, quarter); q.granules != 0) to.add(q);
    };
    take(writes, part.writes);
    take(reads, part.reads);
    part.synchronises = synchronises;
  }
  writes = {};
  reads = {};
}

void Shadow::find(std::uint64_t page, Recent& recent) {
  std::unique_ptr<Page>& found = pages_[page];
  if (!found) found = std::make_unique<Page>();
  recent = {page, found.get()};
}

void Shadow::forget(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes;
  for (std::uint64_t at = address / kLineBytes * kLineBytes; at < end; at += kLineBytes) {
    if (!pages_.contains(at / kPageBytes)) {
      at = (at / kPageBytes + 1) * kPageBytes - kLineBytes;
      continue;
    }
    line(at) = {};
  }
}

void Shadow::clear() {
  pages_.clear();
  recent_.fill({});
}

} // namespace warplens::exec::race
