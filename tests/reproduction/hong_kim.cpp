// S. Hong, H. Kim, ISCA 2009: the worked example (tiled matrix multiplication).
#include "model/hong_kim.hpp"
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
  const Expected<Prediction> p = model::hong_kim(s, d);
  ModelOptions rounded;
  rounded.mwp_rounding = ModelOptions::Rounding::two_digits;
  const Expected<Prediction> r = model::hong_kim(s, d, rounded);
  if (!p || !r) return page.claim("worked example", "a prediction", "an error", false);

  page.section("Hong & Kim 2009",
               "Section 3.5, tiled matrix multiplication: equations (5) to (27), exactly. The paper goes on with MWP "
               "rounded to 2.28; the rows below the total do too.");
  const auto of = [](const Prediction& q, const char* name) { return q.term(name).value_or(-1); };
  page.number("Mem_L", "cycles", 730, of(*p, "Mem_L"), 0);
  page.number("Departure_delay", "cycles", 320, of(*p, "Departure_delay"), 0);
  page.printed("MWP_Without_BW_full", "warps", 2.28, of(*p, "MWP_Without_BW_full"), 2);
  page.printed("BW_per_warp", "GB/s", 0.175, of(*p, "BW_per_warp"), 3);
  page.number("MWP_peak_BW (28.57 with 0.175)", "warps", 28.57, of(*p, "MWP_peak_BW"), 0.002);
  page.printed("MWP", "warps", 2.28, p->mwp, 2);
  page.number("Comp_cycles", "cycles", 132, of(*p, "Comp_cycles"), 0);
  page.number("Mem_cycles", "cycles", 4380, of(*p, "Mem_cycles"), 0);
  page.printed("CWP_full", "warps", 34.18, of(*p, "CWP_full"), 2);
  page.number("CWP", "warps", 20, p->cwp, 0);
  page.number("Rep", "", 1, of(*p, "Rep"), 0);
  page.number("Exec_cycles_app", "cycles", 38450, of(*p, "Exec_cycles_app"), 0.001);
  page.number("Synch_cost", "cycles", 12288, of(*p, "Synch_cost"), 0.001);
  page.number("total", "cycles", 50738, p->cycles, 0.0005);
  page.number("Exec_cycles_app, MWP 2.28", "cycles", 38450, of(*r, "Exec_cycles_app"), 0.00005);
  page.number("Synch_cost, MWP 2.28", "cycles", 12288, of(*r, "Synch_cost"), 0);
  page.number("total, MWP 2.28", "cycles", 50738, r->cycles, 0.00005);
}

} // namespace warplens::reproduction
