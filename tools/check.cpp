// SPDX-License-Identifier: Apache-2.0
// warplens check: parse and check PTX files.
#include "api/launch/inspect.hpp"
#include "api/report/table.hpp"
#include "tools/command_line.hpp"
#include "tools/limit_options.hpp"
#include "tools/module_file.hpp"
#include "tools/output.hpp"

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include <set>

namespace warplens::tools {

namespace {

constexpr std::string_view kCheckHelp = R"(usage: warplens check FILE… [OPTION…]

Parses and checks PTX files, CUDA source, the output of cuobjdump -ptx, and the PTX in executables, object files and fat
binaries that is selected for the H200. For each file, shows the kernels with their parameters, registers (.maxnreg, or
an estimate from the live registers), shared and local memory. Also shows every instruction that cannot be emulated,
with its line and the kernels that cannot run because of it.

)";

constexpr std::string_view kCheckExamples = R"(
Exit status: 0 all kernels of all files can run; 2 a file cannot be read or has errors, or a kernel cannot run.

Examples:
  warplens check samples/transpose/transpose.ptx
  warplens check *.ptx
  warplens check ./vectorAdd
)";

std::string parameters(const ir::Function& f) {
  std::string list;
  for (const ir::Variable& p : f.params) {
    list += fmt::format("{}.{} {}", list.empty() ? "" : ", ", isa::name(p.type), p.name);
    if (!p.extents.empty()) list += fmt::format("[{}]", p.size);
  }
  return list;
}

/// Shows only errors that no earlier kernel has shown, so that each message appears once.
void show_new(const Diagnostics& errors, std::set<std::pair<std::uint32_t, std::string>>& seen) {
  Diagnostics fresh;
  for (const Diagnostic& d : errors.list()) {
    if (!seen.emplace(d.where.line, d.message).second) continue;
    Diagnostics one;
    one.error(d.where, d.message, d.hint);
    one.in_file(d.file);
    fresh.append(std::move(one));
  }
  print(fresh);
}

/// Unsupported instructions in functions other than kernels block nothing by themselves: show them as warnings.
void show_functions(const api::Module& module) {
  Diagnostics others;
  for (const ir::Unsupported& u : module.unsupported()) {
    const ir::Function& f = module.ir().functions[u.function];
    if (f.is_entry) continue;
    Diagnostics one;
    one.warning(u.why.where, fmt::format("{} (in function '{}')", u.why.message, f.name), u.why.hint);
    one.in_file(u.why.file);
    others.append(std::move(one));
  }
  print(others);
}

bool check_module(const std::shared_ptr<api::Context>& context, const std::string& file,
                  std::span<const api::Source> sources) {
  const Expected<std::shared_ptr<api::Module>> module = api::Module::load(context, sources);
  if (!module) {
    print(module.error());
    return false;
  }
  const ir::Module& ir = (*module)->ir();
  const std::vector<api::KernelSummary> kernels = api::summarise(**module);
  write(fmt::format("{}: PTX {}.{} for {}, {} kernel{}\n", file, ir.version / 10, ir.version % 10, ir.target,
                    kernels.size(), kernels.size() == 1 ? "" : "s"));
  print((*module)->warnings());
  std::set<std::pair<std::uint32_t, std::string>> seen;
  bool fine = true;
  for (const api::KernelSummary& k : kernels) {
    const bool blocked = k.blocked_by.has_errors();
    write(api::wrapped(
        fmt::format("{}({}){}", k.function->name, parameters(*k.function), blocked ? ": cannot be launched" : ""),
        "  "));
    write(fmt::format(
        "    {} instructions, {} registers per thread ({})", k.function->instructions.size(), k.resources.registers,
        k.resources.registers_from == api::Resources::RegisterSource::estimated ? "estimated" : ".maxnreg"));
    if (!blocked)
      write(fmt::format(", {} bytes of shared memory per block, {} bytes of local memory per thread",
                        k.resources.static_shared_bytes, k.resources.local_bytes));
    write("\n");
    show_new(k.blocked_by, seen);
    fine = fine && !blocked;
  }
  show_functions(**module);
  return fine;
}

bool check_file(const std::shared_ptr<api::Context>& context, const std::string& file) {
  constexpr model::ComputeCapability kH200{9, 0}; // the default device, for files with several architectures
  const Expected<CodeOfFile> code = read_code(file, kH200);
  if (!code) {
    print(code.error());
    return false;
  }
  bool fine = true;
  for (const std::vector<api::Source>& sources : code->modules) fine = check_module(context, file, sources) && fine;
  return fine;
}

} // namespace

int check(const std::vector<std::string>& arguments) {
  boost::program_options::options_description visible("Options");
  add_limit_options(visible);
  visible.add_options()("help,h", "show this help");
  const CommandLine line = parse_command_line(arguments, visible);
  if (line.values.count("help") != 0) return show_help(kCheckHelp, visible, kCheckExamples);
  if (line.inputs.empty()) throw UsageError{"no input file", "warplens check FILE.ptx…"};
  const LimitGuard guard(line.values);
  const std::shared_ptr<api::Context> context = value_or_throw(api::Context::create());
  bool fine = true;
  for (const std::string& file : line.inputs) fine = check_file(context, file) && fine;
  return fine ? kFine : kBadInput;
}

} // namespace warplens::tools
