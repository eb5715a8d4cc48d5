// SPDX-License-Identifier: Apache-2.0
// Traces: recorded by launches, and read into buffers of Python, which numpy has allocated.
//
//   const TraceObject trace("t.h5");
//   trace.count({.launch = 0, .lines = {12}}) == 4096
//   trace.read(query, buffer);          // rows of kAccessFields
#pragma once

#include "api/launch/launch.hpp"
#include "python/core/failure.hpp"

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

namespace warplens::python {

/// Writes `file`. Null: the name is empty. Throws InputError: this build has no traces; the file cannot be written.
/// `options`: those of the launch, for a device that is a file.
std::unique_ptr<api::LaunchRecorder> trace_recorder(const std::string& file, const pybind11::dict& options);

void add_traces(pybind11::module_& module);

} // namespace warplens::python
