// SPDX-License-Identifier: Apache-2.0
// The eight base variants of Dasgupta's fast multipole kernels at 64 threads per block have the order of the thesis and
// the bounds that it names. For speed, they are counted on an octree of 8 leaves and predicted for 585 blocks: the work
// of a warp depends only on its number of neighbours. docs/fmm.md has the results at full size.
#include "api/plan/launch_file.hpp"
#include "model/models.hpp"
#include "model/prediction.hpp"

#include <gtest/gtest.h>

#include <map>

namespace warplens::api {
namespace fmm_test {

model::Prediction predicted(const std::string& kernel) {
  std::vector<Override> overrides{{"launch.0.arg.0.s32", "1"}, {"launch.1.arg.0.s32", "1"}, {"launch.1.grid", "9"},
                                  {"launch.2.grid", "9"},      {"launch.2.kernel", kernel}, {"device", "c1060"}};
  if (kernel.find("shmem") != kernel.npos) overrides.push_back({"launch.2.shared", "1024"});
  const Expected<Plan> plan = read_launch_file(WARPLENS_SOURCE_DIR "/samples/fmm_ulist/launch.toml", overrides);
  EXPECT_TRUE(plan);
  const Expected<PlanReport> report = run_plan(*plan, {});
  EXPECT_TRUE(report) << render(report.error(), "");
  const LaunchReport& launch = report->launches.at(2);
  EXPECT_EQ(launch.kernel, kernel);
  model::KernelStatistics statistics = launch.statistics;
  statistics.blocks = 585;
  model::ModelOptions options;
  options.special_functions = model::ModelOptions::SpecialFunctions::beside;
  const Expected<model::Prediction> p = model::predict(model::kDasgupta, statistics, report->device, options);
  EXPECT_TRUE(p) << kernel;
  return *p;
}

TEST(FastMultipole, BaseVariantsRankAsInTheThesis) {
  std::map<std::string, model::Prediction> p;
  for (const char* kernel : {"cuda", "cuda_tight", "cuda_rsqrt", "cuda_pref", "cuda_ujam", "cuda_vecpack", "cuda_shmem",
                             "cuda_vecpack_shmem"})
    p.emplace(kernel, predicted(kernel));
  const auto time = [&](const char* kernel) { return p.at(kernel).milliseconds; };
  // Figure 17: 66.2, 66.1, 65.0, 62.9, 50.0, 44.3, 36.0 and 32.7 ms. The first two have the same PTX.
  EXPECT_EQ(time("cuda_tight"), time("cuda"));
  EXPECT_LT(time("cuda_rsqrt"), time("cuda_tight"));
  EXPECT_LT(time("cuda_pref"), time("cuda_rsqrt"));
  EXPECT_LT(time("cuda_ujam"), time("cuda_pref"));
  EXPECT_LT(time("cuda_vecpack"), time("cuda_ujam"));
  EXPECT_LT(time("cuda_shmem"), time("cuda_vecpack"));
  EXPECT_LT(time("cuda_vecpack_shmem"), time("cuda_shmem"));
}

TEST(FastMultipole, BoundByWhatTheThesisSays) {
  for (const char* kernel : {"cuda", "cuda_ujam", "cuda_vecpack", "cuda_rsqrt", "cuda_pref"}) {
    const model::Prediction p = predicted(kernel);
    EXPECT_EQ(p.bound, "memory") << kernel;
    EXPECT_GT(p.cwp, p.mwp) << kernel;
  }
  const model::Prediction shared = predicted("cuda_shmem");
  EXPECT_EQ(shared.bound, "compute");
  EXPECT_GT(shared.mwp, shared.cwp);
}

} // namespace fmm_test
} // namespace warplens::api
