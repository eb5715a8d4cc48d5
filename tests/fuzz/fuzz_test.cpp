// SPDX-License-Identifier: Apache-2.0
// Runs random programs (generator.hpp) in the emulator at every level, watched and unwatched, and in a simple evaluator
// (evaluator.hpp). Registers, memory and instruction counts must be equal,
// and what watchers are told and traps, of interpreted and of compiled programs. The test reduces a failing program as
// far as possible before it shows it.
//
//   fuzz_test --explain FILE                    also writes what was compiled of each program
//   fuzz_test --first 5000 --programs 100000    more than by default; a single one: --first N --programs 1
//   fuzz_test --length 8                        programs that are eight times as long
//   fuzz_test --compiled-only 1                 only programs that the compiler takes, every second one watched
#include "tests/exec/recorder.hpp"
#include "tests/fuzz/evaluator.hpp"
#include "tests/fuzz/generator.hpp"
#include "tests/hardware/emulated.hpp"

#include "emulator/exec/compile/tier.hpp"
#include "emulator/exec/state/kernel_code.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <optional>
#include <set>
#include <sstream>

namespace warplens::fuzz {
namespace fuzz_test {

std::uint64_t first_program = 0, program_count = 0; // 0: as many as have every spelling twice
std::uint64_t length = 1, compiled_only = 0;

constexpr std::uint64_t kMostSteps = 1'000'000; // of all warps: a program that goes on for ever is an error

// A program in memory: its module, its input and its output.
class Machine {
public:
  explicit Machine(const Program& program) : emulated_(program.ptx(), "fuzz.ptx") {
    const std::uint64_t threads = std::uint64_t{program.threads()} * program.ctas;
    std::vector<std::uint32_t> input;
    for (std::uint64_t t = 0; t < threads; ++t)
      for (std::size_t word = 0; word < input_words(); ++word) {
        const std::uint64_t value = program.input(t, word);
        input.push_back(static_cast<std::uint32_t>(value));
        input.push_back(static_cast<std::uint32_t>(value >> 32));
      }
    of_threads_ = program.arrays_begin();
    words_ = of_threads_ + program.array_words();
    params_ = {emulated_.buffer(input), emulated_.buffer(std::vector<std::uint32_t>(2 * words_))};
    // Somewhere in there, most programs leave this one.
    short_ = emulated_.buffer(std::vector<std::uint32_t>(2 * (program.input(0, input_words()) % words_ + 1)));
    shape_.block[0] = program.block[0];
    shape_.block[1] = program.block[1];
    shape_.grid[0] = program.ctas;
    divided_ = program.number % 8 < 4;
  }

  struct Outcome {
    std::string problem;
    std::vector<std::uint64_t> words;
    std::vector<exec::InstructionCount> counts; ///< none where nobody watched
    std::string told;                           ///< what a watcher was told
  };

  Outcome evaluated() {
    clear();
    const ir::Function& function = *emulated_.module().find("k");
    Evaluation e = evaluate({emulated_.module(), function, shape_, params_});
    return {e.problem, written(), std::move(e.counts), {}};
  }

  struct Way {
    const exec::Level& level;
    bool watched, compiled;
  };
  Outcome emulated(const Way& way) {
    clear();
    tests::Recorder recorder(way.compiled); // of the two forms, one is told of irregular accesses together
    std::string problem = run(way, params_[1], way.watched ? &recorder : nullptr);
    return {std::move(problem), written(), std::move(recorder.by_instruction), std::move(recorder.text)};
  }

  /// Why it stops if the output is too short for it.
  std::string stopped(const Way& way) { return run(way, short_, nullptr); }

