// SPDX-License-Identifier: Apache-2.0
#include "python/core/interrupts.hpp"

#include "emulator/exec/grid/time_limit.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

namespace warplens::python {

namespace py = pybind11;

namespace {

std::atomic<int> unlocked_threads{0};
std::atomic<int> running_launches{0};
thread_local int own_launches = 0;
std::atomic<bool> interpreter_ends{false};
// Found at import: a static variable of a function would be initialised while this thread waits for the interpreter's
// lock and another one, which has the lock, waits for the initialisation.
unsigned long main_thread = 0;

// Of the main thread only: a launch in a callback of another launch is inside it.
volatile std::sig_atomic_t depth = 0;
void (*python_handler)(int) = nullptr;

void stop_launches(int signal) {
  if (depth != 0) exec::out_of_time = true;
  python_handler(signal);
}

bool is_main_thread() { return main_thread == PyThread_get_thread_ident(); }

/// Waits without the interpreter's lock, but not for ever: another thread may be in a callback that never returns.
template <class Condition> void wait_until(const Condition& condition) {
  using Clock = std::chrono::steady_clock;
  if (condition()) return;
  PyThreadState* const state = PyEval_SaveThread();
  const Clock::time_point end = Clock::now() + std::chrono::seconds(5);
  while (!condition() && Clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  PyEval_RestoreThread(state);
}

void end_interpreter() {
  interpreter_ends = true;
  const auto all_ended = [] { return unlocked_threads == 0 && running_launches == 0; };
  if (all_ended()) return;
  exec::out_of_time = true;
  wait_until(all_ended);
  exec::out_of_time = false;
}

/// Keeps a daemon thread from Python's code once the interpreter ends: that would end the thread in the middle of C++,
/// or print the error of a stopped launch to a file that is being closed.
void stay_at_end() {
  if (!interpreter_ends || own_launches != 0 || is_main_thread()) return;
  PyEval_SaveThread();
  for (;;) pause();
}

} // namespace

Unlocked::Unlocked() {
  stay_at_end();
  ++unlocked_threads;
  state_ = PyEval_SaveThread();
}

Unlocked::~Unlocked() {
  PyEval_RestoreThread(state_);
  --unlocked_threads;
}

Interrupts::Interrupts() {
  stay_at_end();
  ++running_launches;
  ++own_launches;
  if (!is_main_thread()) return;
  if (depth == 0) {
    struct sigaction before {};
    sigaction(SIGINT, nullptr, &before);
    // Python's handler takes the number alone. Others, and none at all, do what they want with the signal.
    if ((before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN) return;
    if (before.sa_handler != &stop_launches) {
      python_handler = before.sa_handler;
      struct sigaction ours = before;
      ours.sa_handler = &stop_launches;
      sigaction(SIGINT, &ours, nullptr);
    }
  }
  depth = depth + 1;
  installed_ = true;
}

// The handler stays: between launches it only calls Python's, and the next launch saves two system calls.
Interrupts::~Interrupts() {
  --running_launches;
  --own_launches;
  stay_at_end();
  if (!installed_) return;
  depth = depth - 1;
  if (depth == 0) exec::out_of_time = false;
}

void Interrupts::raise() const {
  if (!installed_) return;
  if (depth == 1 && exec::out_of_time) resume();
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

void Interrupts::stop() { exec::out_of_time = true; }

void Interrupts::resume() {
  wait_until([own = own_launches] { return running_launches <= own; });
  exec::out_of_time = false;
}

void Interrupts::prepare() {
  main_thread = py::module_::import("threading").attr("main_thread")().attr("ident").cast<unsigned long>();
  pthread_atfork(nullptr, nullptr, [] { // the other threads are not in the child
    unlocked_threads = 0;
    running_launches = own_launches;
  });
  py::module_::import("atexit").attr("register")(py::cpp_function(&end_interpreter));
}

} // namespace warplens::python
