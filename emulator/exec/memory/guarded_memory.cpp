// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/memory/guarded_memory.hpp"

#include "emulator/base/checked.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

namespace warplens::exec {

namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kLargestKept = std::size_t{16} << 20, kMostKept = std::size_t{64} << 20;

// Unused memory blocks, by the logarithm of their size; all sizes are powers of two.
class Rooms {
public:
  static Rooms& instance() {
    static Rooms& rooms = *new Rooms; // never destroyed: threads may still run kernels when the process ends
    return rooms;
  }
  /// nullptr if there is none.
  std::byte* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    std::vector<std::byte*>& list = list_of(bytes);
    if (list.empty()) return nullptr;
    std::byte* const room = list.back();
    list.pop_back();
    kept_ -= bytes;
    return room;
  }
  /// False if enough are kept.
  bool give(std::byte* room, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes > kLargestKept || kept_ > kMostKept - bytes) return false;
    list_of(bytes).push_back(room);
    kept_ += bytes;
    return true;
  }

private:
  std::vector<std::byte*>& list_of(std::size_t bytes) {
    return free_[static_cast<std::size_t>(std::countr_zero(bytes))];
  }
  std::mutex mutex_;
  std::array<std::vector<std::byte*>, 64> free_;
  std::size_t kept_ = 0;
};

std::byte* new_room(std::size_t bytes) {
  const std::size_t guard = system_page_bytes();
  const std::optional<std::size_t> whole = (Checked(bytes) + 2 * guard).as<std::size_t>();
  void* const p =
      whole ? mmap(nullptr, *whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) : MAP_FAILED;
  if (p == MAP_FAILED) throw std::bad_alloc();
  auto* const room = static_cast<std::byte*>(p) + guard;
  if (mprotect(room, bytes, PROT_READ | PROT_WRITE) == 0) return room;
  munmap(p, *whole);
  throw std::bad_alloc();
}

} // namespace

std::size_t system_page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void GiveBackAligned::operator()(std::byte*) const {
  const std::size_t guard = system_page_bytes();
  if (!Rooms::instance().give(room, room_bytes)) munmap(room - guard, room_bytes + 2 * guard);
}

AlignedBytes aligned_bytes(std::size_t size) {
  const std::optional<std::uint64_t> used = Checked(std::max<std::size_t>(size, 1)).aligned(kAlignment).value();
  if (!used || *used > std::size_t{1} << 62) throw std::bad_alloc();
  const std::size_t page = system_page_bytes();
  // Blocks that are too large to be kept need no common size.
  const std::size_t bytes = *used > kLargestKept ? Checked(*used).aligned(page).saturated()
                                                 : std::max(page, std::bit_ceil(static_cast<std::size_t>(*used)));
  std::byte* room = *used > kLargestKept ? nullptr : Rooms::instance().take(bytes);
  if (room != nullptr)
    std::memset(room + bytes - *used, 0, *used);
  else
    room = new_room(bytes);
  return {room + bytes - *used, GiveBackAligned{room, bytes}}; // ends at the guard
}

} // namespace warplens::exec
