// SPDX-License-Identifier: Apache-2.0
// Replaces traces.cpp in builds without traces (-DWARPLENS_TRACES=OFF).
#include "python/core/traces.hpp"

namespace warplens::python {

namespace py = pybind11;

namespace {
[[noreturn]] void refuse() {
  throw Failure("InputError", "this build of Warplens has no traces", "configure with -DWARPLENS_TRACES=ON");
}
struct NoTrace {};
} // namespace

std::unique_ptr<api::LaunchRecorder> trace_recorder(const std::string& file, const py::dict& /*options*/) {
  if (!file.empty()) refuse();
  return nullptr;
}

void add_traces(py::module_& module) {
  py::class_<NoTrace>(module, "Trace", "This build has no traces.")
      .def(py::init([](const std::string& /*file*/) -> NoTrace { refuse(); }));
}

} // namespace warplens::python
