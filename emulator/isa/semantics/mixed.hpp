// Mixed precision, f16 or bf16 with f32 (PTX manual, section 9.7.5), and pairs of f32 (9.7.3).
#pragma once

#include "emulator/isa/semantics/half.hpp"

namespace warplens::isa::WARPLENS_LEVEL {

template <Form f> struct AddMixed { // 9.7.5.1: a is widened
  static constexpr Rounding rounding = rounding_of(f);
  static float lane(std::uint16_t a, float c) { return output<f>(widened_value<f.type(1)>(a) + c); }
};

template <Form f> struct SubtractMixed { // 9.7.5.2
  static constexpr Rounding rounding = rounding_of(f);
  static float lane(std::uint16_t a, float c) { return output<f>(widened_value<f.type(1)>(a) - c); }
};

template <Form f> struct FusedMultiplyAddMixed { // 9.7.5.3: a and b are widened
  static constexpr Rounding rounding = rounding_of(f);
  static float lane(std::uint16_t a, std::uint16_t b, float c) {
    return output<f>(fused(widened_value<f.type(1)>(a), widened_value<f.type(1)>(b), c));
  }
};

// ---- f32x2: the instruction for f32 on each half

constexpr Form of_single(Form f) {
  for (int i = 0; i < f.count; ++i)
    if (f.words[i] == word_of(Type::f32x2)) f.words[i] = word_of(Type::f32);
  return f;
}
inline float lower_single(std::uint64_t x) { return std::bit_cast<float>(static_cast<std::uint32_t>(x)); }
inline float upper_single(std::uint64_t x) { return std::bit_cast<float>(static_cast<std::uint32_t>(x >> 32)); }
inline std::uint64_t both_singles(float upper, float lower) {
  return static_cast<std::uint64_t>(bits_of(upper)) << 32 | bits_of(lower);
}

template <class One> struct EachSingle {
  static constexpr Rounding rounding = One::rounding;
  static std::uint64_t lane(std::uint64_t a, std::uint64_t b) {
    return both_singles(One::lane(upper_single(a), upper_single(b)), One::lane(lower_single(a), lower_single(b)));
  }
};
template <Form f> struct AddSinglePair : EachSingle<AddFloat<of_single(f)>> {};
template <Form f> struct SubtractSinglePair : EachSingle<SubtractFloat<of_single(f)>> {};
template <Form f> struct MultiplySinglePair : EachSingle<MultiplyFloat<of_single(f)>> {};

template <Form f> struct FusedMultiplyAddSinglePair {
  using One = FusedMultiplyAdd<of_single(f)>;
  static constexpr Rounding rounding = One::rounding;
  static std::uint64_t lane(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    return both_singles(One::lane(upper_single(a), upper_single(b), upper_single(c)),
                        One::lane(lower_single(a), lower_single(b), lower_single(c)));
  }
};

} // namespace warplens::isa::WARPLENS_LEVEL
