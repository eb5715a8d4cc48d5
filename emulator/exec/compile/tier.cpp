// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/tier.hpp"

#include "emulator/base/entry_folder.hpp"
#include "emulator/base/own_folder.hpp"
#include "emulator/exec/compile/compiler.hpp"
#include "emulator/exec/compile/support.hpp"
#include "emulator/exec/decode/levels.hpp"

#include <fmt/format.h>

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace warplens::exec {

namespace {

constexpr const char* kLibrary = "libwarplens_compiler.so";
constexpr const char* kWorker = "warplens_compile_worker";

// Not one that another user put there.
bool is_ours(const std::filesystem::path& file) {
  struct stat status {};
  return stat(file.c_str(), &status) == 0 && (status.st_uid == 0 || status.st_uid == geteuid());
}

// The library is beside the program or the library that has this code, or in a prefix above it: bin, lib,
// lib/warplens/cuda or lib/python3/dist-packages/warplens, and in build folders bin, tests or lib/cuda. It is not
// opened: that takes longer than a small launch.
std::filesystem::path find_library() {
  std::filesystem::path above = own_folder();
  if (above.empty() || is_ours(above / kLibrary)) return above;
  for (int levels = 0; levels < 4; ++levels) {
    above = above.parent_path();
    for (const char* const in_prefix : {"lib", WARPLENS_COMPILER_IN_PREFIX})
      if (auto folder = above / in_prefix; is_ours(folder / kLibrary)) return folder;
  }
  return {};
}

const std::filesystem::path& library_folder() {
  static const std::filesystem::path& found = *new std::filesystem::path(find_library());
  return found;
}

struct Library {
  CompileFunction compile = nullptr;
  StopFunction stop = nullptr;
  std::string problem;
  std::string version; ///< another one for each build; empty: unknown
};

// Its file's size and time of change: a build replaces the file.
std::string version_of(const std::string& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) return {};
  return fmt::format("{} {} {}.{}", kLibrary, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

const Library& library() {
  static const Library& opened = *new Library([] {
    Library l;
    if (library_folder().empty()) {
      l.problem = fmt::format("{} is not installed", kLibrary);
      return l;
    }
    const std::string file = library_folder() / kLibrary;
    l.version = version_of(file);
    void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      l.problem = fmt::format("cannot open {}: {}", kLibrary, dlerror());
      return l;
    }
    const auto* const layout = static_cast<const std::uint64_t*>(dlsym(handle, "warplens_compiler_layout"));
    if (layout != nullptr && *layout == compiler_layout())
      l.compile = reinterpret_cast<CompileFunction>(dlsym(handle, "warplens_compile"));
    l.stop = reinterpret_cast<StopFunction>(dlsym(handle, "warplens_stop_compiling"));
    if (l.compile == nullptr) l.problem = fmt::format("{} is of another build of Warplens", kLibrary);
    return l;
  }());
  return opened;
}

const Meanings& meanings(const Level& level) {
  static std::mutex& mutex = *new std::mutex;
  static auto& all = *new std::map<const Level*, Meanings>;
  const std::lock_guard lock(mutex);
  const auto found = all.find(&level);
  return found != all.end() ? found->second : all.emplace(&level, Meanings(level)).first->second;
}

const Level* level_of(const Program& program) {
  for (const Level& level : levels())
    if (level.name == program.level) return &level;
  return nullptr;
}

using BlockShape = std::array<std::uint32_t, 3>;

// A kernel to be compiled, and what explanations say of it: its module may be gone when the compiler has time for it.
struct Order {
  Order(const Program& program, BlockShape shape)
      : block(shape), kernel(fmt::format("{}{}", program.function->name, program.watched ? ", analysed" : "")) {
    for (const ir::Instruction& i : program.function->instructions) opcodes.emplace_back(i.opcode);
  }
  BlockShape block;
  std::string kernel;
  std::vector<std::string> opcodes; ///< by instruction
};

// The opcodes of the instructions whose ops run in a way: "bar.sync 2, shfl.sync.bfly.b32 1"
std::string opcodes(const Program& program, const Order& order, const CompileOutcome& outcome,
                    CompileOutcome::How how) {
  std::map<std::string_view, int> counts;
  std::uint32_t last = ~0u;
  for (std::size_t i = 0; i < outcome.how.size(); ++i) {
    const std::uint32_t instruction = program.ops[i].instruction;
    if (outcome.how[i] != how || instruction == last || instruction >= order.opcodes.size()) continue;
    last = instruction;
    ++counts[order.opcodes[instruction]];
  }
  std::string text;
  for (const auto& [opcode, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", opcode, count);
  return text;
}

std::string explanation_of(const Program& program, const Order& order, const CompileOutcome& outcome,
                           double milliseconds) {
  using How = CompileOutcome::How;
  const auto count = [&](How how) { return std::count(outcome.how.begin(), outcome.how.end(), how); };
  std::string text = outcome.problem.empty()
                         ? fmt::format("{} entries{}, {} bytes of code, {:.0f} ms{}\n", outcome.entries.size(),
                                       outcome.pairs.empty() ? "" : fmt::format(", {} of pairs", outcome.pairs.size()),
                                       outcome.bytes, milliseconds, outcome.was_kept ? ", from the cache" : "")
                         : outcome.problem + "\n";
  text += fmt::format("  operations: {} compiled, {} by their handlers, {} in the interpreter, {} not reached\n",
                      count(How::compiled), count(How::handler), count(How::interpreter), count(How::never));
  for (const auto& [how, name] :
       {std::pair{How::handler, "by handlers"}, {How::interpreter, "interpreted"}, {How::never, "not reached"}})
    if (const std::string list = opcodes(program, order, outcome, how); !list.empty())
      text += fmt::format("  {}: {}\n", name, list);
  return text;
}

std::mutex& explanations_mutex() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}
std::vector<std::string>& explanations() {
  static auto& list = *new std::vector<std::string>;
  return list;
}

void explain(const Order& order, const std::string& text) {
  const std::lock_guard lock(explanations_mutex());
  explanations().push_back(fmt::format("{}: {}", order.kernel, text));
}

// Code of this level and version of the compiler is kept in the user's cache folder.
void use_cache(CompileRequest& request) {
  const std::string& version = library().version;
  if (version.empty()) return;
  const auto key = [version, level = std::string(request.level)](const std::string& content) {
    return content_hash(fmt::format("{}\n{}\n{}", version, level, content));
  };
  request.kept = [key](const std::string& content) { return EntryFolder::of_environment().find(key(content)); };
  request.keep = [key](const std::string& content, std::string_view code) {
    EntryFolder::of_environment().store(key(content), code);
  };
}

void compile(const Program& program, const Order& order) {
  KernelCode& code = *program.code;
  if (!program.compilable) return explain(order, fmt::format("not compiled: {}\n", program.why_interpreted));
  const Level* const level = level_of(program);
  if (level == nullptr || library().compile == nullptr)
    return explain(order, fmt::format("not compiled: {}\n", library().problem));
  const auto start = std::chrono::steady_clock::now();
  CompileRequest request;
  request.program = &program;
  request.block = order.block;
  request.level = program.level;
  request.functions = support_functions(*level);
  request.worker = library_folder() / kWorker;
  request.pairs_anyhow = pairs_anyhow();
  request.divided_anyhow = divided_anyhow();
  use_cache(request);
  for (const Op& op : program.ops) {
    code.originals.push_back(op.run.load());
    request.meanings.push_back(meanings(*level).of(op));
  }
  CompileOutcome outcome;
  library().compile(request, outcome);
  explain(order,
          explanation_of(program, order, outcome,
                         std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count()));
  code.tallies = std::move(outcome.tallies);
  code.tally_words = outcome.tally_words;
  code.first_original.store(code.originals.data(), std::memory_order_release);
  for (const CompileOutcome::Entry& entry : outcome.entries) {
    code.entries.push_back(entry.op);
    const_cast<Op&>(program.ops[entry.op]).run.replace(entry.run);
  }
  if (outcome.pairs.empty()) return;
  code.pairs.resize(program.ops.size());
  for (const CompileOutcome::PairEntry& pair : outcome.pairs) code.pairs[pair.op] = pair.run;
  code.first_pair.store(code.pairs.data(), std::memory_order_release);
}

BlockShape block_of(const Launch& launch) {
  const std::uint32_t* const b = launch.shape.block;
  return {b[0], b[1], b[2]};
}

// A kernel is compiled when the interpreter has spent about as much time on it as the compiler takes.
constexpr std::uint64_t kHot = 20'000'000;

// Compiles hot kernels one after the other, in a thread of its own.
class Background {
public:
  static Background& instance() {
    static Background& it = *new Background;
    return it;
  }

  void compile(std::shared_ptr<const Program> program, Order order) {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    waiting_.push_back({std::move(program), std::move(order)});
    if (!thread_.joinable()) {
      // LLVM's data must not be destroyed while the thread uses it. What is registered last runs first.
      library();
      std::atexit([] { instance().stop(); });
      owner_ = getpid();
      thread_ = std::thread([this] { run(); });
    }
    changed_.notify_one();
  }

private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return stopped_ || !waiting_.empty(); });
      if (stopped_) return;
      const Waiting next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      std::call_once(next.program->code->once, [&] { exec::compile(*next.program, next.order); });
      lock.lock();
    }
  }

  void stop() {
    if (owner_ != getpid()) return; // a copy of the process has no such thread
    if (library().stop != nullptr) library().stop();
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  struct Waiting {
    std::shared_ptr<const Program> program;
    Order order;
  };
  std::deque<Waiting> waiting_;
  std::thread thread_;
  bool stopped_ = false;
  pid_t owner_ = 0; ///< the process that has the thread
};

} // namespace

