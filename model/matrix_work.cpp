// SPDX-License-Identifier: Apache-2.0
#include "model/matrix_work.hpp"

namespace warplens::model {

MatrixWork matrix_work(const KernelStatistics& s, const Device& device) {
  const PeakOperations& peak = device.peak_operations;
  const std::optional<double> none;
  struct Type {
    std::string_view name;
    const KernelStatistics::Field& operations;
    const std::optional<double>& rate;
  };
  const Type types[] = {{"f16", s.matrix_half, peak.matrix_half},
                        {"f16 with sums in f16", s.matrix_half_sums, peak.matrix_half_sums},
                        {"bf16", s.matrix_bfloat16, peak.matrix_bfloat16},
                        {"tf32", s.matrix_tf32, peak.matrix_tf32},
                        {"8-bit floating point", s.matrix_fp8, peak.matrix_fp8},
                        {"4-bit floating point", s.matrix_fp4, peak.matrix_fp4},
                        {"f64", s.matrix_double, peak.matrix_double},
                        {"8-bit integers", s.matrix_int8, peak.matrix_int8},
                        {"4-bit integers", s.matrix_int4, none},
                        {"bits", s.matrix_binary, none}};
  MatrixWork work;
  for (const Type& type : types) {
    const double operations = value_of(type.operations) * total_warps(s);
    if (operations == 0) continue;
    work.operations += operations;
    if (type.rate)
      work.milliseconds += operations / (*type.rate * device.multiprocessors * device.clock_ghz) * 1e-6;
    else
      work.unknown.push_back(type.name);
  }
  return work;
}

} // namespace warplens::model
