// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target (target.hpp) without a special build; libfuzzer_driver.cpp is the other way to run one.
//
//   fuzz_targets TARGET [--runs N] [--seconds N] [--seed N] [--most-growth MIB] FILE|FOLDER…
//
// replays the inputs, then changes them. With --most-growth, memory may grow by so much between the first tenth of the
// runs and the last.
//
// An input that crashes or takes too long is left in the file crash-TARGET. A timer looks now and then whether the
// input is still the same: two system calls for each input would be a tenth of the time of fast targets.
#include "tests/fuzz/driver_files.hpp"
#include "tests/fuzz/target.hpp"

#include <malloc.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace warplens::fuzz {
namespace {

constexpr unsigned kMostSeconds = 20; // for one input; twice as many pass if it begins just after the timer

const Target* find(std::string_view name) {
  for (const Target* t : targets())
    if (t->name == name) return t;
  std::fprintf(stderr, "fuzz_targets: no target '%.*s'; the targets are:", static_cast<int>(name.size()), name.data());
  for (const Target* t : targets()) std::fprintf(stderr, " %.*s", static_cast<int>(t->name.size()), t->name.data());
  std::fprintf(stderr, "\n");
  std::exit(2);
}

std::string_view current;                   // input, for the handler of signals
volatile std::uint64_t begun = 0, seen = 0; // inputs; and how many at the last tick of the timer
char crash_file[256];

extern "C" void keep_input(int signal) {
  std::signal(signal, SIG_DFL);
  if (std::FILE* const f = std::fopen(crash_file, "wb")) {
    std::fwrite(current.data(), 1, current.size(), f);
    std::fclose(f);
  }
  static const char kText[] = "fuzz_targets: an input crashed or took too long: it is in the current folder\n";
  [[maybe_unused]] const auto n = write(STDERR_FILENO, kText, sizeof kText - 1);
  raise(signal);
}

extern "C" void look_for_progress(int signal) {
  if (begun == seen) keep_input(signal);
  seen = begun;
}

void start_timer() {
  std::signal(SIGALRM, look_for_progress);
  const itimerval every{{kMostSeconds, 0}, {kMostSeconds, 0}};
  setitimer(ITIMER_REAL, &every, nullptr);
}

void run(const Target& target, std::string_view input) {
  current = input;
  begun = begun + 1;
  target.run(input);
}

/// How long to change inputs.
struct Plan {
  std::uint64_t runs = 0, seed = 1;
  unsigned seconds = 0;
  std::uint64_t most_growth = 0; ///< MiB of memory between the first tenth of the runs and the last; 0: any
};

std::uint64_t resident_mib() {
  std::ifstream in("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  in >> all >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) >> 20;
}

/// Runs changed inputs: so many, and then until the time is over. Returns how many have run.
std::uint64_t mutate_for(const Target& target, const std::vector<std::string>& inputs, const Plan& plan) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(plan.seconds);
  const std::vector<std::string> words =
      target.dictionary != nullptr ? target.dictionary() : std::vector<std::string>();
  Random random(plan.seed);
  std::uint64_t count = 0, before = 0;
  std::string input;
  for (; count < plan.runs || std::chrono::steady_clock::now() < end; ++count) {
    if (count == plan.runs / 10) before = resident_mib();
    input = random.any(inputs);
    for (std::size_t n = 1 + random.below(4); n > 0; --n) target.mutate(input, {random, words, random.any(inputs)});
    if (input.size() <= target.most_bytes) run(target, input);
  }
  const std::uint64_t after = resident_mib();
  std::printf(", %llu MiB of memory, later %llu", static_cast<unsigned long long>(before),
              static_cast<unsigned long long>(after));
  if (plan.most_growth != 0 && after > before + plan.most_growth) wrong("memory grows with the number of runs");
  return count;
}

int replay(int argc, char** argv) {
  if (argc < 2) find("");
  const Target& target = *find(argv[1]);
  Plan plan;
  std::vector<std::string> inputs;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--seconds" && i + 1 < argc)
      plan.seconds = static_cast<unsigned>(std::atoi(argv[++i]));
    else if (word == "--runs" && i + 1 < argc)
      plan.runs = std::strtoull(argv[++i], nullptr, 10);
    else if (word == "--seed" && i + 1 < argc)
      plan.seed = std::strtoull(argv[++i], nullptr, 10);
    else if (word == "--most-growth" && i + 1 < argc)
      plan.most_growth = std::strtoull(argv[++i], nullptr, 10);
    else
      add_inputs(word, inputs);
  }
  std::snprintf(crash_file, sizeof crash_file, "crash-%s", argv[1]);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) std::signal(signal, keep_input);
  start_timer();
  // The heap keeps what it has: returning pages to the system for each input would take most of the time.
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
  mallopt(M_MMAP_THRESHOLD, 32 << 20); // the most that there may be
  mallopt(M_TOP_PAD, 16 << 20);
  for (const std::string& input : inputs) run(target, input);
  std::printf("%s: %zu inputs", argv[1], inputs.size());
  if ((plan.runs > 0 || plan.seconds > 0) && !inputs.empty())
    std::printf(", %llu changed ones", static_cast<unsigned long long>(mutate_for(target, inputs, plan)));
  std::printf("\n");
  if (!inputs.empty()) return 0;
  std::fprintf(stderr, "fuzz_targets: no inputs\n");
  return 2;
}

} // namespace
} // namespace warplens::fuzz

using namespace warplens::fuzz;

int main(int argc, char** argv) { return replay(argc, argv); }
