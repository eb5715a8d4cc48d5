// SPDX-License-Identifier: Apache-2.0
// Ctrl-C while a launch runs: Python sees signals only between its own instructions, so the launch must stop first.
//
//   const Interrupts interrupts;          // with the interpreter's lock, around a launch
//   … launch without the lock …
//   interrupts.raise();                   // KeyboardInterrupt, if there was one
//
// In the main thread, SIGINT stops all launches of the process while this object exists, and Python's own handler
// runs, too. In other threads this does nothing.
#pragma once

namespace warplens::python {

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
  static void resume();

private:
  bool installed_ = false;
};

} // namespace warplens::python
