// SPDX-License-Identifier: Apache-2.0
// Work without the interpreter's lock, and what stops it: Ctrl-C, and the end of the interpreter.
//
//   const Interrupts interrupts;          // with the lock, around a launch
//   {
//     const Unlocked unlocked;
//     … launch …
//   }
//   interrupts.raise();                   // KeyboardInterrupt, if there was one
//
// Python sees signals only between its own instructions, so the launch must stop first. In the main thread, SIGINT
// stops all launches of the process while an Interrupts exists, and Python's own handler runs, too.
#pragma once

#include <pybind11/pybind11.h>

namespace warplens::python {

/// As pybind11::gil_scoped_release, but the interpreter does not end before the lock is held again: a daemon thread
/// that asks for the lock later is ended by Python in the middle of a destructor, which ends the process. Such a thread
/// does not return from what it begins once the interpreter ends, nor from a launch that has begun before.
class Unlocked {
public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

private:
  PyThreadState* state_;
};

class Interrupts {
public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  /// Runs the handlers of signals that have arrived, which may throw what Python raises. Needs the lock.
  void raise() const;
  /// Stops all launches, as SIGINT does.
  static void stop();
  /// Lets later launches run, after those of other threads have stopped. Needs the lock.
  static void resume();
  /// At import: finds the main thread, and prepares the end of the interpreter.
  static void prepare();

private:
  bool installed_ = false;
};

} // namespace warplens::python
