// SPDX-License-Identifier: Apache-2.0
// Errors on their way to Python: C++ code throws a Failure, with or without the interpreter's lock, and Python sees the
// exception of the same name in warplens/_errors.py.
//
//   auto module = value_or_throw(api::Module::load(context, text, file), "ParseError", text);
//   throw Failure{"ArgumentError", "argument 2: expected float32, found float64", "x.astype(np.float32)"};
#pragma once

#include "api/session/session.hpp"

#include <pybind11/pybind11.h>

#include <span>
#include <string>
#include <utility>

namespace warplens::python {

struct Failure {
  std::string exception; ///< of warplens/_errors.py
  Diagnostics diagnostics;
  std::string text; ///< the diagnostics as the command line shows them

  Failure(std::string name, const Diagnostics& errors, std::span<const api::Source> sources = {});
  Failure(std::string name, std::string message, std::string hint = {});
};

/// The messages, each with the line of its source and a caret if the source is known.
/// One dictionary for each message, as warplens.Error has them.
pybind11::list entries_of(const Diagnostics& diagnostics);
std::string rendered(const Diagnostics& diagnostics, std::span<const api::Source> sources);

/// The value. Without one, throws a Failure.
template <class T> T value_or_throw(Expected<T> expected, const char* name, std::span<const api::Source> sources = {}) {
  if (!expected) throw Failure(name, expected.error(), sources);
  if constexpr (!std::is_void_v<T>) return std::move(*expected);
}

/// Makes Python raise Failures, and refuse calls in a process that was forked after Warplens has been used.
void translate_failures();
/// Throws ForkError in such a process: its memory is a copy, and its worker threads are missing.
void refuse_forks();
/// From now on, a fork makes refuse_forks() throw.
void note_use();

} // namespace warplens::python
