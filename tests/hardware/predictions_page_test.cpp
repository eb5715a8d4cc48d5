// SPDX-License-Identifier: Apache-2.0
// docs/predictions.md and its pictures are those that the measured times and the program give.
#include "tests/hardware/predictions_page.hpp"

#include "model/models.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

namespace warplens::tests {
namespace predictions_page_test {

std::string page(const std::string& name) {
  std::ifstream in(WARPLENS_SOURCE_DIR "/docs/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

constexpr const char* kStale = "stale: ninja -C build docs-predictions";

TEST(PredictionsPage, IsUpToDate) {
  EXPECT_TRUE(page("predictions.md") == predictions_page()) << kStale;
  EXPECT_TRUE(page("predictions_h200.svg") == predictions_plot(kH200)) << kStale;
  EXPECT_TRUE(page("predictions_h100.svg") == predictions_plot(kH100)) << kStale;
}

TEST(PredictionsPage, HasEveryLaunchInTheTableAndInThePictures) {
  const auto count = [](const std::string& text, const std::string& word) {
    std::size_t times = 0;
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++times;
    return times;
  };
  const std::string text = predictions_page();
  EXPECT_EQ(count(text.substr(text.find("## By kernel")), "\n| `"), public_programs().size());
  EXPECT_EQ(count(predictions_plot(kH200), "<title>"), public_programs().size());
  EXPECT_EQ(count(predictions_plot(kH100), "<title>"), public_programs().size());
}

TEST(PredictionsPage, NamesOfKernelsAreThoseOfTheSource) {
  EXPECT_EQ(name_in_source("_Z15accuracy_kerneliiiPKfPKiPi"), "accuracy_kernel");
  EXPECT_EQ(name_in_source("_ZN5outer12_GLOBAL__N_16kernelIfEEvPT_"), "kernel");
  EXPECT_EQ(name_in_source("saxpy"), "saxpy");
}

// A cause is named only of launches of examined programs that are more than 20 % off.
TEST(PredictionsPage, CausesAreOfExaminedLaunchesThatAreFarOff) {
  for (const KnownCause& one : known_causes()) {
    const bool applies =
        std::any_of(public_programs().begin(), public_programs().end(), [&](const TimedLaunch& launch) {
          return launch.program == one.program && name_in_source(launch.kernel) == one.kernel && !launch.judges &&
                 std::abs(predicted(model::kCriticalPath, launch, kH200).milliseconds / launch.milliseconds - 1) > 0.2;
        });
    EXPECT_TRUE(applies) << one.program << ", " << one.kernel;
  }
  EXPECT_GE(known_causes().size(), 5u);
}

} // namespace predictions_page_test
} // namespace warplens::tests
