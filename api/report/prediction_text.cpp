// SPDX-License-Identifier: Apache-2.0
#include "api/report/prediction_text.hpp"

#include "api/report/table.hpp"
#include "api/report/units.hpp"

#include <fmt/format.h>

namespace warplens::api {

std::string ideal_of(const model::Benefit& benefit) {
  const bool absent = benefit.of == "bank conflicts" || benefit.of == "divergence" || benefit.of == "barriers";
  return fmt::format("{} {}", absent ? "without" : "with ideal", benefit.of);
}

std::string prediction_text(const model::Prediction& p, const Style& s, bool terms, std::size_t columns) {
  std::string out = fmt::format("  {}{}{}: {}, {:.4g} shader cycles{}{}\n", s.bold, p.model, s.reset,
                                readable_time(p.milliseconds), p.cycles, p.bound.empty() ? "" : ", bound by ", p.bound);
  if (!p.mwp_bound.empty() && p.cwp == 0) {
    out += "    no memory requests: the prediction is the time of the instructions alone\n";
  } else if (!p.mwp_bound.empty()) {
    const auto add = [&](const std::string& text) { out += "    " + wrapped(text, "      ", columns).substr(6); };
    add(fmt::format("MWP {:.3g}: warps of a multiprocessor that can access memory at the same time (limited by {})",
                    p.mwp, p.mwp_bound));
    add(fmt::format("CWP {:.3g}: warps that can compute while one waits, plus one; if above MWP, memory is the "
                    "bottleneck",
                    p.cwp));
  }
  for (const model::Benefit& benefit : p.benefits)
    if (benefit.milliseconds > 0.001 * p.milliseconds)
      out += fmt::format("    potential saving: {} ({:.0f} %) {}\n", readable_time(benefit.milliseconds),
                         100 * benefit.milliseconds / p.milliseconds, ideal_of(benefit));
  for (const std::string& remark : p.remarks) out += "    - " + wrapped(remark, "      ", columns).substr(6);
  if (!terms) return out;
  Table table({{"    term"}, {"value", Table::right}, {"unit"}});
  for (const model::Term& term : p.terms) table.row({"    " + term.name, fmt::format("{:.7g}", term.value), term.unit});
  return out + table.text(s.dim, s.reset);
}

} // namespace warplens::api
