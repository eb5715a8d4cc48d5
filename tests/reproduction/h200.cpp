// Model throughput-latency on an H200: no paper, but what was asked of it.
#include "tests/hardware/asked_launches.hpp"
#include "tests/reproduction/page.hpp"

#include <fmt/format.h>

namespace warplens::reproduction {

void h200(Page& page) {
  using namespace tests;
  page.section(
      "Current hardware: an H200",
      "Not a paper: model throughput-latency against the times of launches that an H200 was asked "
      "(tests/data/hardware/times.jsonl). Kernels were held out by the hash of their name, before anything was "
      "fitted; [models](models.md#throughput-latency) says more, and shows the times.");
  const std::vector<AskedLaunch> launches = asked_launches();
  const Accuracy held = accuracy(part(launches, true)), all_others = accuracy(part(launches, false));
  page.threshold("launches, and their kernels, not used for fitting", "at least 60 of 25",
                 fmt::format("{} of {}", held.launches, held.kernels), held.launches >= 60 && held.kernels >= 25);
  page.threshold("of these, mean absolute error, of the measured time", "at most 20 %",
                 fmt::format("{:.1f} %", 100 * held.mean_error), held.mean_error <= 0.2);
  page.threshold("Spearman's rank correlation", "at least 0.95", fmt::format("{:.3f}", held.spearman),
                 held.spearman >= 0.95);
  page.text(
      fmt::format("The other {} launches of {} kernels, to which it was fitted: {:.1f} %, {:.3f}; with those that "
                  "the fit leaves out, for their atomics contend.",
                  all_others.launches, all_others.kernels, 100 * all_others.mean_error, all_others.spearman));
}

} // namespace warplens::reproduction
