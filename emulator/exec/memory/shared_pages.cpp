// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/memory/shared_pages.hpp"

#include "emulator/exec/memory/guarded_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace warplens::exec {

namespace {

void* bytes_at(std::uint64_t address) { return reinterpret_cast<void*>(address); }

/// Only reading does not make a page that was never written take memory.
bool is_zero(std::uint64_t page, std::size_t bytes) {
  const auto* const words = static_cast<const std::uint64_t*>(bytes_at(page));
  return std::all_of(words, words + bytes / sizeof *words, [](std::uint64_t word) { return word == 0; });
}

/// Whether a file of this size may be made: otherwise the process would get SIGXFSZ.
bool is_allowed(std::uint64_t size) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur);
}

bool write_page(int file, std::uint64_t page, std::size_t bytes, std::uint64_t offset) {
  return pwrite(file, bytes_at(page), bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

} // namespace

// The file cannot shrink: a process that has mapped it would get SIGBUS.
SharedPages::SharedPages(const std::array<AddressRange, 2>& ranges)
    : ranges_(ranges), file_(memfd_create(kName, MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  const std::uint64_t size = ranges[0].size() + ranges[1].size();
  if (file_ < 0 || (is_allowed(size) && ftruncate(file_, static_cast<off_t>(size)) == 0 &&
                    fcntl(file_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) == 0))
    return;
  close(file_);
  file_ = -1;
}

SharedPages::~SharedPages() {
  if (file_ >= 0) close(file_);
}

std::uint64_t SharedPages::offset_of(std::uint64_t address) const {
  const bool low = address >= ranges_[0].begin && address < ranges_[0].end;
  return low ? address - ranges_[0].begin : ranges_[0].size() + (address - ranges_[1].begin);
}

bool SharedPages::move(std::uint64_t begin, std::uint64_t end) {
  const std::size_t bytes = system_page_bytes();
  const std::uint64_t offset = offset_of(begin);
  // What an earlier owner of these pages has left there.
  if (fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                static_cast<off_t>(end - begin)) != 0)
    return false;
  for (std::uint64_t page = begin; page < end; page += bytes)
    if (!is_zero(page, bytes) && !write_page(file_, page, bytes, offset + (page - begin))) return false;
  return mmap(bytes_at(begin), end - begin, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_,
              static_cast<off_t>(offset)) != MAP_FAILED;
}

bool SharedPages::share(std::uint64_t begin, std::uint64_t end) {
  if (file_ < 0) return false;
  const std::uint64_t page = system_page_bytes();
  begin = begin / page * page;
  end = (end + page - 1) / page * page;
  while (begin < end) {
    const auto after = shared_.upper_bound(begin);
    if (after != shared_.begin() && std::prev(after)->second > begin) { // already
      begin = std::prev(after)->second;
      continue;
    }
    const std::uint64_t until = after == shared_.end() ? end : std::min(end, after->first);
    if (!move(begin, until)) return false;
    shared_[begin] = until;
    begin = until;
  }
  return true;
}

void SharedPages::drop(std::uint64_t begin, std::uint64_t end) {
  auto at = shared_.upper_bound(begin);
  if (at != shared_.begin()) --at;
  while (at != shared_.end() && at->first < end) {
    const auto [first, last] = *at;
    const std::uint64_t from = std::max(first, begin), until = std::min(last, end);
    if (from >= until) {
      ++at;
      continue;
    }
    (void)mmap(bytes_at(from), until - from, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    at = shared_.erase(at);
    if (first < from) shared_[first] = from;
    if (until < last) at = shared_.emplace(until, last).first;
  }
}

} // namespace warplens::exec
