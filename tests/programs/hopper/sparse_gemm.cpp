// SPDX-License-Identifier: Apache-2.0
// Runs sparse_gemm.ptx, which is given, and compares with the sums of the host.
#include "tests/programs/hopper/gpu.hpp"
#include "tests/programs/hopper/numbers.hpp"

namespace {

constexpr unsigned kRows = 128, kColumns = 192, kDepth = 256;
constexpr unsigned kPairs[] = {4, 8, 9, 12, 13, 14}; // of four: 0 and 1, 0 and 2, …

/// Which of four elements, from column 4 * group on, are not 0.
unsigned pair_of(std::size_t row, std::size_t group) {
  return kPairs[numbers::mixed(static_cast<std::uint32_t>(row * 1000 + group)) % 6];
}

// A word has 16 columns of a row and of the eighth row after it, in its halves: that of two of four lanes.
std::vector<std::uint32_t> kept() {
  std::vector<std::uint32_t> words(kRows / 64 * kDepth / 32 * 128);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t thread = i % 128, step = i / 128 % (kDepth / 32), tile = i / 128 / (kDepth / 32);
    if (thread % 4 > 1) continue;
    for (std::size_t group = 0; group < 8; ++group) {
      const std::size_t row = tile * 64 + thread / 32 * 16 + thread % 32 / 4 + group / 4 * 8;
      words[i] |= pair_of(row, step * 8 + thread % 4 * 4 + group % 4) << 4 * group;
    }
  }
  return words;
}

} // namespace

int main(int, char** arguments) {
  gpu::Gpu device(arguments[1]);
  const std::vector<float> compressed = numbers::eighths(kRows * kDepth / 2, 12);
  const std::vector<float> b = numbers::eighths(kColumns * kDepth, 13);
  std::vector<float> a(kRows * kDepth);
  for (std::size_t i = 0; i < compressed.size(); ++i) {
    const std::size_t row = i / (kDepth / 2), group = i % (kDepth / 2) / 2;
    a[row * kDepth + group * 4 + (pair_of(row, group) >> 2 * (i % 2) & 3)] = compressed[i];
  }
  const gpu::TensorMap map_a = gpu::tiled({.type = gpu::Type::f16,
                                           .address = gpu::Gpu::copied(numbers::halves(compressed)),
                                           .sizes = {kDepth / 2, kRows},
                                           .strides = {kDepth},
                                           .swizzle = gpu::Swizzle::of_64},
                                          {32, 64});
  const gpu::TensorMap map_b = gpu::tiled({.type = gpu::Type::f16,
                                           .address = gpu::Gpu::copied(numbers::halves(b)),
                                           .sizes = {kDepth, kColumns},
                                           .strides = {2 * kDepth},
                                           .swizzle = gpu::Swizzle::of_128},
                                          {64, 64});
  const gpu::Pointer d = gpu::Gpu::zeros(kRows * kColumns * 4);
  const gpu::TensorMap map_d = gpu::tiled(
      {.type = gpu::Type::f32, .address = d, .sizes = {kColumns, kRows}, .strides = {4 * kColumns}}, {32, 64});
  constexpr unsigned shared = 2 * 4096 + 2 * 8192 + 16384 + 16;
  device.launch("sparse_gemm", {kColumns / 64, kRows / 64}, {128}, shared, map_a, map_b, map_d,
                gpu::Gpu::copied(kept()), kDepth);
  return numbers::report("sparse_gemm", gpu::Gpu::back<float>(d, kRows * kColumns),
                         numbers::product(a, b, kRows, kColumns, kDepth), 1e-6);
}
