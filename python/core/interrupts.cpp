// SPDX-License-Identifier: Apache-2.0
#include "python/core/interrupts.hpp"

#include "emulator/exec/grid/time_limit.hpp"

#include <pybind11/pybind11.h>

#include <csignal>

namespace warplens::python {

namespace py = pybind11;

namespace {

// Of the main thread only: a launch in a callback of another launch is inside it.
volatile std::sig_atomic_t depth = 0;
void (*python_handler)(int) = nullptr;

void stop_launches(int signal) {
  if (depth != 0) exec::out_of_time = true;
  python_handler(signal);
}

bool is_main_thread() {
  static const auto main = py::module_::import("threading").attr("main_thread")().attr("ident").cast<unsigned long>();
  return main == PyThread_get_thread_ident();
}

} // namespace

Interrupts::Interrupts() {
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
  if (!installed_) return;
  depth = depth - 1;
  if (depth == 0) exec::out_of_time = false;
}

void Interrupts::raise() const {
  if (!installed_) return;
  if (depth == 1) exec::out_of_time = false;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

void Interrupts::stop() { exec::out_of_time = true; }
void Interrupts::resume() { exec::out_of_time = false; }

} // namespace warplens::python
