// SPDX-License-Identifier: Apache-2.0
#include "api/report/report_spaces.hpp"

#include "api/report/table.hpp"

#include <fmt/format.h>

namespace warplens::api {

namespace {

using analyzers::MetricId;
using analyzers::Metrics;

struct Kind {
  std::string_view title;
  MetricId requests, sectors;
};
constexpr Kind kLocal[] = {{"loads", MetricId::local_requests_ld, MetricId::local_sectors_ld},
                           {"stores", MetricId::local_requests_st, MetricId::local_sectors_st}};
constexpr Kind kTexture[] = {{"textures", MetricId::texture_requests, MetricId::texture_sectors},
                             {"surface loads", MetricId::surface_requests_ld, MetricId::surface_sectors_ld},
                             {"surface stores", MetricId::surface_requests_st, MetricId::surface_sectors_st},
                             {"surface reductions", MetricId::surface_requests_red, MetricId::surface_sectors_red}};

/// What 32 bytes are called, which all counters of these spaces are in: compute capability 1.x has no sectors.
std::string_view units_of(const model::Device& device) {
  return device.coalescing_rule.unit == rules::Coalescing::Unit::sectors ? "sectors" : "units of 32 bytes";
}

class SpaceSections {
public:
  SpaceSections(const LaunchReport& report, const Style& style, std::size_t columns)
      : m_(report.profile.metrics), s_(style), columns_(columns), banks_(report.device.bank_rule),
        units_(units_of(report.device)) {}

  std::string write() {
    if (table("Local memory", "data of a thread outside its registers; the same variable of 32 lanes is contiguous",
              kLocal))
      out_ += fmt::format("  ideal: {} {}, the fewest that hold the accessed data\n",
                          m_.integer(MetricId::local_sectors_ideal), units_);
    constants();
    table("Textures and surfaces", fmt::format("{} of the nearest texels, as if texels were stored row by row", units_),
          kTexture);
    return std::move(out_);
  }

private:
  void section(std::string_view title, std::string_view explanation) {
    out_ += section_title(title, explanation, s_, columns_);
  }

  template <std::size_t N> bool table(std::string_view title, std::string_view explanation, const Kind (&kinds)[N]) {
    Table t({{""},
             {"requests", Table::right},
             {std::string(units_), Table::right},
             {fmt::format("{}/request", units_), Table::right}});
    for (const Kind& kind : kinds)
      if (const std::uint64_t n = m_.integer(kind.requests))
        t.row({std::string(kind.title), fmt::format("{}", n), fmt::format("{}", m_.integer(kind.sectors)),
               fmt::format("{:.4g}", static_cast<double>(m_.integer(kind.sectors)) / static_cast<double>(n))});
    if (t.empty()) return false;
    section(title, explanation);
    out_ += t.text(s_.dim, s_.reset);
    return true;
  }

  void constants() {
    const std::uint64_t n = m_.integer(MetricId::constant_requests);
    if (n == 0) return;
    const std::string request = banks_.constants ? to_string(banks_.word(4).requests) : "warp";
    section("Constant memory", fmt::format("a pass serves all lanes of a {} that read the same address; includes "
                                           "parameters at computed addresses",
                                           request));
    if (banks_.constants)
      out_ += fmt::format("  {} requests; further passes are counted under warp_serialize\n", n);
    else
      out_ += fmt::format("  {} requests, {} passes, {} of them beyond one per request\n", n,
                          m_.integer(MetricId::constant_passes), m_.integer(MetricId::constant_passes_excessive));
  }

  const Metrics& m_;
  const Style& s_;
  std::size_t columns_;
  const rules::Banks& banks_;
  std::string_view units_;
  std::string out_;
};

std::uint64_t texture_sectors(const Metrics& m) {
  std::uint64_t sum = 0;
  for (const Kind& kind : kTexture) sum += m.integer(kind.sectors);
  return sum;
}

} // namespace

std::string space_sections(const LaunchReport& report, const Style& style, std::size_t columns) {
  return SpaceSections(report, style, columns).write();
}

std::uint64_t space_cost(const Metrics& instruction) {
  return instruction.integer(MetricId::local_sectors) + texture_sectors(instruction) +
         instruction.integer(MetricId::constant_passes_excessive);
}

std::string space_cost_text(const Metrics& instruction, const model::Device& device) {
  if (const std::uint64_t n = instruction.integer(MetricId::local_sectors))
    return fmt::format("{} {} of local memory (ideal {})", n, units_of(device),
                       instruction.integer(MetricId::local_sectors_ideal));
  if (const std::uint64_t n = texture_sectors(instruction)) return fmt::format("{} {} of texels", n, units_of(device));
  return fmt::format("{} passes for {} requests", instruction.integer(MetricId::constant_passes),
                     instruction.integer(MetricId::constant_requests));
}

} // namespace warplens::api
