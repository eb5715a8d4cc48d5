// SPDX-License-Identifier: Apache-2.0
#include "analyzers/arithmetic.hpp"

#include "emulator/isa/matrix_work.hpp"

#include <array>
#include <map>

namespace warplens::analyzers {

namespace {

using isa::InstructionClass;
enum class Operation : std::uint8_t { fadd, fmul, ffma, dadd, dmul, dfma, special, none };
constexpr std::size_t kOperations = static_cast<std::size_t>(Operation::none);

Operation operation_of(InstructionClass which) {
  switch (which) {
  case InstructionClass::f32_add: return Operation::fadd;
  case InstructionClass::f32_multiply: return Operation::fmul;
  case InstructionClass::f32_multiply_add: return Operation::ffma;
  case InstructionClass::f64_add: return Operation::dadd;
  case InstructionClass::f64_multiply: return Operation::dmul;
  case InstructionClass::f64_multiply_add: return Operation::dfma;
  case InstructionClass::f32_divide:
  case InstructionClass::f32_fast_divide:
  case InstructionClass::square_root:
  case InstructionClass::reciprocal_root:
  case InstructionClass::reciprocal:
  case InstructionClass::sine:
  case InstructionClass::exponential:
  case InstructionClass::logarithm: return Operation::special;
  default: return Operation::none;
  }
}

bool takes_long(InstructionClass which) {
  switch (isa::info(which).counted_as) {
  case InstructionClass::integer_divide:
  case InstructionClass::f32_divide:
  case InstructionClass::f64:
  case InstructionClass::f64_divide:
  case InstructionClass::square_root:
  case InstructionClass::reciprocal_root:
  case InstructionClass::reciprocal:
  case InstructionClass::sine:
  case InstructionClass::exponential: return true;
  default: return false;
  }
}

} // namespace

std::unique_ptr<exec::Shard> Arithmetic::make_shard() { return std::make_unique<Shard>(); }

void Arithmetic::absorb(exec::Shard& shard) {
  const auto& of_worker = static_cast<const Shard&>(shard).sized;
  for (std::size_t sums = 0; sums < sized_.size(); ++sums)
    for (std::size_t i = 0; i < sized_[sums].size(); ++i) sized_[sums][i] += of_worker[sums][i];
}

void Arithmetic::report(Metrics& launch, std::vector<InstructionRow>&) const {
  std::array<std::uint64_t, kOperations> operations{};
  std::map<std::string_view, std::uint64_t> of_matrices, of_rates; // multiply-adds by type, and by the rate of devices
  const auto add_product = [&](std::string_view type, bool half_sums, std::uint64_t multiply_adds) {
    of_matrices[type] += multiply_adds;
    of_rates[isa::matrix_rate(type, half_sums)] += multiply_adds;
  };
  std::uint64_t slow = 0;
  for (std::size_t i = 0; i < std::min(counts_.size(), function_.instructions.size()); ++i) {
    if (counts_[i].warps == 0) continue;
    const InstructionClass which = function_.instructions[i].instruction_class;
    if (const Operation o = operation_of(which); o != Operation::none)
      operations[static_cast<std::size_t>(o)] += counts_[i].lanes_on;
    if (takes_long(which)) slow += counts_[i].warps;
    if (which != InstructionClass::matrix) continue;
    if (const isa::MatrixWork work = isa::matrix_work(function_.instructions[i].opcode); work.multiply_adds != 0)
      add_product(work.type, work.half_sums, work.multiply_adds * (counts_[i].lanes_on / exec::kWarpSize));
  }
  for (std::size_t sums = 0; sums < sized_.size(); ++sums)
    for (std::size_t i = 0; i < sized_[sums].size(); ++i)
      if (sized_[sums][i] != 0)
        add_product(exec::name(static_cast<exec::MatrixElement>(i)), sums != 0, sized_[sums][i]);
  std::uint64_t all = 0;
  for (std::size_t o = 0; o < kOperations; ++o) {
    const bool fused = o == static_cast<std::size_t>(Operation::ffma) || o == static_cast<std::size_t>(Operation::dfma);
    launch.add(by_operation(MetricId::f32_add, o), operations[o]);
    all += operations[o] * (fused ? 2 : 1);
  }
  for (const auto& [type, multiply_adds] : of_matrices)
    launch.add({MetricId::matrix_multiply_adds, type}, multiply_adds);
  std::uint64_t operations_of_matrices = 0;
  for (const auto& [rate, multiply_adds] : of_rates) {
    launch.add({MetricId::matrix_operations_of, rate}, 2 * multiply_adds);
    operations_of_matrices += 2 * multiply_adds;
  }
  if (operations_of_matrices != 0) {
    launch.add(MetricId::matrix_operations, operations_of_matrices);
    launch.add_ratio(MetricId::matrix_intensity, static_cast<double>(operations_of_matrices),
                     static_cast<double>(global_.sectors() * kSectorBytes));
  }
  launch.add(MetricId::flops, all);
  launch.add_ratio(MetricId::arithmetic_intensity, static_cast<double>(all),
                   static_cast<double>(global_.sectors() * kSectorBytes));
  launch.add(MetricId::long_instructions, slow);
}

} // namespace warplens::analyzers
