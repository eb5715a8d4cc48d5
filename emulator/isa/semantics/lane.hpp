// SPDX-License-Identifier: Apache-2.0
// The building blocks of functors: the C++ type of a lane, two results, the rounding mode.
// Everything here is compiled once per x86 level, in that level's namespace.
#pragma once

#include "emulator/isa/pattern.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#if defined(__SSE2__)
#include <immintrin.h>
#else
#include <cfenv>
#endif

namespace warplens::isa::WARPLENS_LEVEL {

// Raw bits of 16-bit floats and packed pairs: functors unpack them.
template <Type t> struct LaneOf;
#define LANE(type, cpp)                                                                                                \
  template <> struct LaneOf<Type::type> { using T = cpp; };
// clang-format off
LANE(pred, bool)
LANE(b8, std::uint8_t) LANE(b16, std::uint16_t) LANE(b32, std::uint32_t) LANE(b64, std::uint64_t)
LANE(b128, unsigned __int128)
LANE(u8, std::uint8_t) LANE(u16, std::uint16_t) LANE(u32, std::uint32_t) LANE(u64, std::uint64_t)
LANE(s8, std::int8_t) LANE(s16, std::int16_t) LANE(s32, std::int32_t) LANE(s64, std::int64_t)
LANE(f32, float) LANE(f64, double) LANE(f16, std::uint16_t) LANE(bf16, std::uint16_t) LANE(tf32, std::uint32_t)
LANE(f16x2, std::uint32_t) LANE(bf16x2, std::uint32_t) LANE(u16x2, std::uint32_t) LANE(s16x2, std::uint32_t)
LANE(f32x2, std::uint64_t) LANE(u8x4, std::uint32_t) LANE(s8x4, std::uint32_t)
LANE(e4m3x2, std::uint16_t) LANE(e5m2x2, std::uint16_t) LANE(e2m3x2, std::uint16_t) LANE(e3m2x2, std::uint16_t)
LANE(e2m1x2, std::uint8_t) LANE(ue8m0x2, std::uint16_t) LANE(s2f6x2, std::uint16_t)
LANE(e4m3x4, std::uint32_t) LANE(e5m2x4, std::uint32_t) LANE(e2m3x4, std::uint32_t) LANE(e3m2x4, std::uint32_t)
// clang-format on
#undef LANE
                                        template <Type t>
                                        using Lane = typename LaneOf<t>::T;

// A functor may compute the lanes of a warp together if common steps make that faster:
//
//   template <Form f> struct Sine : ByRow<Sine<f>, float, float> { static void row(float* d, const float* a); };
//
// The destination may be a source: after writing a lane, `row` must not read that lane any more.
constexpr int kRowLanes = 32;
template <class F, class R, class... A> struct ByRow {
  static R lane(A... a) {
    R d[kRowLanes];
    F::row(d, Filled<A>(a).of...);
    return d[0];
  }

private:
  template <class T> struct Filled {
    T of[kRowLanes];
    explicit Filled(T value) {
      for (T& lane : of) lane = value;
    }
  };
};

// A functor on packed values may define the operation on one element. The loop then runs over the elements of all lanes
// as they are in memory, without unpacking:
//
//   template <Form f> struct AddParts : ByElement<AddParts<f>, std::uint32_t, std::uint32_t> { using Element = …; };
//
// `Packed` are the values of a lane, one of each source.
template <class F, class... Packed> struct ByElement {
  static auto lane(Packed... packed) {
    using Whole = std::common_type_t<Packed...>;
    using Elements = std::array<typename F::Element, sizeof(Whole) / sizeof(typename F::Element)>;
    Elements d;
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = F::element(std::bit_cast<Elements>(packed)[i]...);
    return std::bit_cast<Whole>(d);
  }
};

// Forms that compute the same share one handler, which halves the time to compile: a functor may name the form whose
// handler it uses.
//
//   template <Form f> struct And { static constexpr Form same = f.as_bits(); … };
//
// A form without a rounding is the one with .rn for all functors (canonical_form).
template <template <Form> class F, Form f> constexpr Form canonical_form() {
  constexpr Form without_default = f.without(Word::w_rn);
  if constexpr (requires { F<without_default>::same; })
    return F<without_default>::same;
  else
    return without_default;
}
constexpr Form without_rounding(const Form& f) { return f.without(Word::w_rn, Word::w_rz, Word::w_rm, Word::w_rp); }

/// Whether vectors convert and multiply 64-bit integers: then they beat scalar arithmetic that takes a single
/// instruction, such as a division.
#if defined(__AVX512DQ__)
constexpr bool kLongVectors = true;
#else
constexpr bool kLongVectors = false;
#endif

/// Two destinations of one instruction.
template <class A, class B> struct Both {
  using First = A;
  using Second = B;
  A first;
  B second;
};

enum class Rounding : std::uint8_t { nearest, zero, down, up };

/// The rounding of .rn .rz .rm .rp; nearest if the form has none.
constexpr Rounding rounding_of(const Form& f) {
  if (f.has(Word::w_rz)) return Rounding::zero;
  if (f.has(Word::w_rm)) return Rounding::down;
  if (f.has(Word::w_rp)) return Rounding::up;
  return Rounding::nearest;
}

/// The rounding that a functor requires.
template <class F> constexpr Rounding required_rounding() {
  if constexpr (requires { F::rounding; })
    return F::rounding;
  else
    return Rounding::nearest;
}

// Sets the processor's rounding mode while it lives. The barriers keep the compiler from moving arithmetic out of the
// scope (rows are memory).
template <Rounding rounding> class RoundingMode {
#if defined(__SSE2__)
public:
  RoundingMode() {
    constexpr unsigned modes[] = {0x0000, 0x6000, 0x2000, 0x4000};
    saved_ = _mm_getcsr();
    _mm_setcsr((saved_ & ~0x6000u) | modes[static_cast<int>(rounding)]);
    asm volatile("" ::: "memory");
  }
  ~RoundingMode() {
    asm volatile("" ::: "memory");
    _mm_setcsr(saved_);
  }

private:
  unsigned saved_ = 0;
#else
public:
  RoundingMode() {
    constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    saved_ = std::fegetround();
    std::fesetround(modes[static_cast<int>(rounding)]);
    asm volatile("" ::: "memory");
  }
  ~RoundingMode() {
    asm volatile("" ::: "memory");
    std::fesetround(saved_);
  }

private:
  int saved_ = 0;
#endif
public:
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;
};
template <> class RoundingMode<Rounding::nearest> {}; // the mode of all other code

/// For a functor's loop.
template <class F> using RoundingScope = RoundingMode<required_rounding<F>()>;

// Manual, section 9.7.3: .ftz flushes subnormal inputs and results to sign-preserving zero.
inline float flushed(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return std::bit_cast<float>((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}
template <Form f> inline float input(float x) { return f.has(Word::w_ftz) ? flushed(x) : x; }
template <Form f> inline double input(double x) { return x; }

} // namespace warplens::isa::WARPLENS_LEVEL
