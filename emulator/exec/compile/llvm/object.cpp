// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/llvm/object.hpp"

#include "emulator/exec/compile/llvm/nans.hpp"
#include "emulator/exec/compile/llvm/passes.hpp"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/raw_ostream.h>

namespace warplens::exec::compile {

namespace {

bool is_in_memory(const llvm::Function& f) { return f.getName().starts_with("body_in_memory"); }
bool is_body(const llvm::Function& f) {
  return f.getName() == "body" || f.getName().starts_with("body.") || is_in_memory(f);
}
bool is_head(const llvm::Function& f) { return f.getName().starts_with("head_") || f.getName().starts_with("pair_"); }
bool is_access(const llvm::Function& f) { return f.getName().starts_with("some_"); }

// The time of this pass grows with the square of a function's length.
void leave_out_domain_reassignment(bool out) {
  auto& options = llvm::cl::getRegisteredOptions();
  if (const auto found = options.find("disable-x86-domain-reassignment"); found != options.end())
    static_cast<llvm::cl::opt<bool>*>(found->second)->setValue(out);
}

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  run_passes(module, machine, [&](llvm::Function& f, llvm::function_ref<void(const char*)> run) {
    if (is_in_memory(f)) { // blocks of code, between which there are no values
      run("sroa<modify-cfg>,early-cse,instcombine<no-verify-fixpoint>");
      make_nans_canonical_once(f);
      run("adce,simplifycfg");
      return;
    }
    run("sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>");
    if (is_body(f)) make_nans_canonical_once(f);
    run("instcombine<no-verify-fixpoint>,simplifycfg,jump-threading,loop-mssa(licm),gvn<no-pre;no-load-pre>,"
        "instcombine<no-verify-fixpoint>,adce,simplifycfg<sink-common-insts>");
  });
}

} // namespace

std::string object_of(llvm::Module& module, std::string_view level, const std::string& dump, std::string& problem) {
  const std::unique_ptr<llvm::TargetMachine> machine = target_machine(level, problem);
  if (machine == nullptr) return {};
  mark_inlined(
      module, [](const llvm::Function& f) { return is_body(f) || is_head(f) || is_access(f); }, level);
  std::string broken;
  llvm::raw_string_ostream report(broken);
  if (llvm::verifyModule(module, &report)) {
    problem = "the compiler made wrong code: " + broken;
    return {};
  }
  leave_out_domain_reassignment(llvm::any_of(module, is_in_memory));
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
