// SPDX-License-Identifier: Apache-2.0
// Runs fp8_gemm.ptx, which is given, and compares with the sums of the host.
#include "tests/programs/hopper/gpu.hpp"
#include "tests/programs/hopper/numbers.hpp"

int main(int, char** arguments) {
  constexpr unsigned m = 192, n = 128, k = 640, steps = k / 128;
  gpu::Gpu device(arguments[1]);
  std::vector<float> a = numbers::eighths(m * k, 3), b = numbers::eighths(n * k, 4);
  const auto map = [](const std::vector<float>& matrix, unsigned rows) {
    return gpu::tiled({.type = gpu::Type::u8,
                       .address = gpu::Gpu::copied(numbers::e4m3(matrix)),
                       .sizes = {k, rows},
                       .strides = {k},
                       .swizzle = gpu::Swizzle::of_128},
                      {128, 64});
  };
  const gpu::TensorMap map_a = map(a, m), map_b = map(b, n);
  std::vector<float> scales_a = numbers::eighths(m * steps, 5), scales_b = numbers::eighths(n / 64 * steps, 6);
  for (float& s : scales_a) s += 1.5f;
  for (float& s : scales_b) s += 2;
  for (std::size_t i = 0; i < a.size(); ++i) a[i] *= scales_a[i / 128];
  for (std::size_t i = 0; i < b.size(); ++i) b[i] *= scales_b[i / k / 64 * steps + i % k / 128];
  const gpu::Pointer d = gpu::Gpu::zeros(m * n * 2);
  constexpr unsigned shared = 4 * 8192 + 16;
  device.launch("fp8_gemm", {n / 64, m / 64}, {128}, shared, map_a, map_b, gpu::Gpu::copied(scales_a),
                gpu::Gpu::copied(scales_b), d, n, k);
  std::vector<float> found;
  for (const std::uint16_t bits : gpu::Gpu::back<std::uint16_t>(d, m * n)) found.push_back(numbers::from_bf16(bits));
  return numbers::report("fp8_gemm", found, numbers::product(a, b, m, n, k), 4e-3); // bf16 has eight bits
}
