// SPDX-License-Identifier: Apache-2.0
// Turns values into bytes and back, for another process of the same build. A class lists its members once, for both
// directions:
//
//   struct Row { std::vector<int> counts; std::string name; void fields(Archive& a) { a(counts, name); } };
//   Archive out;       out(row);     std::vector<std::byte> bytes = out.take();
//   Archive in(bytes); in(copy);     in.good() && copy == row
//
// Values that can be copied as bytes need no fields(); they must contain no pointers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace warplens {

class Archive {
public:
  Archive() = default; ///< writes
  /// Reads; `bytes` must outlive it.
  explicit Archive(std::span<const std::byte> bytes) : reads_(true), rest_(bytes) {}

  [[nodiscard]] bool reads() const { return reads_; }
  /// False if something was missing, or cannot be written. What is missing keeps its value.
  [[nodiscard]] bool good() const { return good_; }
  void fail() { good_ = false; }
  /// Whether there are bytes to read.
  [[nodiscard]] bool more() const { return !rest_.empty(); }
  /// What was written.
  std::vector<std::byte> take() { return std::move(written_); }

  template <class... T> void operator()(T&... values) { (one(values), ...); }
  /// `size` bytes at `data`.
  void bytes(void* data, std::size_t size) {
    if (!reads_) {
      const auto* const from = static_cast<const std::byte*>(data);
      written_.insert(written_.end(), from, from + size);
    } else if (size > rest_.size()) {
      fail();
    } else if (size != 0) {
      std::memcpy(data, rest_.data(), size);
      rest_ = rest_.subspan(size);
    }
  }
  /// The number of elements that follow; at most as many as there are bytes.
  std::size_t size(std::size_t own) {
    std::uint64_t number = own;
    bytes(&number, sizeof number);
    if (reads_ && number > rest_.size()) {
      fail();
      return 0;
    }
    return number;
  }

private:
  template <class T> static constexpr bool kPlain = std::is_trivially_copyable_v<T>;
  template <class T> void one(T& value) {
    if constexpr (requires(Archive & a) { value.fields(a); })
      value.fields(*this);
    else if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t byte = value ? 1 : 0;
      bytes(&byte, 1);
      if (byte > 1) fail(); // no value of the type
      if (reads_ && good_) value = byte != 0;
    } else {
      static_assert(kPlain<T> && !std::is_pointer_v<T>, "the class needs fields()");
      bytes(&value, sizeof value);
    }
  }
  template <class T> void one(std::vector<T>& list) {
    const std::size_t number = size(list.size());
    if (reads_) list.resize(number);
    if constexpr (kPlain<T> && !requires(Archive & a, T & t) { t.fields(a); })
      bytes(list.data(), number * sizeof(T));
    else
      for (T& element : list) one(element);
  }
  void one(std::string& text) {
    const std::size_t number = size(text.size());
    if (reads_) text.resize(number);
    bytes(text.data(), number);
  }
  template <class T> void one(std::optional<T>& value) {
    bool any = value.has_value();
    one(any);
    if (reads_ && any && !value) value.emplace();
    if (any) one(*value);
  }
  template <class K, class V> void one(std::map<K, V>& map) {
    const std::size_t number = size(map.size());
    if (!reads_)
      for (auto& [key, value] : map) {
        K copy = key;
        (*this)(copy, value);
      }
    for (std::size_t i = 0; reads_ && good_ && i < number; ++i) {
      K key{};
      one(key);
      one(map[key]);
    }
  }

  bool reads_ = false, good_ = true;
  std::span<const std::byte> rest_;
  std::vector<std::byte> written_;
};

} // namespace warplens
