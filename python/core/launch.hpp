// SPDX-License-Identifier: Apache-2.0
// Launches a kernel for Python: api::launch() with checked arguments, without the interpreter's lock.
//
//   kernel.launch(grid, block, arguments, {"device": "c1060", "rules": ["2.x-l1"]})
#pragma once

#include "python/core/arguments.hpp"
#include "python/core/report.hpp"

#include <pybind11/pybind11.h>

namespace warplens::python {

/// The options of a launch, by their names in Python; docs/python.md explains them. Throws ArgumentError: an unknown
/// option, a value of another type; InputError: an unknown device, rule, …
class LaunchSettings {
public:
  LaunchSettings(const LoadedKernel& kernel, const pybind11::dict& options);

  api::LaunchRequest request;
  std::string trace;                          ///< file; empty: none
  std::string tools;                          ///< memcheck, …; empty: none
  pybind11::object progress;                  ///< function(done, all); None: none
  std::vector<pybind11::object> merged, each; ///< functions that get the events

private:
  void set(const std::string& name, pybind11::handle value);
};

/// 40, (40,), (8, 5) or (4, 4, 2). Throws ArgumentError.
api::Extent extent_of(pybind11::handle value, const char* what);
api::FirstLevel first_level_of(const std::string& word);
/// Names, files and objects of rules.
rules::RuleSet rules_of(pybind11::handle list);

/// The report, the messages of the tools, and the number of errors that they have found. A trap is no error here.
pybind11::tuple launch(const LoadedKernel& kernel, pybind11::handle grid, pybind11::handle block,
                       const pybind11::tuple& arguments, const pybind11::dict& options);

} // namespace warplens::python
