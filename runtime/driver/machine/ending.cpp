// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/ending.hpp"

#include "runtime/driver/machine/checks.hpp"
#include "runtime/driver/machine/report.hpp"
#include "runtime/driver/machine/serve.hpp"

#include <fmt/format.h>

#include <semaphore.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>

namespace warplens::runtime {

namespace {

void end_by(int signal) {
  std::signal(signal, SIG_DFL);
  (void)kill(getpid(), signal);
}

/// A thread that writes when it is asked to: the one that a signal stops may be in the middle of anything.
struct Writer {
  Writer() {
    sem_init(&asked, 0, 0);
    sem_init(&written, 0, 0);
    std::thread([this] { work(); }).detach();
  }
  void work() {
    while (sem_wait(&asked) != 0 && errno == EINTR) {
    }
    if (ended_by != 0) tell(fmt::format("the program is ended: {}", strsignal(ended_by)));
    write_reports();
    finish_tools();
    explain_compiled();
    if (ended_by != 0) end_by(ended_by);
    sem_post(&written);
  }
  /// The thread is missing in a child of fork().
  [[nodiscard]] bool is_here() const { return process == getpid(); }

  sem_t asked{}, written{};
  std::atomic<int> ended_by = 0; ///< a signal
  const pid_t process = getpid();
};
Writer* writer = nullptr; // never destroyed: it is used until the process ends

void on_abort(int signal) {
  write_before_the_end();
  std::signal(signal, SIG_DFL);
  raise(signal);
}

/// The program goes on until everything is written: it may hold a lock that this needs.
void on_signal(int signal) {
  if (!writer->is_here()) return end_by(signal);
  writer->ended_by = signal;
  sem_post(&writer->asked);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction before {};
  if (sigaction(signal, nullptr, &before) != 0 || (before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_DFL)
    return;
  struct sigaction ours {};
  ours.sa_handler = handler;
  ours.sa_flags = SA_RESTART | SA_RESETHAND;
  sigemptyset(&ours.sa_mask);
  sigaction(signal, &ours, nullptr);
}

} // namespace

void write_at_other_ends() {
  writer = new Writer;
  handle(SIGABRT, on_abort);
  for (const int signal : {SIGHUP, SIGINT, SIGPIPE, SIGTERM}) handle(signal, on_signal);
  std::at_quick_exit(write_before_the_end);
}

// Only functions that signal handlers may call.
void write_before_the_end() {
  if (writer == nullptr || !writer->is_here()) return;
  constexpr std::time_t kPatience = 10;
  std::timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += kPatience;
  sem_post(&writer->asked);
  while (sem_timedwait(&writer->written, &until) != 0 && errno == EINTR) {
  }
  sem_post(&writer->written); // for another thread that ends the process, too
}

} // namespace warplens::runtime
