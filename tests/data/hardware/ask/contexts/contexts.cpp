// Asks a driver what its functions answer where no context is current, or the wrong one, or none is left: each question
// in a process of its own, so that a crash is an answer, too.
//
//   contexts LIBRARY [WORKERS [SECONDS [TABLE]]]      TABLE: of an earlier run; only what is "?" there is asked
//
// Writes a table: a line a question, a column a state (kStates). In it are CUresults; "crash"; "hang" after ten
// seconds;
// "-" where the state cannot matter; "?" where the time was over, or the state could not be reached. With NVIDIA's
// driver:
//
//   g++ -std=c++20 -O1 -I. -o contexts tests/data/hardware/ask/contexts/*.cpp -ldl
//   ./contexts libcuda.so.1 16 500 > tests/data/hardware/contexts.txt
#include "tests/data/hardware/ask/contexts/world.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

namespace {

using contexts::Question;
using contexts::World;

/// The driver refused what leads to a state.
struct Unreachable {};

void must(int answer) {
  if (answer != 0) throw Unreachable{};
}

void make_context(World& w) {
  must(CALL(cuInit, 0));
  must(CALL(cuCtxCreate_v2, &w.context, 0, 0));
  w.make();
}
void make_primary(World& w) {
  must(CALL(cuInit, 0));
  must(CALL(cuDevicePrimaryCtxRetain, &w.context, 0));
  must(CALL(cuCtxSetCurrent, w.context));
  w.make();
}
void make_other(World& w) { must(CALL(cuCtxCreate_v2, &w.other, 0, 0)); }
void pop(World&) {
  CUcontext popped = nullptr;
  must(CALL(cuCtxPopCurrent_v2, &popped));
}

struct State {
  const char* name;
  void (*reach)(World&);
};
constexpr State kStates[] = {
    // Everything is as it should be: the context of all handles is current.
    {"current", make_context},
    // cuInit() has not been called; and nothing but it. Handles are null.
    {"uninitialised", [](World&) {}},
    {"no_context", [](World&) { must(CALL(cuInit, 0)); }},
    // The context of the handles lives, but none is current in this thread.
    {"not_current", [](World& w) { make_context(w), pop(w); }},
    // It was destroyed. The handles are of the primary context, which was reset while it was current.
    {"destroyed", [](World& w) { make_context(w), must(CALL(cuCtxDestroy_v2, w.context)); }},
    {"reset", [](World& w) { make_primary(w), must(CALL(cuDevicePrimaryCtxReset_v2, 0)); }},
    // They are of the primary context, which was released while none was current, and pushed then.
    {"released",
     [](World& w) {
       make_primary(w), pop(w), must(CALL(cuDevicePrimaryCtxRelease_v2, 0)), must(CALL(cuCtxPushCurrent_v2, w.context));
     }},
    // The context of the handles lives, and another one is current.
    {"other_current", [](World& w) { make_context(w), make_other(w); }},
};
constexpr std::size_t kStateCount = std::size(kStates), kStatesWithoutHandles = 3;

/// What a process leaves.
struct Answer {
  bool reached, answered;
  int value;
  char failed[64]; ///< of what is made in a context
};

void ask(const Question& question, const State& state, Answer& answer) {
  static World w;
  alarm(60);
  try {
    state.reach(w);
  } catch (const Unreachable&) {
    return;
  }
  std::strncpy(answer.failed, w.failed.c_str(), sizeof answer.failed - 1);
  answer.reached = true;
  alarm(10);
  answer.value = question.ask(w);
  answer.answered = true;
}

std::string show(const Answer& answer, int status) {
  if (answer.answered) return std::to_string(answer.value);
  if (!answer.reached) return "?";
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "hang" : "crash";
}

/// Cells by question and state.
using Table = std::map<std::string, std::map<std::string, std::string>>;
Table read(const char* file) {
  Table table;
  std::ifstream in(file);
  std::string line, word;
  std::vector<std::string> states;
  std::getline(in, line);
  std::istringstream head(line);
  while (head >> word) states.push_back(word);
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    std::string question;
    cells >> question;
    for (std::size_t i = 1; i < states.size() && cells >> word; ++i) table[question][states[i]] = word;
  }
  return table;
}

} // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const std::size_t workers = count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 1;
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::seconds(count > 3 ? std::atoi(arguments[3]) : 3600);
  contexts::open(arguments[1]);
  const std::vector<Question> questions = contexts::questions();
  Table known = count > 4 ? read(arguments[4]) : Table{};

  const std::size_t all = questions.size() * kStateCount;
  auto* const answers = static_cast<Answer*>(
      mmap(nullptr, all * sizeof(Answer), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::vector<std::string> shown(all, "?");
  std::map<pid_t, std::size_t> running;
  const auto reap = [&] {
    int status = 0;
    const auto ended = running.find(wait(&status));
    shown[ended->second] = show(answers[ended->second], status);
    running.erase(ended);
  };
  for (std::size_t i = 0; i < all; ++i) {
    const Question& question = questions[i % questions.size()];
    const State& state = kStates[i / questions.size()];
    if (const std::string& before = known[question.name][state.name]; !before.empty()) shown[i] = before;
    if (i / questions.size() >= kStatesWithoutHandles && !question.of_contexts) shown[i] = "-";
    if (shown[i] != "?" || std::chrono::steady_clock::now() >= until) continue;
    if (running.size() == workers) reap();
    const pid_t process = fork();
    if (process == 0) {
      if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(2);
      ask(question, state, answers[i]);
      _exit(0);
    }
    running[process] = i;
  }
  while (!running.empty()) reap();

  std::printf("function");
  for (const State& state : kStates) std::printf(" %s", state.name);
  std::printf("\n");
  for (std::size_t q = 0; q < questions.size(); ++q) {
    std::printf("%s", questions[q].name);
    for (std::size_t s = 0; s < kStateCount; ++s) std::printf(" %s", shown[s * questions.size() + q].c_str());
    std::printf("\n");
  }
  for (std::size_t i = 0; i < all; ++i)
    if (answers[i].failed[0] != 0) {
      std::fprintf(stderr, "%s: could not be made: %s\n", kStates[i / questions.size()].name, answers[i].failed);
      break;
    }
}
