// SPDX-License-Identifier: Apache-2.0
#include "emulator/isa/matrix_work.hpp"

#include <array>

namespace warplens::isa {

namespace {

struct Shape {
  std::uint64_t m = 0, n = 0, k = 0;
};

// "m16n8k16"; all 0 for other words.
Shape shape_of(std::string_view word) {
  Shape shape;
  std::uint64_t* number = nullptr;
  if (word.size() < 6 || word[0] != 'm') return {};
  for (const char c : word) {
    if (c >= '0' && c <= '9') {
      if (number == nullptr) return {};
      *number = 10 * *number + static_cast<std::uint64_t>(c - '0');
    } else if (c == 'm' || c == 'n' || c == 'k') {
      number = c == 'm' ? &shape.m : c == 'n' ? &shape.n : &shape.k;
    } else {
      return {};
    }
  }
  return shape;
}

bool is_element(std::string_view word) {
  constexpr std::string_view kNames[] = {"f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2", "s8",
                                         "u8",  "s4",   "u4",   "b1",  "s32", "e3m2", "e2m3", "e2m1"};
  for (const std::string_view name : kNames)
    if (name == word) return true;
  return false;
}

} // namespace

std::string_view matrix_rate(std::string_view type, bool half_sums) {
  struct Rate {
    std::string_view type, name;
  };
  constexpr Rate kRates[] = {{"f16", "half"}, {"bf16", "bfloat16"}, {"tf32", "tf32"}, {"f64", "double"},
                             {"e4m3", "fp8"}, {"e5m2", "fp8"},      {"e3m2", "fp8"},  {"e2m3", "fp8"},
                             {"e2m1", "fp4"}, {"s8", "int8"},       {"u8", "int8"},   {"s4", "int4"},
                             {"u4", "int4"},  {"b1", "binary"}};
  if (type == "f16" && half_sums) return "half_sums";
  for (const Rate& rate : kRates)
    if (rate.type == type) return rate.name;
  return {};
}

MatrixWork matrix_work(std::string_view spelling) {
  const bool group = spelling.starts_with("wgmma.mma_async."), wmma = spelling.starts_with("wmma.mma.");
  if (!group && !wmma && !spelling.starts_with("mma.")) return {};
  Shape shape;
  std::array<std::string_view, 4> types; // D, A, B, C
  std::size_t count = 0;
  bool sparse = false;
  while (!spelling.empty()) {
    const std::size_t dot = spelling.find('.');
    const std::string_view word = spelling.substr(0, dot);
    spelling.remove_prefix(dot == std::string_view::npos ? spelling.size() : dot + 1);
    if (const Shape s = shape_of(word); s.k != 0) shape = s;
    sparse = sparse || word == "sp" || word == "sp::ordered_metadata";
    if (is_element(word) && count < types.size()) types[count++] = word;
  }
  if (shape.k == 0 || count < 2) return {};
  constexpr std::uint64_t kWarpsOfGroup = 4, kQuads = 4;
  const std::string_view type = count == 2 ? "f16" : types[1]; // wmma's forms of halves name only D and C
  std::uint64_t all = shape.m * shape.n * shape.k;
  if (sparse) all /= 2;
  if (group) all /= kWarpsOfGroup;
  if (!wmma && shape.m == 8 && shape.k == 4 && type == "f16") all *= kQuads;
  return {all, type, types[0] == "f16"};
}

} // namespace warplens::isa
