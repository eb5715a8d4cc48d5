// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/grid/changes.hpp"

#include "emulator/base/archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace warplens::exec {

namespace {

constexpr std::size_t kLine = 64;
static_assert(std::tuple_size_v<ByteMask> * kLine == kHostPageBytes);

std::byte* memory_at(std::uint64_t address) { return reinterpret_cast<std::byte*>(address); }

/// A bit for each of 8 bytes that differ.
std::uint64_t differing(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a ^ b;
  x |= x >> 4;
  x |= x >> 2;
  x |= x >> 1;
  return ((x & 0x0101'0101'0101'0101u) * 0x0102'0408'1020'4080u) >> 56;
}

ByteMask differing(const std::byte* before, const std::byte* now) {
  ByteMask mask{};
  for (std::size_t line = 0; line < mask.size(); ++line, before += kLine, now += kLine) {
    if (std::memcmp(before, now, kLine) == 0) continue;
    for (std::size_t i = 0; i < kLine; i += 8) {
      std::uint64_t a = 0, b = 0;
      std::memcpy(&a, before + i, 8);
      std::memcpy(&b, now + i, 8);
      mask[line] |= differing(a, b) << i;
    }
  }
  return mask;
}

bool any(const ByteMask& mask) {
  return std::any_of(mask.begin(), mask.end(), [](std::uint64_t line) { return line != 0; });
}

bool has(const ByteMask& mask, std::size_t byte) { return (mask[byte / kLine] >> byte % kLine & 1) != 0; }

/// The bits of a word of at most 8 bytes.
std::uint64_t bits_of(const ByteMask& mask, std::size_t byte, std::size_t bytes) {
  return mask[byte / kLine] >> byte % kLine & ((std::uint64_t{1} << bytes) - 1);
}

/// Calls visit(first byte, number of bytes) for each run in a line.
template <class Visit> void each_run(const ByteMask& mask, Visit&& visit) {
  for (std::size_t line = 0; line < mask.size(); ++line) {
    std::size_t at = 0;
    for (std::uint64_t rest = mask[line]; rest != 0;) {
      const auto skip = static_cast<std::size_t>(std::countr_zero(rest));
      rest >>= skip;
      const auto run = static_cast<std::size_t>(std::countr_one(rest));
      visit(line * kLine + at + skip, run);
      at += skip + run;
      rest = run == kLine ? 0 : rest >> run;
    }
  }
}

/// The changed bytes of a page, which lies at `page` or is to be filled.
void bytes_of(Archive& a, const ByteMask& mask, std::byte* page) {
  each_run(mask, [&](std::size_t first, std::size_t bytes) { a.bytes(page + first, bytes); });
}

/// Calls visit(address, before, mask, codes or null) for each page that differs.
template <class Visit> void each_changed(const WrittenPages& written, Visit&& visit) {
  written.each([&](std::uint64_t begin, std::uint64_t end, const std::byte* before, const std::uint8_t* reduced) {
    for (std::uint64_t at = begin; at < end; at += kHostPageBytes) {
      const std::byte* const old = before + (at - begin);
      const ByteMask mask = differing(old, memory_at(at));
      if (any(mask)) visit(at, old, mask, reduced == nullptr ? nullptr : reduced + (at - begin) / 4);
    }
  });
}

} // namespace

/// Of a page.
struct Combination::Changes {
  ByteMask mask{};
  bool reduces = false; ///< some of `reduced` are not 0
  std::array<std::uint8_t, kWords> reduced{};
  std::array<std::byte, kHostPageBytes> bytes{}; ///< those of the mask
};

Bytes changes_of(const WrittenPages& written) {
  Archive a;
  each_changed(written, [&](std::uint64_t address, const std::byte*, const ByteMask& mask, const std::uint8_t* codes) {
    ByteMask copy = mask;
    bool reduces = codes != nullptr;
    a(address, copy, reduces);
    if (reduces) a.bytes(const_cast<std::uint8_t*>(codes), kHostPageBytes / 4);
    bytes_of(a, mask, memory_at(address));
  });
  return a.take();
}

Combination::Combination(const WrittenPages& written) {
  each_changed(written,
               [&](std::uint64_t address, const std::byte* before, const ByteMask& mask, const std::uint8_t* codes) {
                 Page& page = pages_[address];
                 page.before = before;
                 page.changed = mask;
                 if (codes != nullptr) std::copy_n(codes, kWords, page.reduced.begin());
               });
}

void Combination::add(const Bytes& changes) {
  Archive a(changes);
  Changes theirs;
  while (conflict_.empty() && a.good() && a.more()) {
    std::uint64_t address = 0;
    a(address, theirs.mask, theirs.reduces);
    if (theirs.reduces)
      a(theirs.reduced);
    else
      theirs.reduced.fill(0);
    bytes_of(a, theirs.mask, theirs.bytes.data());
    Page& page = pages_[address];
    if (page.before == nullptr) {
      page.copied.assign(memory_at(address), memory_at(address) + kHostPageBytes);
      page.before = page.copied.data();
    }
    add(address, page, theirs);
  }
}

void Combination::add(std::uint64_t address, Page& page, const Changes& theirs) {
  const bool reduced =
      theirs.reduces || std::any_of(page.reduced.begin(), page.reduced.end(), [](auto c) { return c; });
  bool fine = true;
  if (reduced) {
    for (std::size_t word = 0; fine && word < kWords; ++word) fine = add_word(address, page, theirs, word);
  } else {
    each_run(theirs.mask, [&](std::size_t first, std::size_t bytes) {
      std::byte* const to = memory_at(address + first);
      const std::byte* const from = theirs.bytes.data() + first;
      for (std::size_t i = 0; i < bytes; ++i) fine = fine && (!has(page.changed, first + i) || to[i] == from[i]);
      if (fine) std::memcpy(to, from, bytes);
    });
  }
  for (std::size_t line = 0; line < page.changed.size(); ++line) page.changed[line] |= theirs.mask[line];
  if (!fine && conflict_.empty())
    conflict_ = fmt::format("blocks write different values to one place, in the page at {:#x}", address);
}

/// False: it conflicts.
bool Combination::add_word(std::uint64_t address, Page& page, const Changes& theirs, std::size_t word) {
  const std::uint8_t ours = page.reduced[word], code = theirs.reduced[word];
  const std::size_t width = (code & kWide) != 0 ? 8 : 4, first = word * 4;
  if (width == 8 && word % 2 != 0) return true; // done with the word before
  const std::uint64_t mask = bits_of(theirs.mask, first, width), changed = bits_of(page.changed, first, width);
  if (mask == 0) return true;
  std::byte* const to = memory_at(address + first);
  std::uint64_t now = 0, before = 0;
  std::memcpy(&now, to, width);
  std::memcpy(&before, page.before + first, width);
  std::uint64_t after = before;
  for (std::size_t i = 0; i < width; ++i)
    if ((mask >> i & 1) != 0) std::memcpy(reinterpret_cast<std::byte*>(&after) + i, &theirs.bytes[first + i], 1);
  const bool commutes = code == ours && code != 0 && (code & (kWide - 1)) != static_cast<int>(Reduction::mixed);
  if (ours == 0 && changed == 0) {
    now = after;
    std::fill_n(&page.reduced[word], width / 4, code);
  } else if (commutes) {
    now = combined(code, before, now, after);
  } else if (code == 0 && ours == 0) { // stores of bytes
    for (std::size_t i = 0; i < width; ++i) {
      const std::uint64_t byte = std::uint64_t{0xff} << 8 * i;
      if ((mask >> i & 1) == 0) continue;
      if ((changed >> i & 1) != 0 && ((now ^ after) & byte) != 0) return false;
      now = (now & ~byte) | (after & byte);
    }
  } else {
    return false;
  }
  std::memcpy(to, &now, width);
  return true;
}

ChangedPages Combination::pages() const {
  ChangedPages result;
  for (const auto& [address, page] : pages_) result[address] = page.changed;
  return result;
}

Bytes contents_of(const ChangedPages& pages) {
  Archive a;
  for (const auto& [address, mask] : pages) {
    std::uint64_t at = address;
    ByteMask copy = mask;
    a(at, copy);
    bytes_of(a, mask, memory_at(at));
  }
  return a.take();
}

void take_over(const Bytes& contents) {
  Archive a(contents);
  while (a.good() && a.more()) {
    std::uint64_t address = 0;
    ByteMask mask{};
    a(address, mask);
    bytes_of(a, mask, memory_at(address));
  }
}

} // namespace warplens::exec
