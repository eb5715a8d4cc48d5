// How many instructions ran, by class, and how full their warps were.
//
//   classify("mul.lo.s32") == InstructionClass::integer_multiply; classify("sqrt.rn.f32") ==
//   InstructionClass::square_root
#pragma once

#include "analyzers/analyzer.hpp"

#include <string_view>

namespace warplens::analyzers {

/// Classes as fine as the analytical models need them: what has an issue rate of its own on some device.
enum class InstructionClass : std::uint8_t {
  integer,
  integer_multiply,
  integer_divide,
  logic,
  compare,
  move,
  conversion,
  f16,
  f32,
  f32_divide,
  f64,
  f64_divide,
  square_root,
  reciprocal_root,
  reciprocal,
  sine,
  exponential,
  global,
  shared,
  local,
  constant,
  param,
  generic,
  texture,
  atomic,
  control,
  barrier,
  fence,
  warp,
  matrix,
  other,
};
constexpr std::size_t kInstructionClasses = static_cast<std::size_t>(InstructionClass::other) + 1;

/// As it appears in metric names: "integer_multiply".
std::string_view name(InstructionClass which);

/// The class of an instruction, from its spelling alone.
InstructionClass classify(std::string_view opcode);

class InstructionMix final : public Analyzer {
public:
  InstructionMix(const ir::Function& function, const exec::LaunchShape& shape) : function_(function), shape_(shape) {}

  [[nodiscard]] const AnalyzerInfo& info() const override;
  std::unique_ptr<exec::Shard> make_shard() override { return std::make_unique<exec::Shard>(); }
  void absorb(exec::Shard&) override {}
  void conclude(const std::vector<exec::InstructionCount>& counts) override { counts_ = counts; }
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

private:
  const ir::Function& function_;
  exec::LaunchShape shape_;
  std::vector<exec::InstructionCount> counts_;
};

} // namespace warplens::analyzers
