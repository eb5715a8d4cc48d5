// SPDX-License-Identifier: Apache-2.0
// The parameters of critical-path of the H200 and the H100 follow from the answers that these gave.
#include "api/predict/answers.hpp"
#include "model/device_fields.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace warplens::model {
namespace micro_benchmarks_test {

std::string answers_of(const std::string& id) {
  return WARPLENS_SOURCE_DIR "/tests/data/hardware/calibration_" + id + ".csv";
}

TEST(MicroBenchmarks, DevicesHaveTheMeasuredParameters) {
  for (const char* id : {"h200", "h100"}) {
    const Device device = *find_device(id);
    ASSERT_TRUE(device.critical_path) << id;
    const auto measured = api::measured_device(answers_of(id), device);
    ASSERT_TRUE(measured) << render(measured.error(), "");
    EXPECT_GE(measured->parameters.size(), 30u);
    for (const api::MeasuredDevice::Parameter& one : measured->parameters)
      EXPECT_DOUBLE_EQ(one.before.value(), one.measured) << id << ": " << one.name;
    EXPECT_TRUE(load_device(device_text(measured->device), "measured.toml"));
  }
}

TEST(MicroBenchmarks, ADeviceWithoutParametersGetsThem) {
  Device device = *find_device("h100");
  device.critical_path.reset();
  const auto measured = api::measured_device(answers_of("h100"), device);
  ASSERT_TRUE(measured);
  EXPECT_FALSE(measured->parameters.front().before);
  EXPECT_NEAR(measured->device.critical_path->clock_ghz, 1.59, 0.005);
  EXPECT_EQ(measured->device.sources.at("critical_path"), "measured: " + answers_of("h100"));
}

TEST(MicroBenchmarks, BadAnswersAreRefused) {
  const auto message = [](const auto& result) {
    return result ? std::string() : result.error().list().front().message;
  };
  EXPECT_EQ(message(api::micro_benchmarks("name,times\nx,1\n", "a.csv")), "no column 'cycles'");
  const std::string titles = "name,times,cycles,nanoseconds,device_cycles,bytes_written\n";
  EXPECT_EQ(message(api::micro_benchmarks(titles + "x,1,2,three,4,5\n", "a.csv")),
            "'nanoseconds' is 'three': expected a number");
  EXPECT_EQ(message(api::micro_benchmarks(titles + "x,1\n", "a.csv")), "'cycles' is '': expected a number");
  const Device device = *find_device("h100");
  EXPECT_EQ(message(with_micro_benchmarks(device, {}, "nothing")), "the answer 'copy_fours 524288 256' is missing");
  const std::vector<MicroBenchmark> zero = {{"copy_fours 524288 256", 1, 0, 0, 0, 0}};
  EXPECT_EQ(message(with_micro_benchmarks(device, zero, "zero")),
            "the numbers of 'copy_fours 524288 256' are not positive");
  EXPECT_FALSE(api::measured_device("/nonexistent", device));
}

} // namespace micro_benchmarks_test
} // namespace warplens::model
