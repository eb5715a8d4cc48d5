// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/import.hpp"

#include "api/session/limits.hpp"
#include "runtime/driver/machine/serve.hpp"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace warplens::runtime {

namespace {

/// Begins at the same place of a page of the device as in the other process, and at the same address in each run.
void* map(int file, std::uint64_t offset, std::uint64_t size) {
  static std::uint64_t hint = 0x3000'0000'0000; // Imports::mutex_ is held
  const std::uint64_t place = hint + offset % exec::kPageBytes;
  hint += (offset % exec::kPageBytes + size + 2 * exec::kPageBytes - 1) / exec::kPageBytes * exec::kPageBytes;
  return mmap(reinterpret_cast<void*>(place), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file,
              static_cast<off_t>(offset));
}

} // namespace

struct Imports::Import {
  Import(void* mapped, std::uint64_t size, const Ticket& handle, const Context& of)
      : at(mapped), bytes(size), ticket(handle), context(&of) {}
  ~Import() { munmap(at, bytes); }
  Import(const Import&) = delete;
  Import& operator=(const Import&) = delete;
  void* at;
  std::uint64_t bytes; ///< whole pages
  Ticket ticket;
  const Context* context;
  unsigned uses = 1;
};

Imports& Imports::instance() {
  static Imports& imports = *new Imports; // never destroyed, like the machine
  return imports;
}

std::uint64_t Imports::open(const Ticket& ticket, Context& context) {
  const std::lock_guard lock(mutex_);
  std::erase_if(imports_, [](const auto& entry) { return entry.second.expired(); });
  for (const auto& [address, weak] : imports_) { // also if the other process has freed it since
    const std::shared_ptr<Import> import = weak.lock();
    if (!import || std::memcmp(&import->ticket, &ticket, sizeof ticket) != 0) continue;
    require(import->context == &context, CUDA_ERROR_INVALID_HANDLE,
            [] { return "another context of this process has opened the memory"; });
    ++import->uses;
    return address;
  }
  const std::shared_ptr<Shared> shared = Shared::open(ticket, SharedKind::memory, CUDA_ERROR_INVALID_VALUE);
  // The other process may change the entry at any time.
  const std::uint64_t offset = (*shared)->offset, size = (*shared)->size;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t first = offset / page * page;
  const Checked end = (Checked(offset) + size).aligned(page);
  require(size != 0 && end.valid(), CUDA_ERROR_INVALID_HANDLE);
  const int file = open_file_of(ticket.process, (*shared)->file, exec::SharedPages::kName, end.saturated());
  require(file >= 0, CUDA_ERROR_INVALID_HANDLE);
  const std::uint64_t bytes = end.saturated() - first;
  void* const at = map(file, first, bytes);
  ::close(file);
  require(at != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
  const auto import = std::make_shared<Import>(at, bytes, ticket, context);
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(at) + (offset - first);
  imports_[address] = import;
  Machine::instance().memory().add(
      {Allocation::Kind::imported, address, size, 0, 0, &context, nullptr, false, shared, import});
  return address;
}

void Imports::close(std::uint64_t address) {
  Memory& memory = Machine::instance().memory();
  const std::optional<Allocation> found = memory.find(address);
  require(found && found->begin == address && found->kind == Allocation::Kind::imported);
  {
    const std::lock_guard lock(mutex_);
    const auto import = imports_.find(address);
    const std::shared_ptr<Import> open = import == imports_.end() ? nullptr : import->second.lock();
    require(open != nullptr && open->uses != 0);
    if (--open->uses != 0) return;
    imports_.erase(import);
  }
  if (Context* const owner = context_of(Address{address})) owner->synchronize();
  require(memory.free(address, Allocation::Kind::imported));
}

} // namespace warplens::runtime
