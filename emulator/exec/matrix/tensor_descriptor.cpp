// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/matrix/tensor_descriptor.hpp"

#include <cstring>

namespace warplens::exec {

namespace {

constexpr std::uint64_t kCoreRowBytes = 16, kRowsOfCore = 8;
// Swizzling modes: none, 128 bytes by 32, 128, 64 and 32 bytes.
constexpr std::uint32_t kNoSwizzle = 0, kSwizzle128By32 = 1, kSwizzle128 = 2, kSwizzle64 = 4, kSwizzle32 = 6;

std::uint64_t span_of(std::uint32_t mode) {
  switch (mode) {
  case kSwizzle128By32:
  case kSwizzle128: return 128;
  case kSwizzle64: return 64;
  case kSwizzle32: return 32;
  default: return 0;
  }
}

} // namespace

TensorDescriptor::TensorDescriptor(std::uint64_t bits, bool continued) {
  const auto field = [&](int bit, int width) { return bits >> bit & ((std::uint64_t{1} << width) - 1); };
  start_ = field(0, 14) * kCoreRowBytes, leading_ = field(16, 14) * kCoreRowBytes,
  stride_ = field(32, 14) * kCoreRowBytes;
  base_offset_ = field(49, 3);
  mode_ = static_cast<std::uint32_t>(field(61, 3));
  if (field(46, 3) != 1)
    fault_ = "its bits 46 to 48 must be 1";
  else if (field(53, 8) != 0)
    fault_ = "its bits 53 to 60 must be 0";
  else if (field(52, 1) != 0 && !continued)
    fault_ = "an address in place of the leading dimension (bit 52) is only for tcgen05.mma with K = 96";
  else if (field(52, 1) != 0 && (mode_ != kSwizzle128 || leading_ % span_of(kSwizzle128) != 0))
    fault_ =
        "an address in place of the leading dimension (bit 52) must be a multiple of 128 bytes, which are swizzled";
  else if (mode_ != kNoSwizzle && span_of(mode_) == 0)
    fault_ = "its swizzling mode (bits 61 to 63) must be 0, 1, 2, 4 or 6";
  continued_ = field(52, 1) != 0;
}

std::uint64_t TensorDescriptor::swizzled(std::uint64_t at) const {
  if (mode_ == kNoSwizzle) return at;
  if (mode_ == kSwizzle128By32) return at ^ (((at >> 7) - base_offset_) & 3) * (2 * kCoreRowBytes);
  return at ^ (((at >> 7) - base_offset_) * kCoreRowBytes & (span_of(mode_) - kCoreRowBytes));
}

std::uint64_t TensorDescriptor::unit(std::uint32_t row, std::uint32_t along) const {
  const std::uint64_t span = span_of(mode_);
  const std::uint64_t in_core = row % kRowsOfCore * (span == 0 ? kCoreRowBytes : span);
  const std::uint64_t in_chunk = start_ % span_of(kSwizzle128) + along * kCoreRowBytes;
  if (continued_ && in_chunk >= span)
    return swizzled(leading_ + in_core + row / kRowsOfCore * stride_ + in_chunk % span);
  return swizzled(start_ + in_core + row / kRowsOfCore * stride_ + along * (span == 0 ? leading_ : kCoreRowBytes));
}

std::uint64_t TensorDescriptor::unit_of_transposed(std::uint32_t byte, std::uint32_t k) const {
  const std::uint64_t span = span_of(mode_);
  if (span == 0)
    return start_ + byte / kCoreRowBytes * stride_ + k % kRowsOfCore * kCoreRowBytes + k / kRowsOfCore * leading_;
  const std::uint64_t in_core = by_32_bytes() ? kRowsOfCore / 2 : kRowsOfCore;
  return swizzled(start_ + byte % span + byte / span * leading_ + k % in_core * span + k / in_core * stride_);
}

bool TensorDescriptor::by_32_bytes() const { return mode_ == kSwizzle128By32; }

void unpack_numbers(unsigned bits, std::byte* unit) {
  const unsigned shift = bits == 4 ? 2 : 0;
  std::byte numbers[kCoreRowBytes];
  std::memcpy(numbers, unit, kCoreRowBytes);
  for (unsigned i = 0; i < kCoreRowBytes; ++i) {
    const unsigned at = i * bits, byte = at / 8;
    const unsigned two = std::to_integer<unsigned>(numbers[byte]) | std::to_integer<unsigned>(numbers[byte + 1]) << 8;
    unit[i] = static_cast<std::byte>((two >> at % 8 & ((1u << bits) - 1)) << shift);
  }
}

} // namespace warplens::exec
