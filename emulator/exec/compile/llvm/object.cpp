// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/llvm/object.hpp"

#include "emulator/exec/compile/llvm/nans.hpp"
#include "emulator/exec/compile/llvm/passes.hpp"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

namespace warplens::exec::compile {

namespace {

bool is_body(const llvm::Function& f) { return f.getName() == "body" || f.getName().starts_with("body."); }
bool is_head(const llvm::Function& f) { return f.getName().starts_with("head_") || f.getName().starts_with("pair_"); }

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  run_passes(
      module, machine,
      {"always-inline,globaldce,function(sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>)",
       "function(instcombine<no-verify-fixpoint>,simplifycfg,jump-threading,loop-mssa(licm),gvn<no-pre;no-load-pre>,"
       "instcombine<no-verify-fixpoint>,adce,simplifycfg<sink-common-insts>)"},
      [&] {
        for (llvm::Function& f : module)
          if (is_body(f)) make_nans_canonical_once(f);
      });
}

} // namespace

std::string object_of(llvm::Module& module, std::string_view level, const std::string& dump, std::string& problem) {
  const std::unique_ptr<llvm::TargetMachine> machine = target_machine(level, problem);
  if (machine == nullptr) return {};
  mark_inlined(
      module, [](const llvm::Function& f) { return is_body(f) || is_head(f); }, level);
  std::string broken;
  llvm::raw_string_ostream report(broken);
  if (llvm::verifyModule(module, &report)) {
    problem = "the compiler made wrong code: " + broken;
    return {};
  }
  optimize(module, *machine);
  if (!dump.empty()) {
    std::error_code failed;
    llvm::raw_fd_ostream out(dump, failed);
    if (!failed) module.print(out, nullptr);
  }
  llvm::SmallVector<char, 0> code;
  llvm::raw_svector_ostream stream(code);
  llvm::legacy::PassManager emission;
  if (machine->addPassesToEmitFile(emission, stream, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    problem = "this machine cannot make object files";
    return {};
  }
  emission.run(module);
  return {code.data(), code.size()};
}

} // namespace warplens::exec::compile
