// SPDX-License-Identifier: Apache-2.0
// warplens_compile_worker: the process in which modules become machine code. LLVM may take very long, need much memory,
// or end the process: that must not happen to the program whose kernels are compiled.
// Its standard input is a socket. Request: level, file for the optimised module (or nothing), bitcode or IR.
// Answer: archive of object files, problem. Its argument is the processor time in seconds that a request may take.
#include "emulator/exec/compile/llvm/messages.hpp"
#include "emulator/exec/compile/llvm/object.hpp"

#include <llvm/Support/CommandLine.h>

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <thread>

namespace warplens::exec::compile {

namespace {

constexpr int kSocket = STDIN_FILENO;
constexpr rlim_t kMemory = rlim_t{8} << 30;

void limit(int resource, rlim_t most) {
  rlimit now{};
  getrlimit(resource, &now);
  if (now.rlim_max != RLIM_INFINITY && now.rlim_max < most) most = now.rlim_max;
  now.rlim_cur = most;
  setrlimit(resource, &now);
}

void limit_time(rlim_t seconds) {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  limit(RLIMIT_CPU, static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + 1 + seconds);
}

// Nobody waits for the code any more when the other end is closed.
void end_with_the_other_process() {
  std::thread([] {
    pollfd closed{kSocket, POLLRDHUP, 0};
    while (poll(&closed, 1, -1) <= 0) {
    }
    _exit(0);
  }).detach();
}

// Operations stay in front of the accesses to memory that follow them. Moved to where their results are used, those of
// an unrolled loop would all come after its last load, and the loaded rows would wait for them in memory.
void set_options() {
  const char* const options[] = {"warplens_compile_worker", "-instcombine-code-sinking=false"};
  llvm::cl::ParseCommandLineOptions(static_cast<int>(std::size(options)), options);
}

} // namespace

int serve(rlim_t seconds) {
  // Not a child of the program, which might wait for any of its children.
  if (fork() != 0) _exit(0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // these reserve terabytes of addresses
  limit(RLIMIT_AS, kMemory);
#endif
  limit(RLIMIT_CORE, 0);
  end_with_the_other_process();
  set_options();
  std::string level, dump, bitcode;
  for (;;) {
    if (!receive_string(kSocket, level) || !receive_string(kSocket, dump) || !receive_string(kSocket, bitcode))
      return 0;
    limit_time(seconds);
    std::string problem;
    const std::string code = code_of(bitcode, level, dump, problem);
    if (!send_string(kSocket, code) || !send_string(kSocket, problem)) return 0;
  }
}

} // namespace warplens::exec::compile

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  return warplens::exec::compile::serve(std::strtoul(argv[1], nullptr, 10));
}
