// SPDX-License-Identifier: Apache-2.0
// Runs attention.ptx, which is given, and compares with the host.
#include "tests/programs/hopper/gpu.hpp"
#include "tests/programs/hopper/numbers.hpp"

namespace {

constexpr unsigned kLength = 192, kHeads = 2, kHead = 64, kRows = kLength * kHeads;

using Matrix = std::vector<float>;

double score(const Matrix& q, const Matrix& k, std::size_t i, std::size_t j) {
  double sum = 0;
  for (std::size_t x = 0; x < kHead; ++x) sum += double{q[i * kHead + x]} * k[j * kHead + x];
  return sum / 8;
}

std::vector<double> attention(const Matrix& q, const Matrix& k, const Matrix& v) {
  std::vector<double> out(kRows * kHead);
  for (std::size_t i = 0; i < kRows; ++i) {
    double all = 0;
    for (std::size_t j = i / kLength * kLength; j <= i; ++j) all += std::exp(score(q, k, i, j));
    for (std::size_t j = i / kLength * kLength; j <= i; ++j)
      for (std::size_t x = 0; x < kHead; ++x)
        out[i * kHead + x] += std::exp(score(q, k, i, j)) / all * v[j * kHead + x];
  }
  return out;
}

} // namespace

int main(int, char** arguments) {
  gpu::Gpu device(arguments[1]);
  const Matrix q = numbers::eighths(kRows * kHead, 7), k = numbers::eighths(kRows * kHead, 8),
               v = numbers::eighths(kRows * kHead, 9);
  const auto map = [](const Matrix& matrix) {
    return gpu::tiled({.type = gpu::Type::f16,
                       .address = gpu::Gpu::copied(numbers::halves(matrix)),
                       .sizes = {kHead, kRows},
                       .strides = {2 * kHead},
                       .swizzle = gpu::Swizzle::of_128},
                      {kHead, 64});
  };
  const gpu::Pointer o = gpu::Gpu::zeros(kRows * kHead * 4);
  const float scale = 0.125f * 1.44269504f; // powers of two instead of e
  constexpr unsigned shared = 5 * 8192 + 16;
  device.launch("attention", {kLength / 64, kHeads}, {128}, shared, map(q), map(k), map(v), o, kLength, scale);
  return numbers::report("attention", gpu::Gpu::back<float>(o, kRows * kHead), attention(q, k, v), 1e-3);
}
