// SPDX-License-Identifier: Apache-2.0
// Runs gemm.ptx, which is given, and compares with the sums of the host.
#include "tests/programs/hopper/gpu.hpp"
#include "tests/programs/hopper/numbers.hpp"

int main(int, char** arguments) {
  constexpr unsigned m = 768, n = 384, k = 320;
  gpu::Gpu device(arguments[1]);
  const std::vector<float> a = numbers::eighths(m * k, 1), b = numbers::eighths(n * k, 2);
  const auto map = [](const std::vector<float>& matrix, unsigned rows, unsigned tile) {
    return gpu::tiled({.type = gpu::Type::f16,
                       .address = gpu::Gpu::copied(numbers::halves(matrix)),
                       .sizes = {k, rows},
                       .strides = {2 * k},
                       .swizzle = gpu::Swizzle::of_128},
                      {64, tile});
  };
  const gpu::Pointer d = gpu::Gpu::zeros(m * n * 4);
  constexpr unsigned shared = 4 * 32768 + 64;
  device.launch("gemm", {8}, {384}, shared, map(a, m, 128), map(b, n, 64), d, m, n, k);
  return numbers::report("gemm", gpu::Gpu::back<float>(d, m * n), numbers::product(a, b, m, n, k), 1e-6);
}
