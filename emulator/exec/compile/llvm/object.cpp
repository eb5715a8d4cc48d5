// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/llvm/object.hpp"

#include "emulator/exec/compile/llvm/nans.hpp"
#include "emulator/exec/compile/llvm/passes.hpp"

#include <llvm/ADT/StringSet.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <system_error>
#include <thread>
#include <vector>

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

// What one thread compiles: some bodies, and the heads that enter them.
using Share = llvm::StringSet<>;

// The longest body first, each for the thread that has least to do. Empty: one thread does everything.
std::vector<Share> shares_of(const llvm::Module& module, bool dumps) {
  constexpr std::size_t kMostThreads = 16;
  constexpr std::size_t kLeastLength = 5000; // LLVM needs about 0.1 s for it
  std::vector<std::pair<std::size_t, llvm::StringRef>> bodies;
  std::size_t all = 0;
  for (const llvm::Function& f : module) {
    if (!is_body(f)) continue;
    std::size_t length = 0;
    if (f.getFnAttribute(kLengthAttribute).getValueAsString().getAsInteger(10, length)) return {};
    bodies.emplace_back(length, f.getName());
    all += length;
  }
  const std::size_t threads = std::min({bodies.size(), all / kLeastLength, kMostThreads,
                                        std::size_t{std::max(1u, std::thread::hardware_concurrency())}});
  if (threads < 2 || dumps) return {};
  llvm::sort(bodies, std::greater());
  std::vector<Share> shares(threads);
  std::vector<std::size_t> lengths(threads);
  for (const auto& [length, name] : bodies) {
    const auto least = static_cast<std::size_t>(llvm::min_element(lengths) - lengths.begin());
    shares[least].insert(name);
    lengths[least] += length;
  }
  return shares;
}

// The others are not read.
llvm::Error leave_out_others(llvm::Module& module, const Share& share) {
  const auto is_others = [&](const llvm::Function& f) { return is_body(f) && !share.contains(f.getName()); };
  for (llvm::Function& f : module) {
    if (is_others(f)) f.deleteBody();
    if (!is_head(f)) continue;
    if (llvm::Error error = f.materialize()) return error;
    const bool enters_others = llvm::any_of(llvm::instructions(f), [&](const llvm::Instruction& i) {
      const auto* const call = llvm::dyn_cast<llvm::CallInst>(&i);
      return call != nullptr && call->getCalledFunction() != nullptr && is_others(*call->getCalledFunction());
    });
    if (enters_others) f.deleteBody();
  }
  return llvm::Error::success();
}

struct Reading {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
};

std::unique_ptr<Reading> read(std::string_view text, std::string& problem) {
  auto reading = std::make_unique<Reading>();
  llvm::SMDiagnostic mistake;
  reading->module = llvm::getLazyIRModule(llvm::MemoryBuffer::getMemBuffer(text, "kernel", false), mistake,
                                          reading->context, /*ShouldLazyLoadMetadata=*/true);
  if (reading->module != nullptr) return reading;
  problem = mistake.getMessage().str();
  return nullptr;
}

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

// Of a share, or of everything.
std::string object_of(Reading& reading, const Share* share, std::string_view level, const std::string& dump,
                      std::string& problem) {
  llvm::Module& module = *reading.module;
  llvm::Error error = share == nullptr ? llvm::Error::success() : leave_out_others(module, *share);
  if (!error) error = module.materializeAll();
  if (!error) return object_of(module, level, dump, problem);
  problem = llvm::toString(std::move(error));
  return {};
}

std::string archive_of(llvm::ArrayRef<std::string> objects, std::string& problem) {
  std::vector<llvm::NewArchiveMember> members;
  for (const std::string& object : objects) members.emplace_back(llvm::MemoryBufferRef(object, "code.o"));
  auto archive =
      llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NoSymtab, llvm::object::Archive::K_GNU, true, false);
  if (archive) return (*archive)->getBuffer().str();
  problem = llvm::toString(archive.takeError());
  return {};
}

} // namespace

std::string code_of(std::string_view text, std::string_view level, const std::string& dump, std::string& problem) {
  const std::unique_ptr<Reading> whole = read(text, problem);
  if (whole == nullptr) return {};
  leave_out_domain_reassignment(llvm::any_of(*whole->module, is_in_memory));
  const std::vector<Share> shares = shares_of(*whole->module, !dump.empty());
  if (shares.empty()) {
    const std::string object = object_of(*whole, nullptr, level, dump, problem);
    return object.empty() ? object : archive_of(object, problem);
  }
  std::vector<std::string> objects(shares.size()), problems(shares.size());
  const auto make = [&](std::size_t i) {
    const std::unique_ptr<Reading> own = read(text, problems[i]);
    if (own != nullptr) objects[i] = object_of(*own, &shares[i], level, dump, problems[i]);
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    try {
      threads.emplace_back(make, i);
    } catch (const std::system_error&) { // there may be no more threads
      make(i);
    }
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& one : problems)
    if (!one.empty()) {
      problem = one;
      return {};
    }
  return archive_of(objects, problem);
}

} // namespace warplens::exec::compile
