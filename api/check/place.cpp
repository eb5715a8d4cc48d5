// SPDX-License-Identifier: Apache-2.0
#include "api/check/place.hpp"

#include "api/session/kernel_name.hpp"
#include "emulator/exec/memory/memory.hpp"

#include <fmt/format.h>

namespace warplens::api {

namespace {

const ir::Function& function_at(const exec::Program& program, std::uint32_t instruction) {
  for (const ir::Part& part : program.function->parts)
    if (instruction >= part.first && instruction < part.end) return program.module->functions[part.function];
  return *program.function;
}

std::string file_name(const ir::Module& module, std::uint32_t number) {
  for (const ir::SourceFile& f : module.files)
    if (f.number == number) return std::string(f.name);
  return {};
}

/// The lines of one activation: an inlined function has a line in each caller.
void add_frames(const exec::Program& program, std::uint32_t instruction, std::vector<CheckFrame>& frames) {
  const ir::Module& module = *program.module;
  const ir::Function& function = function_at(program, instruction);
  const ir::Instruction& i = program.function->instructions[instruction];
  const std::string_view ptx = function.file.empty() ? std::string_view(module.file) : std::string_view(function.file);
  CheckFrame frame{source_name(function.name), std::string(ptx), 0, i.where.line};
  if (i.source.line == 0) return frames.push_back(frame);
  frame.file = file_name(module, i.source.file);
  frame.line = i.source.line;
  for (std::uint32_t at = i.source.inlined_at; at != ir::kNone; at = module.call_sites[at].where.inlined_at) {
    const ir::CallSite& call = module.call_sites[at];
    frame.function.clear(); // PTX has the names of inlined functions in its debug information only
    frames.push_back(frame);
    frame = {source_name(function.name), file_name(module, call.where.file), call.where.line, i.where.line};
  }
  frames.push_back(frame);
}

std::string triple(std::uint64_t n, const std::uint32_t* extent) {
  return fmt::format("({},{},{})", n % extent[0], n / extent[0] % extent[1], n / extent[0] / extent[1]);
}

std::string_view verb_of(exec::AccessKind kind) {
  return kind == exec::AccessKind::load ? "read" : kind == exec::AccessKind::store ? "write" : "atomic";
}

/// Whether it accesses another block of the cluster.
bool is_of_cluster(const exec::LaunchShape& shape, const exec::ThreadAccess& access) {
  return access.space == isa::Space::shared && access.address >= exec::kClusterStride && shape.cluster_ctas() > 1;
}

std::string space_name(const exec::Program& program, const exec::LaunchShape& shape, const exec::ThreadAccess& access) {
  if (is_of_cluster(shape, access)) return "shared_cluster";
  switch (access.space) {
  case isa::Space::constant: return "constant";
  case isa::Space::reg: return "register";
  case isa::Space::texture:
    return program.function->instructions[access.instruction].opcode.starts_with("su") ? "surface" : "texture";
  case isa::Space::none: return {};
  default: return std::string(isa::name(access.space));
  }
}

} // namespace

std::vector<CheckFrame> frames_of(const exec::Program& program, std::uint32_t instruction,
                                  std::span<const std::uint32_t> calls) {
  std::vector<CheckFrame> frames;
  if (instruction >= program.function->instructions.size()) return frames;
  add_frames(program, instruction, frames);
  for (const std::uint32_t call : calls) add_frames(program, call, frames);
  return frames;
}

CheckThreads threads_of(const exec::Program& program, const exec::LaunchShape& shape, const exec::ThreadAccess& a) {
  CheckThreads t;
  t.kernel = program.function->name;
  t.frames = frames_of(program, a.instruction, a.calls);
  t.thread = triple(a.thread, shape.block);
  t.block = triple(a.cta, shape.grid);
  t.space = space_name(program, shape, a);
  if (t.space.empty()) return t;
  t.access = verb_of(a.access);
  t.bytes = a.bytes;
  if (a.space != isa::Space::reg) t.address = a.address - (is_of_cluster(shape, a) ? exec::kClusterStride : 0);
  return t;
}

std::vector<std::pair<std::uint64_t, std::string>>
thread_ranges(const std::set<exec::ToolFindingGroup::Thread>& threads) {
  std::vector<std::pair<std::uint64_t, std::string>> list;
  for (auto at = threads.begin(); at != threads.end();) {
    const auto [block, first] = *at;
    std::uint32_t last = first;
    for (++at; at != threads.end() && at->first == block && at->second == last + 1; ++at) ++last;
    if (list.empty() || list.back().first != block) list.emplace_back(block, "");
    std::string& ranges = list.back().second;
    ranges += (ranges.empty() ? "" : ",") + (first == last ? std::to_string(first) : fmt::format("{}-{}", first, last));
  }
  return list;
}

std::string access_name(const exec::Program& program, const exec::LaunchShape& shape, const exec::ThreadAccess& a) {
  return fmt::format("__{}__ {}", space_name(program, shape, a), verb_of(a.access));
}

} // namespace warplens::api
