// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/grid/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
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

/// The bits of a word of at most 8 bytes.
std::uint64_t bits_of(const ByteMask& mask, std::size_t byte, std::size_t bytes) {
  return mask[byte / kLine] >> byte % kLine & ((std::uint64_t{1} << bytes) - 1);
}

/// A byte of ones for each of 8 bits.
constexpr std::array<std::uint64_t, 256> kBytesOfBits = [] {
  std::array<std::uint64_t, 256> table{};
  for (std::size_t bits = 0; bits < table.size(); ++bits)
    for (std::size_t i = 0; i < 8; ++i) table[bits] |= (bits >> i & 1) != 0 ? std::uint64_t{0xff} << 8 * i : 0;
  return table;
}();

/// Copies the bytes of the mask, by words of 8 bytes. False, and nothing more is copied, if a byte of `same` differs.
bool copy_line(std::byte* to, const std::byte* from, std::uint64_t mask, std::uint64_t same) {
  if (mask == ~std::uint64_t{0} && same == 0) {
    std::memcpy(to, from, kLine);
    return true;
  }
  for (std::size_t i = 0; i < kLine; i += 8, mask >>= 8, same >>= 8) {
    std::uint64_t old = 0, now = 0;
    std::memcpy(&old, to + i, 8);
    std::memcpy(&now, from + i, 8);
    if (((old ^ now) & kBytesOfBits[same & mask & 0xff]) != 0) return false;
    const std::uint64_t taken = kBytesOfBits[mask & 0xff];
    now = (now & taken) | (old & ~taken);
    std::memcpy(to + i, &now, 8);
  }
  return true;
}

/// Bytes that follow each other. A page is its address; its mask, unless the last bit of the address says that all of
/// its bytes have changed; and perhaps its lines with changed bytes.
constexpr std::uint64_t kWhole = 1;
constexpr ByteMask kAllBytes = [] {
  ByteMask all{};
  for (std::uint64_t& line : all) line = ~std::uint64_t{0};
  return all;
}();
void put(Bytes& out, const void* data, std::size_t size) {
  const auto* const from = static_cast<const std::byte*>(data);
  out.insert(out.end(), from, from + size);
}
void put_page(Bytes& out, std::uint64_t address, const ByteMask& mask, bool contents) {
  const bool whole = mask == kAllBytes;
  const std::uint64_t head = address | (whole ? kWhole : 0);
  put(out, &head, sizeof head);
  if (!whole) put(out, mask.data(), sizeof mask);
  if (contents && whole) return put(out, memory_at(address), kHostPageBytes);
  for (std::size_t line = 0; contents && line < mask.size(); ++line)
    if (mask[line] != 0) put(out, memory_at(address + line * kLine), kLine);
}

class Reader {
public:
  explicit Reader(const Bytes& bytes) : rest_(bytes) {}
  [[nodiscard]] bool more() const { return !rest_.empty(); }
  /// Null if fewer bytes are left.
  const std::byte* take(std::size_t size) {
    if (size > rest_.size()) {
      rest_ = {};
      return nullptr;
    }
    const std::byte* const at = rest_.data();
    rest_ = rest_.subspan(size);
    return at;
  }
  /// The head of a page. False if fewer bytes are left.
  bool get_page(std::uint64_t& address, ByteMask& mask) {
    if (!get(address)) return false;
    const bool whole = (address & kWhole) != 0;
    address &= ~kWhole;
    if (whole) mask = kAllBytes;
    return whole || get(mask);
  }

private:
  template <class T> bool get(T& value) {
    const std::byte* const from = take(sizeof value);
    if (from != nullptr) std::memcpy(&value, from, sizeof value);
    return from != nullptr;
  }
  std::span<const std::byte> rest_;
};

/// Calls visit(address, before, mask, codes or null) for each page that differs.
template <class Visit> void each_changed(const WrittenPages& written, Visit&& visit) {
  written.each([&](std::uint64_t page, const std::byte* before, const std::uint8_t* reduced) {
    const ByteMask mask = differing(before, memory_at(page));
    if (any(mask)) visit(page, before, mask, reduced);
  });
}

} // namespace

/// Of a page.
struct Combination::Changes {
  std::uint64_t address = 0;
  ByteMask mask{};
  const std::uint8_t* reduced = nullptr;                             ///< null: no word is
  std::array<const std::byte*, std::tuple_size_v<ByteMask>> lines{}; ///< with changed bytes
};

