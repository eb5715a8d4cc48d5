// SPDX-License-Identifier: Apache-2.0
#include "api/plan/launch_tensor_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace warplens::api {

namespace {

constexpr std::string_view kKeys[] = {"buffer",  "type", "size",  "stride", "box",       "step",     "interleave",
                                      "swizzle", "fill", "lower", "upper",  "promotion", "channels", "pixels"};

// Names of types, in the order of exec::TensorMap::Type.
constexpr std::string_view kElementTypes[] = {"u8",  "u16", "u32",  "s32",     "u64",  "s64",     "f16",
                                              "f32", "f64", "bf16", "f32.ftz", "tf32", "tf32.ftz"};

class MapTable {
public:
  MapTable(const toml::table& table, const LaunchFileComplaint& complain) : table_(table), complain_(complain) {}

  [[nodiscard]] const toml::node* find(std::string_view key) const { return table_.get(key); }

  std::string word(std::string_view key) {
    const toml::node* const node = find(key);
    if (node == nullptr) return {};
    if (const auto* value = node->as_string()) return value->get();
    complain_(node->source(), fmt::format("expected a string as '{}'", key));
    return {};
  }
  // A number, or up to so many; of a missing key, none.
  template <class T, std::size_t most> std::size_t numbers(std::string_view key, std::array<T, most>& to) {
    const toml::node* const node = find(key);
    if (node == nullptr) return 0;
    const toml::array* const list = node->as_array();
    const std::size_t count = list == nullptr ? 1 : list->size();
    if (count == 0 || count > most) {
      complain_(node->source(), fmt::format("'{}' has {} numbers: expected 1 to {}", key, count, most));
      return 0;
    }
    for (std::size_t i = 0; i < count; ++i) to[i] = number<T>(list == nullptr ? *node : *list->get(i), key);
    return count;
  }
  // A number of bytes as the enumeration counts it: 0, then `first` and its doubles.
  int doubling(std::string_view key, std::int64_t first) {
    std::array<std::int64_t, 1> bytes{0};
    if (numbers(key, bytes) == 0 || bytes[0] == 0) return 0;
    int n = 1;
    for (std::int64_t value = first; value < bytes[0] && n < 4; value *= 2) ++n;
    if (first << (n - 1) != bytes[0])
      complain_(find(key)->source(),
                fmt::format("'{}' is {}: expected 0, {}, {} and so on", key, bytes[0], first, 2 * first));
    return n;
  }

private:
  template <class T> T number(const toml::node& node, std::string_view key) {
    const auto* const value = node.as_integer();
    const std::int64_t n = value == nullptr ? 0 : value->get();
    const bool fits = std::is_signed_v<T> ? n >= std::int64_t{std::numeric_limits<std::int32_t>::min()} &&
                                                n <= std::int64_t{std::numeric_limits<std::int32_t>::max()}
                                          : n >= 0 && (sizeof(T) == 8 || n <= std::int64_t{0xffffffff});
    if (value == nullptr || !fits) complain_(node.source(), fmt::format("'{}' has a wrong number", key));
    return static_cast<T>(n);
  }

  const toml::table& table_;
  const LaunchFileComplaint& complain_;
};

} // namespace

std::span<const std::string_view> tensor_map_keys() { return kKeys; }

TensorMapPlan read_tensor_map(const toml::table& table, std::string name, const LaunchFileComplaint& complain) {
  MapTable t(table, complain);
  TensorMapPlan plan;
  plan.name = std::move(name);
  for (const std::string_view key : {"buffer", "size"})
    if (t.find(key) == nullptr)
      complain(table.source(), fmt::format("tensor map '{}': missing key '{}'", plan.name, key));
  plan.buffer = t.word("buffer");
  TensorMapRequest& r = plan.request;
  if (const std::string type = t.word("type"); !type.empty()) {
    const auto* const found = std::find(std::begin(kElementTypes), std::end(kElementTypes), type);
    if (found == std::end(kElementTypes))
      complain(t.find("type")->source(), fmt::format("a tensor cannot have elements of type '{}'", type));
    r.type = found - std::begin(kElementTypes);
    plan.typed = true;
  }
  r.rank = static_cast<std::int64_t>(t.numbers("size", r.sizes));
  plan.strides = t.numbers("stride", r.strides);
  t.numbers("step", r.steps);
  t.numbers("box", r.box);
  r.interleave = t.doubling("interleave", 16);
  r.swizzle = t.doubling("swizzle", 32);
  r.promotion = t.doubling("promotion", 64);
  if (const std::string fill = t.word("fill"); !fill.empty() && fill != "zero") {
    if (fill != "nan") complain(t.find("fill")->source(), fmt::format("'fill' is '{}': expected zero or nan", fill));
    r.fill = 1;
  }
  if (t.find("pixels") == nullptr) return plan;
  r.kind = TensorMapRequest::Kind::im2col;
  t.numbers("lower", r.lower);
  t.numbers("upper", r.upper);
  std::array<std::uint32_t, 1> one{};
  if (t.numbers("pixels", one) != 0) r.pixels = one[0];
  if (t.numbers("channels", one) != 0) r.channels = one[0];
  return plan;
}

Expected<exec::TensorMap> made(const TensorMapPlan& plan, std::uint64_t address, Type type_of_buffer) {
  TensorMapRequest r = plan.request;
  r.address = address;
  if (!plan.typed) {
    std::string name(isa::name(type_of_buffer));
    if (name[0] == 'b' || name == "s8" || name == "s16") name[0] = 'u'; // no such types; copies do not look at signs
    const auto* const found = std::find(std::begin(kElementTypes), std::end(kElementTypes), name);
    if (found == std::end(kElementTypes)) return failure(fmt::format("a tensor cannot have elements of type {}", name));
    r.type = found - std::begin(kElementTypes);
  }
  // Rows that follow each other.
  exec::TensorMap element;
  element.type = static_cast<exec::TensorMap::Type>(r.type);
  std::uint64_t bytes = static_cast<std::uint64_t>(element.element_bits()) / 8;
  for (std::size_t d = 0; d + 1 < static_cast<std::size_t>(r.rank); ++d) {
    if (r.sizes[d] > (std::uint64_t{1} << 32)) break; // refused below
    bytes = d < plan.strides ? r.strides[d] : bytes * r.sizes[d];
    r.strides[d] = bytes;
  }
  Expected<exec::TensorMap> map = make_tensor_map(r);
  if (!map) return failure(fmt::format("tensor map '{}': {}", plan.name, map.error().list().front().message));
  return map;
}

} // namespace warplens::api
