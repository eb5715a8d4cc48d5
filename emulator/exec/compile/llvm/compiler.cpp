// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/compiler.hpp"

#include "emulator/exec/compile/llvm/emitter.hpp"
#include "emulator/exec/compile/llvm/pairs.hpp"
#include "emulator/exec/compile/llvm/passes.hpp"
#include "emulator/exec/compile/llvm/worker.hpp"

#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Object/Archive.h>
#include <llvm/Support/raw_ostream.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

namespace warplens::exec::compile {

using Kind = OpMeaning::Kind;

namespace {

// Functions that are longer are not taken apart: their code would be repeated for each instruction.
constexpr unsigned kLongestInlined = 400;

std::string told(llvm::Error error) { return llvm::toString(std::move(error)); }

unsigned vector_bytes(std::string_view level) { return level.ends_with("v4") ? 64 : level.ends_with("v3") ? 32 : 16; }

// The address row, and those of the elements.
void memory_rows(const Op& op, OpFacts& facts) {
  const MemoryHandlerKey& key = facts.meaning.memory;
  const bool loads = facts.meaning.kind == Kind::load;
  const auto bytes = static_cast<std::uint32_t>(key.register_bytes);
  facts.uses.push_back({op.src[0], op.site->address32 ? 4u : 8u});
  const std::uint32_t loaded[] = {op.dst[0], op.dst[1], op.src[1], op.src[2]};
  const std::uint32_t stored[] = {op.src[1], op.src[2], op.src[3], op.dst[0]};
  for (int e = 0; e < key.vector; ++e)
    (loads ? facts.defs : facts.uses).push_back({loads ? loaded[e] : stored[e], bytes});
}

class FactsOfOps {
public:
  FactsOfOps(const CompileRequest& request, Bitcode& bitcode)
      : program_(*request.program), bitcode_(bitcode), takes_lanes_(vector_bytes(request.level) == 64) {}

  OpFacts of(const Op& op, const OpMeaning& meaning) {
    OpFacts f;
    f.meaning = meaning;
    f.guarded = op.guard_flip != 0 || op.guard != always();
    switch (meaning.kind) {
    case Kind::unknown: f.leaves = f.reads_all = true; break;
    case Kind::lane: lane(op, f); break;
    case Kind::load:
    case Kind::store: memory_rows(op, f); break;
    case Kind::atomic: atomic(op, f); break;
    case Kind::parameter:
      f.defs.push_back({op.dst[0], static_cast<std::uint32_t>(meaning.memory.register_bytes)});
      break;
    case Kind::predicate_and:
    case Kind::predicate_or:
    case Kind::predicate_xor:
      f.uses = {{op.src[0], 0}, {op.src[1], 0}};
      f.defs = {{op.dst[0], 0}};
      break;
    case Kind::copy:
      f.guarded = false;
      f.uses = {{op.src[0], static_cast<std::uint32_t>(op.imm) / kWarpSize}};
      f.defs = {{op.dst[0], static_cast<std::uint32_t>(op.imm) / kWarpSize}};
      break;
    case Kind::pack:
      f.uses = {{op.src[0], meaning.part_bytes}, {op.dst[0], meaning.whole_bytes}};
      f.defs = {{op.dst[0], meaning.whole_bytes}};
      break;
    case Kind::unpack:
      f.uses = {{op.src[0], meaning.whole_bytes}};
      f.defs = {{op.dst[0], meaning.part_bytes}};
      break;
    case Kind::warp_barrier: f.uses = {{op.src[3], 4}}; break;
    case Kind::across: across(op, f); break;
    case Kind::special: f.uses = {{op.src[0], meaning.whole_bytes}, {op.src[1], meaning.whole_bytes}}; break;
    case Kind::exit:
    case Kind::trap: f.leaves = true; break;
    case Kind::barrier:
      f.leaves = true;
      for (const int i : {0, 1})
        if (op.src[i] >= kRegisterFile) f.uses.push_back({op.src[i], 4});
      if (op.src[2] >= kRegisterFile) f.uses.push_back({op.src[2], 0});
      break;
    default: break;
    }
    if (f.guarded) {
      f.uses.push_back({op.guard, 0});
      for (const RowUse& def : f.defs) f.uses.push_back(def);
    }
    return f;
  }

private:
  std::uint32_t always() const {
    for (const ConstantRow& c : program_.constants)
      if (c.lane_bytes == 0 && c.value == kFullMask) return c.offset;
    return 0;
  }

