// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/llvm/passes.hpp"

#include <llvm/ADT/StringMap.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>

#include <mutex>

namespace warplens::exec::compile {

std::unique_ptr<llvm::TargetMachine> target_machine(std::string_view level, std::string& problem) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  const std::string triple = "x86_64-pc-linux-gnu";
  const llvm::Target* const target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (target == nullptr) return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(triple, std::string(level), "", options,
                                                                          llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                                                          llvm::CodeGenOptLevel::Default));
}

void run_passes(llvm::Module& module, llvm::TargetMachine& machine,
                llvm::function_ref<void(llvm::Function&, llvm::function_ref<void(const char*)>)> each) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager inlining;
  llvm::cantFail(builder.parsePassPipeline(inlining, "always-inline,globaldce"));
  inlining.run(module, modules);
  llvm::StringMap<llvm::FunctionPassManager> pipelines;
  for (llvm::Function& f : module) {
    if (f.isDeclaration()) continue;
    each(f, [&](const char* pipeline) {
      const auto [found, fresh] = pipelines.try_emplace(pipeline);
      if (fresh) llvm::cantFail(builder.parsePassPipeline(found->second, pipeline));
      found->second.run(f, functions);
      functions.clear(f, f.getName()); // it is changed in between, too
    });
  }
}

void mark_inlined(llvm::Module& module, llvm::function_ref<bool(const llvm::Function&)> ours, std::string_view level) {
  for (llvm::Function& f : module) {
    if (f.isDeclaration()) continue;
    if (ours(f)) {
      f.addFnAttr("target-cpu", std::string(level));
      if (level.ends_with("v4")) f.addFnAttr("prefer-vector-width", "512");
      f.addFnAttr(llvm::Attribute::NoUnwind);
    } else {
      f.setLinkage(llvm::GlobalValue::InternalLinkage);
      f.removeFnAttr(llvm::Attribute::NoInline);
      f.removeFnAttr(llvm::Attribute::OptimizeNone);
      f.addFnAttr(llvm::Attribute::AlwaysInline);
    }
  }
  // LLVM's own lists of what the bitcode must keep are not needed any more.
  for (llvm::GlobalVariable& g : llvm::make_early_inc_range(module.globals())) {
    if (g.getName().starts_with("llvm."))
      g.eraseFromParent();
    else if (!g.isDeclaration())
      g.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}

} // namespace warplens::exec::compile
