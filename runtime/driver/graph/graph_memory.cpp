// SPDX-License-Identifier: Apache-2.0
// Memory of graphs.
#include "runtime/driver/graph/graph.hpp"

#include <set>

namespace warplens::runtime {

namespace {

/// The addresses that launches have allocated and that are not freed.
struct InUse {
  std::mutex mutex;
  std::set<CUdeviceptr> addresses;
};
InUse& in_use() {
  static InUse& instance = *new InUse;
  return instance;
}

Memory& table() { return Machine::instance().memory(); }

bool is_named(CUdeviceptr address) {
  const std::optional<Allocation> found = table().find(address);
  return found && found->begin == address;
}

} // namespace

ReservedMemory::ReservedMemory(std::shared_ptr<api::Buffer> buffer) : buffer_(std::move(buffer)) {
  if (!is_named(buffer_->address())) add(); // captured cuMemAllocAsync() has already added its memory
}

ReservedMemory::~ReservedMemory() {
  const std::lock_guard lock(in_use().mutex);
  if (!in_use().addresses.contains(buffer_->address())) table().free(buffer_->address(), Allocation::Kind::pool);
}

void ReservedMemory::add() const {
  Allocation allocation;
  allocation.kind = Allocation::Kind::pool;
  allocation.begin = buffer_->address();
  allocation.size = buffer_->bytes().size();
  allocation.buffer = buffer_;
  table().add(std::move(allocation));
}

bool ReservedMemory::take() {
  const std::lock_guard lock(in_use().mutex);
  const bool was_freed_by_the_program = !is_named(buffer_->address());
  if (was_freed_by_the_program) add();
  return in_use().addresses.insert(buffer_->address()).second || was_freed_by_the_program;
}

bool ReservedMemory::release(CUdeviceptr address) {
  const std::lock_guard lock(in_use().mutex);
  return in_use().addresses.erase(address) != 0;
}

} // namespace warplens::runtime
