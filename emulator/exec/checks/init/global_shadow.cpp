// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/init/global_shadow.hpp"

#include "emulator/exec/checks/init/bits.hpp"

#include <algorithm>

namespace warplens::exec::init {

GlobalShadow::GlobalShadow() : all_(new Page), nothing_(new Chunk) {
  std::fill(std::begin(all_->bits), std::end(all_->bits), ~std::uint64_t{0});
  all_->left = kPageBytes;
  nothing_->pages.fill(all_.get());
}

GlobalShadow::~GlobalShadow() {
  for (auto& [number, chunk] : chunks_) {
    if (chunk == nothing_.get()) continue;
    for (const Page* page : chunk->pages)
      if (page != all_.get()) delete page;
    delete chunk;
  }
}

GlobalShadow::Chunk* GlobalShadow::find(std::uint64_t number) const {
  const auto known = chunks_.find(number);
  return known == chunks_.end() ? nullptr : known->second;
}

bool GlobalShadow::any_in(const Page& page, std::uint64_t first, std::uint64_t count) {
  return any_bit(page.bits, first, count);
}

GlobalShadow::Chunk& GlobalShadow::own(std::uint64_t number) {
  const Found& found = found_[number % found_.size()];
  if (found.number == number && found.chunk != nullptr && found.chunk != nothing_.get()) return *found.chunk;
  Chunk*& chunk = chunks_[number];
  if (chunk == nullptr)
    chunk = new Chunk;
  else if (chunk == nothing_.get())
    chunk = new Chunk(*nothing_);
  found_[number % found_.size()] = {number, chunk};
  return *chunk;
}

void GlobalShadow::release(Page*& page, Page* instead) {
  if (page != nullptr && page != all_.get()) {
    delete page;
    --pages_;
  }
  page = instead;
}

void GlobalShadow::write_in_page(std::uint64_t address, std::uint64_t bytes) {
  Page*& page = own(address / kChunkBytes).pages[address % kChunkBytes / kPageBytes];
  if (page == nullptr) return;
  if (bytes == kPageBytes) return release(page, nullptr);
  if (page == all_.get()) {
    page = new Page(*all_);
    ++pages_;
  }
  page->left -= clear_bits(page->bits, address % kPageBytes, bytes);
  if (page->left == 0) release(page, nullptr);
}

void GlobalShadow::fresh_in_page(std::uint64_t address, std::uint64_t bytes) {
  Page*& page = own(address / kChunkBytes).pages[address % kChunkBytes / kPageBytes];
  if (page == all_.get()) return;
  if (bytes == kPageBytes) return release(page, all_.get());
  if (page == nullptr) {
    page = new Page{};
    ++pages_;
  }
  page->left += set_bits(page->bits, address % kPageBytes, bytes);
  if (page->left == kPageBytes) release(page, all_.get());
}

// All pages of a chunk get the same state.
void GlobalShadow::drop(std::uint64_t number, Chunk* instead) {
  Chunk*& chunk = chunks_[number];
  if (chunk != nullptr && chunk != nothing_.get()) {
    for (Page*& page : chunk->pages) release(page, nullptr);
    delete chunk;
  }
  chunk = instead;
  found_[number % found_.size()] = {number, instead};
}

void GlobalShadow::fresh(std::uint64_t address, std::uint64_t bytes) {
  while (bytes != 0) {
    if (address % kChunkBytes == 0 && bytes >= kChunkBytes) {
      drop(address / kChunkBytes, nothing_.get());
      address += kChunkBytes;
      bytes -= kChunkBytes;
      continue;
    }
    const std::uint64_t here = std::min(bytes, kPageBytes - address % kPageBytes);
    fresh_in_page(address, here);
    address += here;
    bytes -= here;
  }
}

std::vector<GlobalShadow::Range> GlobalShadow::unwritten_ranges(std::uint64_t address, std::uint64_t bytes) {
  std::vector<Range> list;
  const auto add = [&](std::uint64_t begin, std::uint64_t count) {
    if (!list.empty() && list.back().begin + list.back().bytes == begin)
      list.back().bytes += count;
    else
      list.push_back({begin, count});
  };
  while (bytes != 0) {
    const std::uint64_t at = address % kPageBytes, here = std::min(bytes, kPageBytes - at);
    if (const Page* const p = page(address); p == all_.get())
      add(address, here);
    else if (p != nullptr && any_bit(p->bits, at, here))
      for (std::uint64_t i = 0; i < here; ++i)
        if (bit(p->bits, at + i)) add(address + i, 1);
    address += here;
    bytes -= here;
  }
  return list;
}

void GlobalShadow::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  const std::vector<Range> ranges = unwritten_ranges(from, bytes);
  write(to, bytes);
  for (const Range& r : ranges) fresh(to + (r.begin - from), r.bytes);
}

} // namespace warplens::exec::init
