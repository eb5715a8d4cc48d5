// SPDX-License-Identifier: Apache-2.0
// Numbers keys in the order of their first occurrence: a compact open-addressing hash table without deletion. Data of a
// key can be stored in a vector indexed by its number.
//
//   KeyIndex<std::uint64_t> lines;
//   lines.of(4711) == KeyIndex<std::uint64_t>::Found{0, true};    // the first, and new
//   lines.of(4711) == KeyIndex<std::uint64_t>::Found{0, false};
//   lines.find(4712) == std::nullopt;
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace warplens::analyzers {

/// Spreads a key over 64 bits; other key types define their own overload.
inline std::uint64_t hash_of(std::uint64_t key) { return key * 0x9e3779b97f4a7c15u; }

template <class Key> class KeyIndex {
public:
  struct Found {
    std::uint32_t number;
    bool is_new;
    friend bool operator==(const Found&, const Found&) = default;
  };

  KeyIndex() : slots_(kFirst) {}

  Found of(const Key& key) {
    if (2 * (keys_.size() + 1) > slots_.size()) grow();
    std::uint32_t& slot = slots_[place_of(key)];
    if (slot != 0) return {slot - 1, false};
    keys_.push_back(key);
    slot = static_cast<std::uint32_t>(keys_.size());
    return {slot - 1, true};
  }
  /// Fetches the place of a key that will be asked for soon.
  void expect(const Key& key) const { __builtin_prefetch(&slots_[start(key)]); }
  /// The number of a key that occurred.
  [[nodiscard]] std::optional<std::uint32_t> find(const Key& key) const {
    const std::uint32_t slot = slots_[place_of(key)];
    return slot == 0 ? std::nullopt : std::optional(slot - 1);
  }
  [[nodiscard]] std::size_t size() const { return keys_.size(); }
  /// Takes time proportional to the number of keys.
  void clear() {
    for (const Key& key : keys_) {
      // Earlier slots of its run may be cleared already, so clear every remaining slot of the run.
      for (std::size_t at = start(key); slots_[at] != 0; at = (at + 1) & (slots_.size() - 1)) slots_[at] = 0;
    }
    keys_.clear();
  }

private:
  static constexpr std::size_t kFirst = 256, kLarge = 4096; ///< large tables grow faster: their keys are far apart

  [[nodiscard]] std::size_t start(const Key& key) const { return hash_of(key) >> 32 & (slots_.size() - 1); }
  /// Of its slot, or of the free one for it.
  [[nodiscard]] std::size_t place_of(const Key& key) const {
    std::size_t at = start(key);
    while (slots_[at] != 0 && !(keys_[slots_[at] - 1] == key)) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    slots_.assign((slots_.size() < kLarge ? 2 : 8) * slots_.size(), 0);
    for (std::size_t i = 0; i < keys_.size(); ++i) slots_[place_of(keys_[i])] = static_cast<std::uint32_t>(i + 1);
  }

  std::vector<Key> keys_;
  std::vector<std::uint32_t> slots_; ///< number + 1; 0: free
};

} // namespace warplens::analyzers
