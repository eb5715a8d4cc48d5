#include "api/report/report_spaces.hpp"

#include "api/report/table.hpp"

#include <fmt/format.h>

namespace warplens::api {

namespace {

using analyzers::Metrics;

struct Kind {
  std::string_view title, suffix;
};
constexpr Kind kLocal[] = {{"loads", "lsu_mem_local_op_ld"}, {"stores", "lsu_mem_local_op_st"}};
constexpr Kind kTexture[] = {{"textures", "tex_mem_texture"},
                             {"loads of surfaces", "tex_mem_surface_op_ld"},
                             {"stores to surfaces", "tex_mem_surface_op_st"},
                             {"reductions on surfaces", "tex_mem_surface_op_red"}};

std::uint64_t requests(const Metrics& m, const Kind& kind) {
  return m.integer(fmt::format("l1tex__t_requests_pipe_{}.sum", kind.suffix));
}
std::uint64_t sectors(const Metrics& m, const Kind& kind) {
  return m.integer(fmt::format("l1tex__t_sectors_pipe_{}.sum", kind.suffix));
}

class Sections {
public:
  Sections(const LaunchReport& report, const Style& style)
      : m_(report.profile.metrics), s_(style), banks_(report.device.bank_rule) {}

  std::string write() {
    if (table("Local memory",
              "what a thread keeps outside of its registers; the same variable of 32 lanes lies side by side", kLocal))
      out_ += fmt::format("  ideal: {} sectors, the fewest that hold what the lanes use\n",
                          m_.integer("memory_l2_theoretical_sectors_local_ideal"));
    constants();
    table("Textures and surfaces", "sectors of the nearest texels, as if texels lay row after row", kTexture);
    return std::move(out_);
  }

private:
  void section(std::string_view title, std::string_view explanation) {
    out_ += fmt::format("\n{}{}{}{}: {}{}\n", s_.bold, title, s_.reset, s_.dim, explanation, s_.reset);
  }

  template <std::size_t N> bool table(std::string_view title, std::string_view explanation, const Kind (&kinds)[N]) {
    Table t({{""}, {"requests", Table::right}, {"sectors", Table::right}, {"sectors/request", Table::right}});
    for (const Kind& kind : kinds)
      if (const std::uint64_t n = requests(m_, kind))
        t.row({std::string(kind.title), fmt::format("{}", n), fmt::format("{}", sectors(m_, kind)),
               fmt::format("{:.4g}", static_cast<double>(sectors(m_, kind)) / static_cast<double>(n))});
    if (t.empty()) return false;
    section(title, explanation);
    out_ += t.text(s_.dim, s_.reset);
    return true;
  }

  void constants() {
    const std::uint64_t n = m_.integer("idc__requests.sum");
    if (n == 0) return;
    const std::string request = banks_.constants ? to_string(banks_.word(4).requests) : "warp";
    section("Constant memory", fmt::format("a pass serves all lanes of a {} that ask for one address; parameters at "
                                           "computed addresses, too",
                                           request));
    if (banks_.constants)
      out_ += fmt::format("  {} requests; further passes are counted under warp_serialize\n", n);
    else
      out_ += fmt::format("  {} requests, {} passes, {} of them beyond one a request\n", n,
                          m_.integer("constant_passes"), m_.integer("constant_passes_excessive"));
  }

  const Metrics& m_;
  const Style& s_;
  const rules::Banks& banks_;
  std::string out_;
};

std::uint64_t texture_sectors(const Metrics& m) {
  std::uint64_t sum = 0;
  for (const Kind& kind : kTexture) sum += sectors(m, kind);
  return sum;
}

} // namespace

std::string space_sections(const LaunchReport& report, const Style& style) { return Sections(report, style).write(); }

std::uint64_t space_cost(const Metrics& instruction) {
  return instruction.integer("memory_l2_theoretical_sectors_local") + texture_sectors(instruction) +
         instruction.integer("constant_passes_excessive");
}

std::string space_cost_text(const Metrics& instruction) {
  if (const std::uint64_t n = instruction.integer("memory_l2_theoretical_sectors_local"))
    return fmt::format("{} sectors of local memory (ideal {})", n,
                       instruction.integer("memory_l2_theoretical_sectors_local_ideal"));
  if (const std::uint64_t n = texture_sectors(instruction)) return fmt::format("{} sectors of texels", n);
  return fmt::format("{} passes for {} requests", instruction.integer("constant_passes"),
                     instruction.integer("idc__requests.sum"));
}

} // namespace warplens::api
