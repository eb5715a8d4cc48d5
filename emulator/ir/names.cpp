// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/names.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace warplens::ir {

namespace {

constexpr std::size_t kMaxCandidates = 4000;
constexpr std::size_t kMaxDigits = 8;
constexpr std::size_t kFewSlots = 64;

std::size_t hash(std::string_view name) {
  std::uint64_t value = name.size() * 0x9e3779b97f4a7c15u;
  const char* at = name.data();
  std::size_t left = name.size();
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    value = (value ^ word) * 0xff51afd7ed558ccdu;
    value ^= value >> 32;
  }
  std::uint64_t word = 0;
  std::memcpy(&word, at, left);
  value = (value ^ word) * 0xff51afd7ed558ccdu;
  return static_cast<std::size_t>(value ^ value >> 29);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The position where the digits at the end of `name` begin.
std::size_t digits_start(std::string_view name) {
  std::size_t start = name.size();
  while (start > 0 && is_digit(name[start - 1])) --start;
  return start;
}

std::uint32_t number_of(std::string_view digits) {
  std::uint32_t number = 0;
  for (const char c : digits) number = number * 10 + static_cast<std::uint32_t>(c - '0');
  return number;
}

} // namespace

std::size_t NameTable::place(std::string_view name) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = hash(name) & mask;
  while (!slots_[i].name.empty() && slots_[i].name != name) i = (i + 1) & mask;
  return i;
}

std::uint32_t& NameTable::operator[](std::string_view name) {
  if (used_ * 2 >= slots_.size()) grow();
  Slot& slot = slots_[place(name)];
  if (slot.name.empty()) {
    slot.name = name;
    ++used_;
  }
  return slot.value;
}

std::uint32_t NameTable::find(std::string_view name) const {
  return slots_.empty() ? kNone : slots_[place(name)].value;
}

void NameTable::clear() {
  // A small function after a large one does not keep the large table.
  if (slots_.size() > kFewSlots && used_ * 8 < slots_.size()) slots_ = {};
  std::fill(slots_.begin(), slots_.end(), Slot{});
  used_ = 0;
}

void NameTable::grow() {
  std::vector<Slot> old(std::max(kFewSlots, slots_.size() * 2));
  old.swap(slots_);
  for (const Slot& slot : old)
    if (!slot.name.empty()) slots_[place(slot.name)] = slot;
}

void Scopes::leave() {
  while (entries_.size() > starts_.back()) {
    const Entry& entry = entries_.back();
    if (const std::string_view prefix = numbered_prefix(entry); !prefix.empty()) numbered_[prefix] = entry.same_prefix;
    (entry.count != 0 ? ranges_ : names_)[entry.name] = entry.shadowed;
    entries_.pop_back();
  }
  starts_.pop_back();
}

void Scopes::clear() {
  names_.clear();
  ranges_.clear();
  numbered_.clear();
  entries_.clear();
  starts_.clear();
  mixed_ = false;
}

bool Scopes::add(NameTable& table, const Entry& entry) {
  std::uint32_t& head = table[entry.name];
  if (head != kNone && entries_[head].depth == entry.depth) return false;
  entries_.push_back(entry);
  entries_.back().shadowed = head;
  head = static_cast<std::uint32_t>(entries_.size() - 1);
  return true;
}

bool Scopes::declare(std::string_view name, Symbol symbol) {
  const auto depth = static_cast<std::uint32_t>(starts_.size());
  std::uint32_t number = 0;
  const Entry* range = range_of(name, number);
  if (range != nullptr && range->depth == depth) return false;
  if (!add(names_, {name, symbol, 0, depth, kNone, kNone})) return false;
  if (const std::string_view prefix = numbered_prefix(entries_.back()); !prefix.empty()) {
    mixed_ = mixed_ || ranges_.find(prefix) != kNone;
    entries_.back().same_prefix = std::exchange(numbered_[prefix], static_cast<std::uint32_t>(entries_.size() - 1));
  }
  return true;
}

/// The `a` of a single name such as a12; empty if it has no number.
std::string_view Scopes::numbered_prefix(const Entry& entry) {
  const std::size_t start = digits_start(entry.name);
  return entry.count != 0 || start == entry.name.size() ? std::string_view{} : entry.name.substr(0, start);
}

bool Scopes::declare_range(std::string_view prefix, std::uint32_t count, std::uint32_t first) {
  const auto depth = static_cast<std::uint32_t>(starts_.size());
  for (std::uint32_t i = numbered_.find(prefix); i != kNone && entries_[i].depth == depth;
       i = entries_[i].same_prefix) {
    const std::string_view digits = entries_[i].name.substr(prefix.size());
    if (digits.size() <= kMaxDigits && number_of(digits) < count) return false;
  }
  mixed_ = mixed_ || numbered_.find(prefix) != kNone;
  return add(ranges_, {prefix, {OperandKind::reg, first}, count, depth, kNone, kNone});
}

const Scopes::Entry* Scopes::range_of(std::string_view name, std::uint32_t& number) const {
  const std::size_t start = digits_start(name);
  if (start == name.size() || start == 0 || name.size() - start > kMaxDigits) return nullptr;
  number = number_of(name.substr(start));
  std::uint32_t i = ranges_.find(name.substr(0, start));
  while (i != kNone && entries_[i].count <= number) i = entries_[i].shadowed;
  return i == kNone ? nullptr : &entries_[i];
}

std::optional<Symbol> Scopes::find(std::string_view name) const {
  std::uint32_t number = 0;
  const Entry* range = range_of(name, number);
  if (range != nullptr && !mixed_) return Symbol{OperandKind::reg, range->symbol.index + number};
  const std::uint32_t single = names_.find(name);
  if (single != kNone && (range == nullptr || entries_[single].depth > range->depth)) return entries_[single].symbol;
  if (range == nullptr) return std::nullopt;
  return Symbol{OperandKind::reg, range->symbol.index + number};
}

std::uint32_t Scopes::range_like(std::string_view name) const {
  const std::uint32_t i = ranges_.find(name.substr(0, digits_start(name)));
  return i == kNone ? 0 : entries_[i].count;
}

std::vector<std::string> Scopes::candidates(std::string_view like) const {
  const std::string_view digits = like.substr(digits_start(like));
  std::vector<std::string> result;
  for (const Entry& entry : entries_) {
    if (result.size() == kMaxCandidates) break;
    std::string& name = result.emplace_back(entry.name);
    if (entry.count == 0) continue;
    const bool same = !digits.empty() && digits.size() <= kMaxDigits && number_of(digits) < entry.count;
    name += same ? std::string(digits) : std::to_string(entry.count - 1);
  }
  return result;
}

} // namespace warplens::ir