std::string explain_compiled() {
  const std::lock_guard lock(explanations_mutex());
  std::string text;
  for (const std::string& one : explanations()) text += one;
  return text;
}

std::string compiler_library() {
  return library_folder().empty() ? std::string() : (library_folder() / kLibrary).string();
}

bool compile_before(const Launch& launch) {
  const Program& program = *launch.program;
  const CompileMode mode = compile_mode();
  // A tool shows what warps do in the order in which they run without compiled code.
  if (mode == CompileMode::off || launch.tools.any() || launch.schedule_seed != 0) return false;
  if (launch.shape.cluster_ctas() > 1) return false; // compiled code knows no ranks in addresses of shared memory
  if (mode == CompileMode::always)
    std::call_once(program.code->once, [&] { compile(program, {program, block_of(launch)}); });
  if (!program.compilable) return false;
  return mode == CompileMode::automatic ? !library_folder().empty() : !program.code->entries.empty();
}

void count_steps(const Launch& launch, std::uint64_t steps) {
  const Program& program = *launch.program;
  if (compile_mode() != CompileMode::automatic || library_folder().empty()) return;
  KernelCode& code = *program.code;
  if (code.steps.fetch_add(steps, std::memory_order_relaxed) + steps < kHot) return;
  if (!code.asked.exchange(true)) Background::instance().compile(launch.program, {program, block_of(launch)});
}

} // namespace warplens::exec
