// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/fatbin/specimens.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace warplens::fatbin {

Bytes specimen(std::string_view name) {
  std::ifstream in(std::string(WARPLENS_SOURCE_DIR "/tests/data/fatbin/").append(name), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (text.empty()) throw std::runtime_error("no specimen " + std::string(name));
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

Fenced::Fenced(std::span<const std::byte> bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t readable = (bytes.size() + page - 1) / page * page;
  mapped_ = readable + page;
  pages_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages_ == MAP_FAILED) throw std::runtime_error("mmap failed");
  auto* const fence = static_cast<std::byte*>(pages_) + readable;
  mprotect(fence, page, PROT_NONE);
  if (!bytes.empty()) std::memcpy(fence - bytes.size(), bytes.data(), bytes.size());
  bytes_ = {fence - bytes.size(), bytes.size()};
}

Fenced::~Fenced() { munmap(pages_, mapped_); }

} // namespace warplens::fatbin