  void atomic(const Op& op, OpFacts& f) const {
    const auto bytes = static_cast<std::uint32_t>(f.meaning.memory.register_bytes);
    f.uses = {{op.src[0], op.site->address32 ? 4u : 8u}, {op.src[1], bytes}};
    if (op.src[2] != op.src[1]) f.uses.push_back({op.src[2], bytes});
    if (op.site->kind == AccessKind::atomic) f.defs = {{op.dst[0], bytes}};
    f.by_handler = f.meaning.atomic == nullptr || !is_quick(op.site->space) || !takes_lanes_;
  }

  static void across(const Op& op, OpFacts& f) {
    const WarpHandlerKey& key = f.meaning.warp;
    const bool is_vote = votes(key.operation);
    if (is_vote)
      f.uses.push_back({op.src[0], 0});
    else if (key.operation != WarpOperation::active_mask)
      f.uses.push_back({op.src[0], 4});
    if (shuffles(key.operation)) f.uses.append({{op.src[1], 4}, {op.src[2], 4}});
    if (key.sync) f.uses.push_back({op.src[3], 4});
    const bool truth = is_vote && key.operation != WarpOperation::ballot;
    if (!truth) f.defs.push_back({op.dst[0], 4});
    if (truth || key.predicate) f.defs.push_back({op.dst[1], 0});
  }

  void lane(const Op& op, OpFacts& f) {
    const RowFunctionInfo info = bitcode_.row_function(f.meaning.entry, f.meaning.variant);
    if (info.destinations.empty()) {
      f.leaves = f.reads_all = true;
      return;
    }
    for (std::size_t i = 0; i < info.sources.size(); ++i)
      f.uses.push_back({i < 4 ? op.src[i] : op.extra, info.sources[i]});
    for (std::size_t i = 0; i < info.destinations.size(); ++i) f.defs.push_back({op.dst[i], info.destinations[i]});
    f.sources = static_cast<std::uint32_t>(info.sources.size());
    f.by_handler = info.all.empty() || bitcode_.length(info.all) > kLongestInlined;
    f.has_scalar = !info.first.empty() && bitcode_.length(info.first) <= kLongestInlined;
  }

