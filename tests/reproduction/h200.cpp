// SPDX-License-Identifier: Apache-2.0
// Model throughput-latency on an H200: not from a paper, but our own requirements.
#include "tests/hardware/asked_launches.hpp"
#include "tests/reproduction/page.hpp"

#include <fmt/format.h>

namespace warplens::reproduction {

void h200(Page& page) {
  using namespace tests;
  page.section(
      "Current hardware: an H200",
      "This is not a paper: the model throughput-latency is compared with the times of launches that were measured on "
      "an H200 (`tests/data/hardware/times.jsonl`). Kernels were held out by the hash of their name, before anything "
      "was fitted; [models](models.md#throughput-latency) gives details and shows the times.");
  const std::vector<AskedLaunch> launches = asked_launches();
  const Accuracy held = accuracy(part(launches, true)), all_others = accuracy(part(launches, false));
  page.threshold("launches and kernels that were not used for the fit", "at least 60 of 25",
                 fmt::format("{} of {}", held.launches, held.kernels), held.launches >= 60 && held.kernels >= 25);
  page.threshold("mean absolute error of these, relative to the measured time", "at most 20 %",
                 fmt::format("{:.1f} %", 100 * held.mean_error), held.mean_error <= 0.2);
  page.threshold("Spearman's rank correlation", "at least 0.95", fmt::format("{:.3f}", held.spearman),
                 held.spearman >= 0.95);
  page.text(
      fmt::format("The other {} launches of {} kernels, which were used for the fit or left out of it because their "
                  "atomics are contended: {:.1f} %, {:.3f}.",
                  all_others.launches, all_others.kernels, 100 * all_others.mean_error, all_others.spearman));
}

} // namespace warplens::reproduction
