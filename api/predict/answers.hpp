// SPDX-License-Identifier: Apache-2.0
// The answers of the micro-benchmarks of tests/data/hardware/ask/calibration.cu, and the device that they describe.
//
//   Expected<MeasuredDevice> h100 = measured_device("answers.csv", *model::find_device("h100"));
//   h100->parameters[0].name == "clock_ghz", h100->device.critical_path->clock_ghz == 1.59
#pragma once

#include "emulator/base/expected.hpp"
#include "model/micro_benchmarks.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::api {

struct MeasuredDevice {
  model::Device device;
  struct Parameter {
    std::string_view name;
    std::optional<double> before; ///< of the device, if it had one
    double measured = 0;
  };
  std::vector<Parameter> parameters; ///< of [critical_path], in the order of the device file
};

/// Reads a table with the columns name, times, cycles, nanoseconds, device_cycles and bytes_written; ignores others.
/// Errors: a column is missing; a cell is not a number.
Expected<std::vector<model::MicroBenchmark>> micro_benchmarks(std::string_view csv, std::string_view file);

/// Errors: the file cannot be read, or as above, or answers are missing.
Expected<MeasuredDevice> measured_device(const std::filesystem::path& answers, const model::Device& device);

} // namespace warplens::api
