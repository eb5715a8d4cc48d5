// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/init_check.hpp"

#include "emulator/exec/checks/init_checker.hpp"
#include "emulator/exec/memory/memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace warplens::exec {

namespace {

/// Whether the system has given the program a page of memory for this address, because somebody has touched it. Also
/// true if the system does not say so.
bool is_touched(std::uint64_t address) {
  static const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  constexpr std::uint64_t kPresent = std::uint64_t{1} << 63, kSwapped = std::uint64_t{1} << 62;
  std::uint64_t entry = 0;
  const auto at = static_cast<off_t>(address / static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE)) * sizeof entry);
  if (file < 0 || pread(file, &entry, sizeof entry, at) != sizeof entry) return true;
  return (entry & (kPresent | kSwapped)) != 0;
}

} // namespace

std::unique_ptr<Checker> InitCheck::make(const Launch& launch) {
  begin();
  return std::make_unique<InitChecker>(launch, *this);
}

void InitCheck::begin() { looked_.clear(); }

void InitCheck::forget_copies(std::uint64_t begin, std::uint64_t end) {
  auto at = copies_.lower_bound(begin);
  if (at != copies_.begin() && std::prev(at)->second.end > begin) --at;
  while (at != copies_.end() && at->first < end) {
    const std::uint64_t first = at->first;
    const Copied old = std::move(at->second);
    at = copies_.erase(at);
    if (first < begin) copies_[first] = {begin, old.source, old.what};
    if (old.end > end) at = copies_.insert_or_assign(end, Copied{old.end, old.source + (end - first), old.what}).first;
  }
}

void InitCheck::fresh(std::uint64_t begin, std::uint64_t bytes, bool of_host) {
  forget(begin, bytes);
  shadow_.fresh(begin, bytes);
  if (!of_host) return;
  of_host_[begin] = begin + bytes;
  // Pages of 2 MiB would be touched by accesses far away.
  const std::uint64_t first = begin / kHostPageBytes * kHostPageBytes;
  madvise(reinterpret_cast<void*>(first), begin + bytes - first, MADV_NOHUGEPAGE);
}

void InitCheck::forget(std::uint64_t begin, std::uint64_t bytes) {
  shadow_.write(begin, bytes);
  forget_copies(begin, begin + bytes);
  of_host_.erase(begin);
}

bool InitCheck::is_of_host(std::uint64_t address) const {
  const auto after = of_host_.upper_bound(address);
  return after != of_host_.begin() && std::prev(after)->second > address;
}

// Pages of memory of the host that somebody has touched become written. While an operation runs, its own reads touch
// pages, too: what was found untouched stays so.
void InitCheck::look(std::uint64_t begin, std::uint64_t bytes) {
  if (of_host_.empty() || bytes == 0) return;
  const std::uint64_t end = begin + bytes;
  for (std::uint64_t page = begin / kHostPageBytes * kHostPageBytes; page < end; page += kHostPageBytes) {
    const std::uint64_t first = std::max(page, begin), last = std::min(page + kHostPageBytes, end);
    if (!shadow_.unwritten(first, last - first)) continue;
    if (!is_of_host(first) && !is_of_host(last - 1)) continue;
    if (looked_.contains(page)) continue;
    if (!is_touched(page)) {
      looked_.insert(page);
      continue;
    }
    for (std::uint64_t at = page; at < page + kHostPageBytes;) { // the parts of the page that the host can write
      const auto after = of_host_.upper_bound(at);
      if (after != of_host_.begin() && std::prev(after)->second > at) {
        const std::uint64_t stop = std::min(std::prev(after)->second, page + kHostPageBytes);
        shadow_.write(at, stop - at);
        at = stop;
      } else {
        at = after == of_host_.end() ? page + kHostPageBytes : std::max(at + 1, after->first);
      }
    }
  }
}

bool InitCheck::still_unwritten(std::uint64_t begin, std::uint64_t bytes) {
  look(begin, bytes);
  return shadow_.unwritten(begin, bytes);
}

std::vector<InitCheck::Range> InitCheck::unwritten(std::uint64_t begin, std::uint64_t bytes) {
  look(begin, bytes);
  return shadow_.unwritten_ranges(begin, bytes);
}

void InitCheck::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, const std::string& what) {
  const std::vector<Range> ranges = unwritten(from, bytes);
  std::vector<Copied> origins;
  for (const Range& r : ranges) {
    const std::optional<Origin> before = origin_of(r.begin);
    origins.push_back({to + (r.begin - from) + r.bytes, before ? before->address : r.begin, what});
  }
  shadow_.write(to, bytes);
  forget_copies(to, to + bytes);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const std::uint64_t begin = to + (ranges[i].begin - from);
    shadow_.fresh(begin, ranges[i].bytes);
    copies_[begin] = std::move(origins[i]);
  }
}

std::vector<InitCheck::Range> InitCheck::unused(std::uint64_t begin, std::uint64_t bytes) {
  std::vector<Range> list;
  for (const Range& r : unwritten(begin, bytes)) {
    std::uint64_t at = r.begin;
    const std::uint64_t end = r.begin + r.bytes;
    while (at < end) {
      auto next = copies_.upper_bound(at);
      if (next != copies_.begin() && std::prev(next)->second.end > at) {
        at = std::prev(next)->second.end;
        continue;
      }
      const std::uint64_t stop = next == copies_.end() ? end : std::min(end, next->first);
      list.push_back({at, stop - at});
      at = stop;
    }
  }
  return list;
}

std::optional<InitCheck::Origin> InitCheck::origin_of(std::uint64_t address) const {
  const auto after = copies_.upper_bound(address);
  if (after == copies_.begin() || std::prev(after)->second.end <= address) return std::nullopt;
  const auto& [begin, copied] = *std::prev(after);
  return Origin{copied.source + (address - begin), copied.what};
}

} // namespace warplens::exec
