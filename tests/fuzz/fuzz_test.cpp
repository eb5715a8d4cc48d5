// SPDX-License-Identifier: Apache-2.0
// Runs random programs (generator.hpp) in the emulator at every level, watched and unwatched, and in a simple evaluator
// (evaluator.hpp). Registers, memory and instruction counts must be equal. The test reduces a failing program as far as
// possible before it shows it.
//
//   fuzz_test --explain FILE                    also writes what was compiled of each program
//   fuzz_test --first 5000 --programs 100000    more than by default; a single one: --first N --programs 1
#include "tests/fuzz/evaluator.hpp"
#include "tests/fuzz/generator.hpp"
#include "tests/hardware/emulated.hpp"

#include "emulator/exec/compile/tier.hpp"
#include "emulator/exec/state/kernel_code.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

namespace warplens::fuzz {
namespace {

std::uint64_t first_program = 0, program_count = 0; // 0: as many as have every spelling twice

constexpr std::uint64_t kMostSteps = 1'000'000; // of all warps: a program that goes on for ever is an error

class Counts final : public exec::Watcher {
public:
  std::unique_ptr<exec::Shard> make_shard() override { return std::make_unique<exec::Shard>(); }
  void finish(std::vector<std::unique_ptr<exec::Shard>>, const std::vector<exec::InstructionCount>& counts) override {
    by_instruction = counts;
  }
  std::vector<exec::InstructionCount> by_instruction;
};

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
    words_ = threads * output_words();
    params_ = {emulated_.buffer(input), emulated_.buffer(std::vector<std::uint32_t>(2 * words_))};
    shape_.block[0] = program.block[0];
    shape_.block[1] = program.block[1];
    shape_.grid[0] = program.ctas;
  }

  struct Outcome {
    std::string problem;
    std::vector<std::uint64_t> words;
    std::vector<exec::InstructionCount> counts; ///< none where nobody watched
  };

  Outcome evaluated() {
    clear();
    const ir::Function& function = *emulated_.module().find("k");
    Evaluation e = evaluate({emulated_.module(), function, shape_, params_});
    return {e.problem, written(), std::move(e.counts)};
  }

  Outcome emulated(const exec::Level& level, bool watched, bool compiled) {
    clear();
    exec::set_compile_mode(compiled ? exec::CompileMode::always : exec::CompileMode::off);
    Counts counts;
    tests::Emulated::Request request;
    request.kernel = "k";
    request.shape = shape_;
    request.arguments = {{params_[0], 8}, {params_[1], 8}};
    request.level = &level;
    request.watcher = watched ? &counts : nullptr;
    request.max_steps = kMostSteps;
    std::string problem = emulated_.run(request);
    return {std::move(problem), written(), std::move(counts.by_instruction)};
  }

  const ir::Function& function() { return *emulated_.module().find("k"); }

private:
  void clear() { std::memset(reinterpret_cast<void*>(params_[1]), 0, 8 * words_); }
  std::vector<std::uint64_t> written() const {
    const auto* const from = reinterpret_cast<const std::uint64_t*>(params_[1]);
    return {from, from + words_};
  }

  tests::Emulated emulated_;
  exec::LaunchShape shape_;
  std::vector<std::uint64_t> params_;
  std::size_t words_ = 0;
};

std::string difference(const Machine::Outcome& wanted, const Machine::Outcome& got) {
  std::ostringstream text;
  if (!got.problem.empty()) return got.problem;
  for (std::size_t i = 0; i < wanted.words.size(); ++i) {
    if (wanted.words[i] == got.words[i]) continue;
    text << "thread " << i / output_words() << ": " << output_name(i % output_words()) << " is " << std::hex
         << got.words[i] << ", should be " << wanted.words[i];
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
  for (const exec::Level& level : exec::levels())
    for (const bool watched : {false, true}) {
      const auto failed = [&](bool compiled) {
        const std::string d = difference(wanted, machine->emulated(level, watched, compiled));
        return d.empty()
                   ? d
                   : std::string(level.name) + (watched ? ", watched" : "") + (compiled ? ", compiled: " : ": ") + d;
      };
      if (std::string d = failed(false); !d.empty()) return d;
      if (!WARPLENS_HAS_COMPILER) continue;
      if (std::string d = failed(true); !d.empty()) return d;
    }
  return {};
}

// The program without the statements that keep a kernel from being compiled (why_interpreted in decode.cpp).
Program compilable(Program program) {
  constexpr std::string_view kOrdering[] = {"atom",     "red.",      "fence",    "membar",   ".volatile",
                                            ".relaxed", ".acquire",  ".release", "mbarrier", "cp.async",
                                            ".mmio",    "nanosleep", "st.async", "call"};
  const auto has = [](const std::string& s, std::string_view word) {
    const std::size_t at = s.find(word); // "red." is not the end of "shared."
    return at != std::string::npos &&
           (at == 0 || word[0] == '.' || std::isalpha(static_cast<unsigned char>(s[at - 1])) == 0);
  };
  std::erase_if(program.statements, [&](const std::string& s) {
    return std::any_of(std::begin(kOrdering), std::end(kOrdering), [&](std::string_view word) { return has(s, word); });
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
    std::vector<Program> programs{generate(n)};
    if (WARPLENS_HAS_COMPILER) programs.push_back(compilable(programs.front()));
    for (const Program& program : programs) {
      if (failure_of(program).empty()) continue;
      ++failures;
      ADD_FAILURE() << shown(smallest(program));
    }
  }
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

} // namespace
} // namespace warplens::fuzz

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  std::string explain;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string_view(argv[i]) == "--first") warplens::fuzz::first_program = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::string_view(argv[i]) == "--programs")
      warplens::fuzz::program_count = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::string_view(argv[i]) == "--explain") explain = argv[i + 1];
  }
  const int failed = RUN_ALL_TESTS();
  if (!explain.empty()) std::ofstream(explain) << warplens::exec::explain_compiled();
  return failed;
}
