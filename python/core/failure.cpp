// SPDX-License-Identifier: Apache-2.0
#include "python/core/failure.hpp"

#include <pybind11/pybind11.h>

#include <pthread.h>

#include <atomic>

namespace warplens::python {

namespace py = pybind11;

namespace {

std::atomic<bool> used{false};   // this process has device memory and perhaps worker threads
std::atomic<bool> forked{false}; // they are those of its parent

std::string text_of(const Diagnostics& diagnostics, std::span<const api::Source> sources) {
  std::string text = rendered(diagnostics, sources);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

Diagnostics one(std::string message, std::string hint) {
  Diagnostics errors;
  errors.error({}, std::move(message), std::move(hint));
  return errors;
}

void raise(const Failure& failure) {
  const py::object type = py::module_::import("warplens._errors").attr(failure.exception.c_str());
  const py::str message(py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(
      failure.text.data(), static_cast<py::ssize_t>(failure.text.size()), "replace"))); // input may be any bytes
  PyErr_SetObject(type.ptr(), type(message, entries_of(failure.diagnostics)).ptr());
}

} // namespace

py::list entries_of(const Diagnostics& diagnostics) {
  py::list entries;
  for (const Diagnostic& d : diagnostics.list()) {
    py::dict entry;
    entry["severity"] = d.severity == Severity::error ? "error" : d.severity == Severity::warning ? "warning" : "note";
    entry["message"] = d.message;
    entry["hint"] = d.hint;
    entry["file"] = d.file;
    entry["line"] = d.where.line;
    entry["column"] = d.where.column;
    entries.append(entry);
  }
  return entries;
}

std::string rendered(const Diagnostics& diagnostics, std::span<const api::Source> sources) {
  std::string text;
  for (const Diagnostic& d : diagnostics.list()) {
    Diagnostics single;
    if (d.severity == Severity::error)
      single.error(d.where, d.message, d.hint);
    else
      single.warning(d.where, d.message, d.hint);
    single.in_file(d.file);
    std::string_view source = sources.size() == 1 ? std::string_view(sources[0].text) : std::string_view();
    for (const api::Source& known : sources)
      if (known.file == d.file) source = known.text;
    text += render(single, source);
  }
  return text;
}

Failure::Failure(std::string name, const Diagnostics& errors, std::span<const api::Source> sources)
    : exception(std::move(name)), diagnostics(errors), text(text_of(errors, sources)) {}

// A message of our own needs no "error: " before it: Python shows the name of the exception.
Failure::Failure(std::string name, std::string message, std::string hint)
    : exception(std::move(name)), diagnostics(one(message, hint)),
      text(hint.empty() ? message : message + "\n  hint: " + hint) {}

void translate_failures() {
  pthread_atfork(nullptr, nullptr, [] {
    if (used) forked = true;
  });
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Failure& failure) {
      try {
        raise(failure);
      } catch (py::error_already_set& other) { // out of memory, or the interpreter ends
        other.restore();
      }
    }
  });
}

void refuse_forks() {
  if (!forked) return;
  throw Failure("ForkError", "this process was forked after Warplens had been used: it has no device memory of its own",
                "start processes with multiprocessing.get_context(\"spawn\"), or use Warplens only in the child");
}

void note_use() { used = true; }

} // namespace warplens::python
