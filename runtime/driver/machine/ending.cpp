// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/ending.hpp"

#include "runtime/driver/machine/checks.hpp"

#include <semaphore.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <thread>

namespace warplens::runtime {

namespace {

/// A thread that writes when it is asked to: the one that aborts may be in the middle of anything.
struct Writer {
  Writer() {
    sem_init(&asked, 0, 0);
    sem_init(&written, 0, 0);
    std::thread([this] {
      while (sem_wait(&asked) != 0 && errno == EINTR) {
      }
      finish_tools();
      sem_post(&written);
    }).detach();
  }
  sem_t asked{}, written{};
  const pid_t process = getpid();
};
Writer* writer = nullptr; // never destroyed: it is used until the process ends

void on_abort(int signal) {
  write_before_the_end();
  std::signal(signal, SIG_DFL);
  raise(signal);
}

} // namespace

void write_at_abort() {
  writer = new Writer;
  struct sigaction before {};
  if (sigaction(SIGABRT, nullptr, &before) != 0 || (before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_DFL)
    return;
  struct sigaction ours {};
  ours.sa_handler = on_abort;
  sigemptyset(&ours.sa_mask);
  sigaction(SIGABRT, &ours, nullptr);
}

// Only functions that signal handlers may call.
void write_before_the_end() {
  if (writer == nullptr || writer->process != getpid()) return; // a child of fork() has not got the thread
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
