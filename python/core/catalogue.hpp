// SPDX-License-Identifier: Apache-2.0
// What Warplens knows without a launch: devices, rules, metrics, models, occupancy; and predictions, calibrations,
// sweeps, comparisons and launch files. Each is a function of the façade; the results are JSON where the command line
// writes JSON.
#pragma once

#include "api/launch/launch.hpp"
#include "python/core/failure.hpp"

#include <pybind11/pybind11.h>

namespace warplens::python {

/// A rule as Python holds it.
struct RuleObject {
  rules::Rule rule;
};

/// A name, a file, or a device. Throws InputError.
model::Device device_of(pybind11::handle value);

void add_catalogue(pybind11::module_& module);
void add_plans(pybind11::module_& module);

} // namespace warplens::python