  const Program& program_;
  Bitcode& bitcode_;
  bool takes_lanes_; ///< the processor compares addresses under masks
};

llvm::orc::LLJIT* linker(std::string& problem) {
  static std::string failed;
  static llvm::orc::LLJIT* const jit = [] {
    auto made = llvm::orc::LLJITBuilder().create();
    if (!made) {
      failed = told(made.takeError());
      return static_cast<llvm::orc::LLJIT*>(nullptr);
    }
    return made->release();
  }();
  problem = failed;
  return jit;
}

/// The ops at which single warps and pairs enter the code.
struct Heads {
  std::vector<std::uint32_t> single, pairs;
};

// The files of an archive, each at an address that suits it.
llvm::Error add_objects(llvm::orc::LLJIT& jit, llvm::orc::JITDylib& library, llvm::StringRef archive) {
  auto files = llvm::object::Archive::create(llvm::MemoryBufferRef(archive, "kernel"));
  if (!files) return files.takeError();
  llvm::Error error = llvm::Error::success();
  for (const llvm::object::Archive::Child& child : (*files)->children(error)) {
    auto object = child.getBuffer();
    if (!object) return object.takeError();
    if (llvm::Error failed = jit.addObjectFile(library, llvm::MemoryBuffer::getMemBufferCopy(*object))) return failed;
  }
  return error;
}

// Machine code that is linked into the process.
void load(llvm::StringRef archive, const CompileRequest& request, const Heads& heads, CompileOutcome& outcome) {
  static unsigned number = 0;
  llvm::orc::LLJIT* const jit = linker(outcome.problem);
  if (jit == nullptr) return;
  auto library = jit->createJITDylib(fmt::format("kernel_{}", number++));
  if (!library) {
    outcome.problem = told(library.takeError());
    return;
  }
  llvm::orc::SymbolMap symbols;
  for (const auto& [name, address] : request.functions)
    symbols[jit->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                           llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  llvm::Error error = library->define(llvm::orc::absoluteSymbols(std::move(symbols)));
  if (!error) {
    auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess('\0');
    if (process)
      library->addGenerator(std::move(*process));
    else
      error = process.takeError();
  }
  if (!error) error = add_objects(*jit, *library, archive);
  const auto find = [&](const char* kind, const std::vector<std::uint32_t>& ops, auto& found) {
    for (const std::uint32_t op : ops) {
      if (error) return;
      auto code = jit->lookup(*library, fmt::format("{}_{}", kind, op));
      if (code)
        found.push_back({op, code->toPtr<decltype(found.back().run)>()});
      else
        error = code.takeError();
    }
  };
  find("head", heads.single, outcome.entries);
  find("pair", heads.pairs, outcome.pairs);
  if (error) {
    outcome.entries.clear();
    outcome.pairs.clear();
    outcome.problem = told(std::move(error));
  }
}

// Kernels are compiled one after the other: they share the bitcode, of which each one reads what it needs.
std::mutex& compiling() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}
llvm::LLVMContext& shared_context() {
  static llvm::LLVMContext& context = *new llvm::LLVMContext;
  return context;
}
Bitcode* bitcode_of(std::string_view level) {
  static auto& all = *new std::map<std::string_view, std::optional<Bitcode>>;
  std::optional<Bitcode>& bitcode = all.try_emplace(level).first->second;
  if (!bitcode) bitcode = Bitcode::open(shared_context(), level);
  return bitcode ? &*bitcode : nullptr;
}

Region region_of(const CompileRequest& request, Bitcode& bitcode) {
  FactsOfOps facts_of(request, bitcode);
  std::vector<OpFacts> facts;
  for (std::size_t i = 0; i < request.program->ops.size(); ++i)
    facts.push_back(facts_of.of(request.program->ops[i], request.meanings[i]));
  return {*request.program, std::move(facts)};
}

void tell_how(const Region& region, const std::vector<Part>& parts, CompileOutcome& outcome) {
  for (std::uint32_t i = 0; i < region.size(); ++i) {
    using How = CompileOutcome::How;
    const OpFacts& f = region.facts(i);
    const bool reachable = std::any_of(parts.begin(), parts.end(), [&](const Part& part) { return part.reachable(i); });
    outcome.how.push_back(!reachable     ? How::never
                          : f.leaves     ? How::interpreter
                          : f.by_handler ? How::handler
                                         : How::compiled);
  }
}

std::vector<std::uint32_t> heads_of(const std::vector<Part>& parts) {
  std::vector<std::uint32_t> heads;
  for (const Part& part : parts) heads.insert(heads.end(), part.heads().begin(), part.heads().end());
  return heads;
}

std::string text_of(const llvm::Module& module) {
  std::string bitcode;
  llvm::raw_string_ostream writer(bitcode);
  llvm::WriteBitcodeToFile(module, writer);
  return bitcode;
}

// What is kept of code that cannot be made begins with this; an archive does not.
constexpr std::string_view kFailed = "failed: ";

// False: nothing was kept, or it is damaged.
bool load_kept(const std::string& content, const CompileRequest& request, const Heads& heads, CompileOutcome& outcome) {
  const std::optional<std::string> kept = request.kept ? request.kept(content) : std::nullopt;
  if (!kept) return false;
  outcome.was_kept = true;
  if (kept->starts_with(kFailed)) {
    outcome.problem = kept->substr(kFailed.size());
    return true;
  }
  outcome.bytes = kept->size();
  load(*kept, request, heads, outcome);
  if (outcome.problem.empty()) return true;
  outcome.problem.clear();
  outcome.was_kept = false;
  return false;
}

// The worker makes machine code of the whole module, which is kept under `content`.
void make(const std::string& content, const std::string& bitcode, const CompileRequest& request, const Heads& heads,
          CompileOutcome& outcome) {
  const std::optional<std::string> code =
      Worker::instance().code_of(request.worker, request.level, bitcode, outcome.problem);
  if (!code) return;
  if (code->empty()) {
    if (request.keep) request.keep(content, std::string(kFailed) + outcome.problem);
    return;
  }
  outcome.bytes = code->size();
  load(*code, request, heads, outcome);
  if (request.keep && outcome.problem.empty()) request.keep(content, *code);
}

void compile(const CompileRequest& request, CompileOutcome& outcome) {
  const std::lock_guard lock(compiling());
  const std::string_view level = request.level;
  llvm::LLVMContext& context = shared_context();
  Bitcode* const bitcode = bitcode_of(level);
  if (bitcode == nullptr) {
    outcome.problem = fmt::format("there is no bitcode for level {}", level);
    return;
  }
  llvm::Module module("kernel", context);
  std::unique_ptr<llvm::TargetMachine> machine = target_machine(level, outcome.problem);
  if (machine == nullptr) return;
  module.setTargetTriple(machine->getTargetTriple().str());
  module.setDataLayout(machine->createDataLayout());
  const Region region = region_of(request, *bitcode);
  if (region.is_too_large()) {
    outcome.problem = "not compiled: it has too many operations and registers";
    return;
  }
  // For tests, also small programs have several parts.
  const Division division = request.divided_anyhow ? Division{true, 24, 60} : Division{};
  std::vector<Part> parts = parts_of(region, division);
  Target target{*bitcode, *machine, level, Chunks(vector_bytes(level))};
  std::optional<Shapes> shapes(std::in_place, *request.program, region, request.block, heads_of(parts));
  const std::optional<Part> pairs = pairs_of(region, *shapes, parts, target, request.pairs_anyhow);
  if (pairs) {
    const std::vector<std::uint32_t> partings = partings_of(region, *pairs);
    add_entries(region, partings, division, parts);
    std::vector<std::uint32_t> entries = heads_of(parts);
    entries.insert(entries.end(), partings.begin(), partings.end());
    shapes.emplace(*request.program, region, request.block, entries);
  }
  tell_how(region, parts, outcome);
  if (parts.empty()) return;
  Heads heads;
  for (const Part& part : parts) {
    Emitter(*request.program, region, *shapes, part, target, module, outcome).run();
    heads.single.insert(heads.single.end(), part.heads().begin(), part.heads().end());
  }
  if (pairs) {
    Emitter(*request.program, region, *shapes, *pairs, target, module, outcome, 2).run();
    heads.pairs = pairs->heads();
  }
  // All that the code depends on is in the module now.
  const std::string content = text_of(module);
  if (load_kept(content, request, heads, outcome)) return bitcode->forget();
  if (llvm::Error error = bitcode->define(module)) {
    outcome.problem = told(std::move(error));
    return;
  }
  make(content, text_of(module), request, heads, outcome);
}

} // namespace
} // namespace warplens::exec::compile

extern "C" [[gnu::visibility("default")]] void warplens_compile(const warplens::exec::CompileRequest& request,
                                                                warplens::exec::CompileOutcome& outcome) {
  warplens::exec::compile::compile(request, outcome);
}

extern "C" [[gnu::visibility("default")]] const std::uint64_t warplens_compiler_layout =
    warplens::exec::compiler_layout();

extern "C" [[gnu::visibility("default")]] void warplens_stop_compiling() {
  warplens::exec::compile::Worker::instance().stop();
}