Bytes changes_of(const WrittenPages& written, bool reduces, bool contents) {
  Bytes out;
  std::size_t most = 0;
  written.each([&](std::uint64_t, const std::byte*, const std::uint8_t*) {
    most +=
        sizeof(std::uint64_t) + sizeof(ByteMask) + (contents ? kHostPageBytes : 0) + (reduces ? kHostPageBytes / 4 : 0);
  });
  out.reserve(most); // takes memory only where it is used
  each_changed(written, [&](std::uint64_t address, const std::byte*, const ByteMask& mask, const std::uint8_t* codes) {
    put_page(out, address, mask, contents);
    if (!reduces) return;
    static constexpr std::array<std::uint8_t, kHostPageBytes / 4> kNone{};
    put(out, codes != nullptr ? codes : kNone.data(), kNone.size());
  });
  return out;
}

Combination::~Combination() = default;

Combination::Combination(const WrittenPages& written, bool reduces) : reduces_(reduces) {
  each_changed(written,
               [&](std::uint64_t address, const std::byte* before, const ByteMask& mask, const std::uint8_t* codes) {
                 Page& page = pages_[address];
                 page.before = before;
                 page.changed = mask;
                 if (!reduces_) return;
                 page.reduced.resize(kWords);
                 if (codes != nullptr) std::copy_n(codes, kWords, page.reduced.begin());
               });
}

void Combination::add(const Bytes& changes, const PageSource& source) {
  constexpr std::size_t kAtOnce = 64; // pages: more would not stay in the processor's cache
  Reader reader(changes);
  std::vector<Changes>& some = some_;
  some.resize(kAtOnce);
  std::vector<std::uint64_t> addresses;
  Bytes& contents = contents_;
  if (source) contents.resize(kAtOnce * kHostPageBytes);
  while (conflict_.empty() && reader.more()) {
    addresses.clear();
    for (; addresses.size() < kAtOnce && reader.more(); addresses.push_back(some[addresses.size()].address)) {
      Changes& page = some[addresses.size()];
      if (!reader.get_page(page.address, page.mask)) return;
      for (std::size_t line = 0; !source && line < page.mask.size(); ++line)
        if (page.mask[line] != 0 && (page.lines[line] = reader.take(kLine)) == nullptr) return;
      if (!reduces_) continue;
      page.reduced = reinterpret_cast<const std::uint8_t*>(reader.take(kWords));
      if (page.reduced == nullptr) return;
    }
    if (source && !source(addresses, contents.data())) {
      conflict_ = "the memory of another rank cannot be read";
      return;
    }
    for (std::size_t i = 0; i < addresses.size() && conflict_.empty(); ++i) {
      for (std::size_t line = 0; source && line < some[i].lines.size(); ++line)
        some[i].lines[line] = contents.data() + i * kHostPageBytes + line * kLine;
      add(some[i]);
    }
  }
}

void Combination::add(const Changes& theirs) {
  Page& page = pages_[theirs.address];
  if (reduces_ && page.before == nullptr) {
    page.copied.assign(memory_at(theirs.address), memory_at(theirs.address) + kHostPageBytes);
    page.before = page.copied.data();
    page.reduced.resize(kWords);
  }
  add(theirs.address, page, theirs);
}

void Combination::add(std::uint64_t address, Page& page, const Changes& theirs) {
  bool fine = true;
  for (std::size_t word = 0; reduces_ && fine && word < kWords; ++word) fine = add_word(address, page, theirs, word);
  for (std::size_t line = 0; line < page.changed.size(); ++line) {
    if (!reduces_ && fine && theirs.mask[line] != 0)
      fine = copy_line(memory_at(address + line * kLine), theirs.lines[line], theirs.mask[line], page.changed[line]);
    page.changed[line] |= theirs.mask[line];
  }
  if (!fine) conflict_ = fmt::format("blocks write different values to one place, in the page at {:#x}", address);
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
    if ((mask >> i & 1) != 0)
      std::memcpy(reinterpret_cast<std::byte*>(&after) + i, theirs.lines[first / kLine] + first % kLine + i, 1);
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
  Bytes out;
  out.reserve(pages.size() * (sizeof(std::uint64_t) + sizeof(ByteMask) + kHostPageBytes));
  for (const auto& [address, mask] : pages) put_page(out, address, mask, true);
  return out;
}

void take_over(const Bytes& contents) {
  Reader reader(contents);
  while (reader.more()) {
    std::uint64_t address = 0;
    ByteMask mask{};
    if (!reader.get_page(address, mask)) return;
    for (std::size_t line = 0; line < mask.size(); ++line) {
      const std::byte* const from = mask[line] != 0 ? reader.take(kLine) : nullptr;
      if (from != nullptr) copy_line(memory_at(address + line * kLine), from, mask[line], 0);
    }
  }
}

} // namespace warplens::exec
