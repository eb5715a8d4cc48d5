// SPDX-License-Identifier: Apache-2.0
// Runs stream_k.ptx, which is given, and compares with the sums of the host.
#include "tests/programs/hopper/gpu.hpp"
#include "tests/programs/hopper/numbers.hpp"

int main(int, char** arguments) {
  constexpr unsigned m = 192, n = 128, k = 448, blocks = 11; // 42 steps: most tiles have parts in three blocks
  gpu::Gpu device(arguments[1]);
  const std::vector<float> a = numbers::eighths(m * k, 14), b = numbers::eighths(n * k, 15);
  const auto map = [](const std::vector<float>& matrix, unsigned rows) {
    return gpu::tiled({.type = gpu::Type::f16,
                       .address = gpu::Gpu::copied(numbers::halves(matrix)),
                       .sizes = {k, rows},
                       .strides = {2 * k},
                       .swizzle = gpu::Swizzle::of_128},
                      {64, 64});
  };
  const gpu::Pointer d = gpu::Gpu::zeros(m * n * 4), partials = gpu::Gpu::zeros(blocks * 4096 * 4);
  constexpr unsigned shared = 4 * 8192 + 16;
  device.launch("stream_k", {blocks}, {128}, shared, map(a, m), map(b, n), d, partials, gpu::Gpu::zeros(blocks * 4), m,
                n, k);
  return numbers::report("stream_k", gpu::Gpu::back<float>(d, m * n), numbers::product(a, b, m, n, k), 1e-6);
}
