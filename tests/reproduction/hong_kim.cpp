// SPDX-License-Identifier: Apache-2.0
// S. Hong, H. Kim, ISCA 2009: the worked example (tiled matrix multiplication).
#include "model/models.hpp"
#include "tests/reproduction/page.hpp"

namespace warplens::reproduction {

void hong_kim(Page& page) {
  using namespace model;
  Device d;
  d.name = "the GPU of the example";
  d.multiprocessors = 16;
  d.clock_ghz = 1;
  d.bandwidth_gb_s = 80;
  d.issue_cycles = IssueCycles{4, {}, {}};
  d.hong_kim = HongKimParameters{420, 10, 4, 32};
  KernelStatistics s;
  s.threads_per_block = 128;
  s.blocks = 80;
  s.resident_blocks = 5;
  s.instructions = 27 + 6;
  s.uncoalesced_requests = 6;
  s.coalesced_requests = 0;
  s.bytes_per_request = 128;
  s.synchronizations = 6;
  const Expected<Prediction> p = predict(kHongKim, s, d);
  ModelOptions rounded;
  rounded.mwp_rounding = ModelOptions::Rounding::two_digits;
  const Expected<Prediction> r = predict(kHongKim, s, d, rounded);
  if (!p || !r) return page.claim(Kind::computed, "worked example", "a prediction", "an error", false);

  page.section("Hong & Kim 2009",
               "Section 3.5, tiled matrix multiplication: equations (5) to (27), exactly. The paper continues with "
               "MWP rounded to 2.28, as do the rows below the total.");
  const auto of = [](const Prediction& q, const char* name) { return q.term(name).value_or(-1); };
  constexpr std::string_view kRounded = "the paper continues with a rounded MWP";
  page.computed("Mem_L", "cycles", "730", of(*p, "Mem_L"));
  page.computed("Departure_delay", "cycles", "320", of(*p, "Departure_delay"));
  page.computed("MWP_Without_BW_full", "warps", "2.28", of(*p, "MWP_Without_BW_full"));
  page.computed("BW_per_warp", "GB/s", "0.175", of(*p, "BW_per_warp"));
  page.computed("MWP_peak_BW", "warps", "28.57", of(*p, "MWP_peak_BW"), "the paper continues with 0.175");
  page.computed("MWP", "warps", "2.28", p->mwp);
  page.computed("Comp_cycles", "cycles", "132", of(*p, "Comp_cycles"));
  page.computed("Mem_cycles", "cycles", "4380", of(*p, "Mem_cycles"));
  page.computed("CWP_full", "warps", "34.18", of(*p, "CWP_full"));
  page.computed("CWP", "warps", "20", p->cwp);
  page.computed("Rep", "", "1", of(*p, "Rep"));
  page.computed("Exec_cycles_app", "cycles", "38450", of(*p, "Exec_cycles_app"), kRounded);
  page.computed("Synch_cost", "cycles", "12288", of(*p, "Synch_cost"), kRounded);
  page.computed("total", "cycles", "50738", p->cycles, kRounded);
  page.computed("Exec_cycles_app, MWP 2.28", "cycles", "38450", of(*r, "Exec_cycles_app"),
                "by less than a cycle; the paper does not state how it rounds");
  page.computed("Synch_cost, MWP 2.28", "cycles", "12288", of(*r, "Synch_cost"));
  page.computed("total, MWP 2.28", "cycles", "50738", r->cycles, "the same");
}

} // namespace warplens::reproduction
