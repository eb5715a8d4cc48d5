#include "analyzers/instruction_mix.hpp"

#include <algorithm>
#include <array>

namespace warplens::analyzers {

namespace {

using enum InstructionClass;

constexpr MetricInfo kMetrics[] = {
    {"smsp__inst_executed.sum", "instructions", "PTX warp instructions with at least one active lane"},
    {"smsp__thread_inst_executed.sum", "instructions", "of active lanes"},
    {"smsp__thread_inst_executed_pred_on.sum", "instructions", "of active lanes whose guard held"},
    {"smsp__thread_inst_executed_per_inst_executed.ratio", "lanes", "active lanes per instruction", 32},
    {"smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", "lanes", "lanes that did something", 32},
    {"lost_lane_slots", "instructions", "lanes of executed instructions that did nothing", 0},
    {"instructions", "instructions", "PTX warp instructions"},
    {"cta_launched", "blocks", "blocks of the grid"},
    {"warps_launched", "warps", "warps of the grid"},
    {"inst_executed_barrier", "instructions", "barriers; one metric like this for every class that occurs"},
    {"barrier_per_warp", "instructions", "barriers that a warp runs on average"},
};

constexpr AnalyzerInfo kInfo = {"instruction_mix", "Instruction mix", "instructions executed, in all and by class",
                                kMetrics};

constexpr std::string_view kNames[kInstructionClasses] = {
    "integer",
    "integer_multiply",
    "integer_divide",
    "logic",
    "compare",
    "move",
    "conversion",
    "f16",
    "f32",
    "f32_divide",
    "f64",
    "f64_divide",
    "square_root",
    "reciprocal_root",
    "reciprocal",
    "sine",
    "exponential",
    "global",
    "shared",
    "local",
    "constant",
    "param",
    "generic",
    "texture",
    "atomic",
    "control",
    "barrier",
    "fence",
    "warp",
    "matrix",
    "other",
};

/// What decides besides the opcode.
enum class When : std::uint8_t { always, f16_type, f32_type, f64_type, integer_type };

struct Entry {
  std::string_view opcode; ///< up to the first '.'
  When when;
  InstructionClass is;
};

/// First match wins. Memory instructions are told apart by their space, see classify_memory().
constexpr Entry kEntries[] = {
    {"div", When::f64_type, f64_divide},
    {"div", When::f32_type, f32_divide},
    {"div", When::always, integer_divide},
    {"rem", When::always, integer_divide},
    {"sqrt", When::f64_type, f64},
    {"sqrt", When::always, square_root},
    {"rsqrt", When::f64_type, f64},
    {"rsqrt", When::always, reciprocal_root},
    {"rcp", When::f64_type, f64},
    {"rcp", When::always, reciprocal},
    {"sin", When::always, sine},
    {"cos", When::always, sine},
    {"ex2", When::always, exponential},
    {"lg2", When::always, exponential},
    {"tanh", When::always, exponential},
    {"mul", When::integer_type, integer_multiply},
    {"mad", When::integer_type, integer_multiply},
    {"madc", When::always, integer_multiply},
    {"mul24", When::always, integer},
    {"mad24", When::always, integer},
    {"setp", When::always, compare},
    {"set", When::always, compare},
    {"testp", When::always, compare},
    {"selp", When::always, move},
    {"slct", When::always, move},
    {"mov", When::always, move},
    {"prmt", When::always, move},
    {"cvta", When::always, move},
    {"mapa", When::always, move},
    {"getctarank", When::always, move},
    {"isspacep", When::always, compare},
    {"cvt", When::always, conversion},
    {"szext", When::always, integer},
    {"cvt_pack", When::always, conversion},
    {"and", When::always, logic},
    {"or", When::always, logic},
    {"xor", When::always, logic},
    {"not", When::always, logic},
    {"cnot", When::always, logic},
    {"lop3", When::always, logic},
    {"shl", When::always, logic},
    {"shr", When::always, logic},
    {"shf", When::always, logic},
    {"atom", When::always, atomic},
    {"red", When::always, atomic},
    {"multimem", When::always, atomic},
    {"tex", When::always, texture},
    {"tld4", When::always, texture},
    {"txq", When::always, texture},
    {"suld", When::always, texture},
    {"sust", When::always, texture},
    {"sured", When::always, texture},
    {"suq", When::always, texture},
    {"istypep", When::always, texture},
    {"bra", When::always, control},
    {"brx", When::always, control},
    {"call", When::always, control},
    {"ret", When::always, control},
    {"exit", When::always, control},
    {"trap", When::always, control},
    {"brkpt", When::always, control},
    {"nanosleep", When::always, control},
    {"pmevent", When::always, control},
    {"bar", When::always, barrier},
    {"barrier", When::always, barrier},
    {"mbarrier", When::always, barrier},
    {"membar", When::always, fence},
    {"fence", When::always, fence},
    {"griddepcontrol", When::always, fence},
    {"shfl", When::always, InstructionClass::warp},
    {"vote", When::always, InstructionClass::warp},
    {"match", When::always, InstructionClass::warp},
    {"activemask", When::always, InstructionClass::warp},
    {"redux", When::always, InstructionClass::warp},
    {"elect", When::always, InstructionClass::warp},
    {"mma", When::always, matrix},
    {"wmma", When::always, matrix},
    {"wgmma", When::always, matrix},
    {"ldmatrix", When::always, shared},
    {"stmatrix", When::always, shared},
    {"movmatrix", When::always, matrix},
    {"popc", When::always, integer},
    {"clz", When::always, integer},
    {"brev", When::always, integer},
    {"bfind", When::always, integer},
    {"bfe", When::always, integer},
    {"bfi", When::always, integer},
    {"bmsk", When::always, integer},
    {"fns", When::always, integer},
    {"sad", When::always, integer},
    {"dp4a", When::always, integer},
    {"dp2a", When::always, integer},
    {"addc", When::always, integer},
    {"subc", When::always, integer},
};

/// Arithmetic that is not in the table goes by its type.
constexpr std::string_view kArithmetic[] = {"add", "sub", "mul", "mad", "fma", "neg", "abs", "min", "max", "copysign"};

bool next_part(std::string_view& rest, std::string_view& part) {
  if (rest.empty()) return false;
  const std::size_t dot = rest.find('.');
  part = rest.substr(0, dot);
  rest = dot == std::string_view::npos ? std::string_view{} : rest.substr(dot + 1);
  return true;
}

/// The last type of the spelling: of cvt.rn.f32.s32 it is s32.
isa::Type last_type(std::string_view opcode) {
  isa::Type found = isa::Type::none;
  std::string_view part;
  while (next_part(opcode, part))
    if (auto type = isa::type_named(part)) found = *type;
  return found;
}

When kind_of(isa::Type type) {
  if (type == isa::Type::none) return When::always;
  if (type == isa::Type::f64) return When::f64_type;
  if (type == isa::Type::f32 || type == isa::Type::tf32) return When::f32_type;
  return isa::is_float(type) ? When::f16_type : When::integer_type;
}

InstructionClass classify_memory(std::string_view opcode) {
  std::string_view part;
  while (next_part(opcode, part)) {
    if (part.starts_with("shared")) return shared;
    if (part == "global") return global;
    if (part == "local") return local;
    if (part == "const") return constant;
    if (part.starts_with("param")) return param;
  }
  return generic;
}

} // namespace

std::string_view name(InstructionClass which) { return kNames[static_cast<std::size_t>(which)]; }

InstructionClass classify(std::string_view opcode) {
  // Of cp.async and its kind, these move nothing; the others are told apart by the space that they write to.
  if (opcode.starts_with("cp."))
    for (std::string_view word : {".commit_group", ".wait_group", ".wait_all", ".mbarrier.arrive"})
      if (opcode.find(word) != std::string_view::npos) return word == ".mbarrier.arrive" ? barrier : fence;
  const std::string_view head = opcode.substr(0, opcode.find('.'));
  const When kind = kind_of(last_type(opcode));
  for (std::string_view memory : {"ld", "ldu", "st", "prefetch", "prefetchu", "cp", "applypriority", "discard"})
    if (head == memory) return classify_memory(opcode);
  if (opcode.starts_with("wmma.load") || opcode.starts_with("wmma.store")) return classify_memory(opcode);
  for (const Entry& entry : kEntries)
    if (entry.opcode == head && (entry.when == When::always || entry.when == kind)) return entry.is;
  if (std::find(std::begin(kArithmetic), std::end(kArithmetic), head) == std::end(kArithmetic)) return other;
  switch (kind) {
  case When::f16_type: return f16;
  case When::f32_type: return f32;
  case When::f64_type: return f64;
  default: return integer;
  }
}

const AnalyzerInfo& InstructionMix::info() const { return kInfo; }

namespace {

void add_metrics(Metrics& metrics, const exec::InstructionCount& count) {
  metrics.add("smsp__inst_executed.sum", count.warps);
  metrics.add("smsp__thread_inst_executed.sum", count.lanes);
  metrics.add("smsp__thread_inst_executed_pred_on.sum", count.lanes_on);
  const auto warps = static_cast<double>(count.warps);
  metrics.add_ratio("smsp__thread_inst_executed_per_inst_executed.ratio", static_cast<double>(count.lanes), warps);
  metrics.add_ratio("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", static_cast<double>(count.lanes_on),
                    warps);
  metrics.add("lost_lane_slots", count.warps * exec::kWarpSize - count.lanes_on);
}

} // namespace

void InstructionMix::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  exec::InstructionCount total;
  std::array<std::uint64_t, kInstructionClasses> by_class{};
  const std::size_t known = std::min(counts_.size(), function_.instructions.size());
  for (std::size_t i = 0; i < known; ++i) {
    const exec::InstructionCount& count = counts_[i];
    if (count.warps == 0) continue;
    total.warps += count.warps;
    total.lanes += count.lanes;
    total.lanes_on += count.lanes_on;
    by_class[static_cast<std::size_t>(classify(function_.instructions[i].opcode))] += count.warps;
    if (i < rows.size()) add_metrics(rows[i].metrics, count);
  }
  add_metrics(launch, total);
  launch.add("instructions", total.warps);
  launch.add("cta_launched", shape_.ctas());
  const std::uint64_t warps = shape_.ctas() * shape_.warps();
  launch.add("warps_launched", warps);
  for (std::size_t i = 0; i < kInstructionClasses; ++i)
    if (by_class[i]) launch.add("inst_executed_" + std::string(kNames[i]), by_class[i]);
  launch.add_ratio("barrier_per_warp", static_cast<double>(by_class[static_cast<std::size_t>(barrier)]),
                   static_cast<double>(warps));
}

} // namespace warplens::analyzers