  /// The words that threads write for themselves; then come the arrays.
  [[nodiscard]] std::size_t of_threads() const { return of_threads_; }
  const ir::Function& function() { return *emulated_.module().find("k"); }

private:
  std::string run(const Way& way, std::uint64_t out, exec::Watcher* watcher) {
    exec::set_compile_mode(way.compiled ? exec::CompileMode::always : exec::CompileMode::off);
    exec::set_pairs_anyhow(true);
    exec::set_divided_anyhow(divided_);
    tests::Emulated::Request request;
    request.kernel = "k";
    request.shape = shape_;
    request.arguments = {{params_[0], 8}, {out, 8}};
    request.level = &way.level;
    request.watcher = watcher;
    request.max_steps = kMostSteps;
    return emulated_.run(request);
  }
  void clear() { std::memset(reinterpret_cast<void*>(params_[1]), 0, 8 * words_); }
  std::vector<std::uint64_t> written() const {
    const auto* const from = reinterpret_cast<const std::uint64_t*>(params_[1]);
    return {from, from + words_};
  }

  tests::Emulated emulated_;
  exec::LaunchShape shape_;
  std::vector<std::uint64_t> params_;
  std::size_t of_threads_ = 0, words_ = 0;
  std::uint64_t short_ = 0;
  bool divided_ = false; ///< if compiled: as a large kernel
};

std::string difference(std::size_t of_threads, const Machine::Outcome& wanted, const Machine::Outcome& got) {
  std::ostringstream text;
  if (!got.problem.empty()) return got.problem;
  for (std::size_t i = 0; i < wanted.words.size(); ++i) {
    if (wanted.words[i] == got.words[i]) continue;
    if (i < of_threads)
      text << "thread " << i / output_words() << ": " << output_name(i % output_words());
    else
      text << "word " << i - of_threads << " of the arrays in global memory";
    text << " is " << std::hex << got.words[i] << ", should be " << wanted.words[i];
    return text.str();
  }
  for (std::size_t i = 0; i < got.counts.size(); ++i) {
    const auto &a = wanted.counts[i], &b = got.counts[i];
    if (a.lanes == b.lanes && a.lanes_on == b.lanes_on) continue;
    text << "instruction " << i << " ran in " << b.lanes << " threads, " << b.lanes_on
         << " with a true guard; should be " << a.lanes << " and " << a.lanes_on;
    return text.str();
  }
  return {};
}

// The first line that differs.
std::string difference_of_texts(const std::string& wanted, const std::string& got) {
  std::istringstream a(wanted), b(got);
  for (std::string x, y; x == y && (a || b);) {
    if (!std::getline(a, x)) x = "nothing";
    if (!std::getline(b, y)) y = "nothing";
    if (x != y) return "the watcher was told '" + y + "', should be '" + x + "'";
  }
  return {};
}

// What is wrong with a program; empty where nothing is.
std::string failure_of(const Program& program) {
  std::optional<Machine> machine;
  try {
    machine.emplace(program);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  const Machine::Outcome wanted = machine->evaluated();
  if (!wanted.problem.empty()) return wanted.problem;
  for (const exec::Level& level : exec::levels()) {
    for (const bool watched : {false, true}) {
      if (compiled_only != 0 && watched != (program.number % 4 < 2)) continue; // each target in both ways
      std::string told;
      for (const bool compiled : {false, true}) {
        if (compiled && !WARPLENS_HAS_COMPILER) continue;
        const Machine::Outcome got = machine->emulated({level, watched, compiled});
        std::string d = difference(machine->of_threads(), wanted, got);
        if (compiled && d.empty()) d = difference_of_texts(told, got.told);
        if (!d.empty())
          return std::string(level.name) + (watched ? ", watched" : "") + (compiled ? ", compiled: " : ": ") + d;
        told = got.told;
      }
    }
    if (!WARPLENS_HAS_COMPILER || (compiled_only != 0 && program.number % 4 < 2)) continue;
    const std::string a = machine->stopped({level, false, false}), b = machine->stopped({level, false, true});
    if (a != b) return std::string(level.name) + ", compiled: stops with '" + b + "', should stop with '" + a + "'";
  }
  return {};
}

// The program without the statements that keep a kernel from being compiled (why_interpreted in decode.cpp).
Program compilable(Program program) {
  constexpr std::string_view kOrdering[] = {".exch.",    ".cas.",    ".inc.",    ".dec.",    "fence", "membar",
                                            ".volatile", ".relaxed", ".acquire", ".release", ".mmio"};
  std::erase_if(program.statements, [&](const std::string& s) {
    const bool used = s.find("atom.") != std::string::npos && s.find(" _,") == std::string::npos;
    return used || std::any_of(std::begin(kOrdering), std::end(kOrdering),
                               [&](std::string_view word) { return s.find(word) != std::string::npos; });
  });
  return program;
}

// Leaves out statements, in ever smaller pieces, as long as what is left still fails.
Program smallest(Program program) {
  for (std::size_t piece = program.statements.size(); piece > 0; piece /= 2)
    for (std::size_t at = 0; at < program.statements.size();) {
      Program without = program;
      without.statements.clear();
      for (std::size_t i = 0; i < program.statements.size(); ++i)
        if (i < at || i >= at + piece || is_label(program.statements[i]))
          without.statements.push_back(program.statements[i]);
      if (without.statements.size() < program.statements.size() && !failure_of(without).empty())
        program = std::move(without);
      else
        at += piece;
    }
  return program;
}

std::string shown(const Program& program) {
  std::string text = "program " + std::to_string(program.number) + ", " + std::to_string(program.ctas) + " blocks of " +
                     std::to_string(program.block[0]) + "x" + std::to_string(program.block[1]) +
                     " threads: " + failure_of(program) + "\n";
  for (const std::string& s : program.statements) text += "  " + s + "\n";
  return text;
}

TEST(Fuzz, EveryLevelComputesWhatOneThreadAfterTheOtherDoes) {
  const std::uint64_t count = program_count != 0 ? program_count : 2 * programs_of_all_spellings();
  int failures = 0;
  for (std::uint64_t n = first_program; n < first_program + count && failures < 5; ++n) {
    std::vector<Program> programs{generate(n, length)};
    if (WARPLENS_HAS_COMPILER) programs.push_back(compilable(programs.front()));
    if (compiled_only != 0) programs.erase(programs.begin());
    for (const Program& program : programs) {
      const std::string failure = failure_of(program);
      if (failure.empty()) continue;
      ++failures;
      std::cerr << "program " << program.number << ": " << failure << "; it is made shorter\n"; // which can take long
      ADD_FAILURE() << shown(smallest(program));
    }
  }
}

// Without its library, nothing would be compiled, and nothing would differ.
TEST(Fuzz, TheCompilerIsThere) {
  if (!WARPLENS_HAS_COMPILER) GTEST_SKIP() << "built without the compiler of kernels";
  Machine machine(compilable(generate(first_program, 1)));
  EXPECT_EQ(machine.emulated({exec::levels().back(), false, true}).problem, "");
  EXPECT_NE(exec::explain_compiled().find("bytes of code"), std::string::npos) << exec::explain_compiled();
}

TEST(Fuzz, EverySpellingIsGenerated) {
  std::set<std::string> left = spellings();
  EXPECT_GT(left.size(), 3000u);
  for (std::uint64_t n = 0; n < programs_of_all_spellings(); ++n)
    for (const std::string& s : generate(n).statements) {
      std::istringstream words(s);
      for (std::string word; words >> word;) left.erase(word);
    }
  EXPECT_EQ(left, std::set<std::string>());
}

} // namespace fuzz_test
} // namespace warplens::fuzz

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  std::string explain;
  for (int i = 1; i + 1 < argc; i += 2) {
    using namespace warplens::fuzz::fuzz_test;
    const std::string_view word = argv[i];
    for (const auto& [name, number] : {std::pair{"--first", &first_program},
                                       {"--programs", &program_count},
                                       {"--length", &length},
                                       {"--compiled-only", &compiled_only}})
      if (word == name) *number = std::strtoull(argv[i + 1], nullptr, 10);
    if (word == "--explain") explain = argv[i + 1];
  }
  const int failed = RUN_ALL_TESTS();
  std::cout << warplens::exec::paired_turns() << " turns of compiled warps began in pairs\n";
  if (!explain.empty()) std::ofstream(explain) << warplens::exec::explain_compiled();
  return failed;
}
