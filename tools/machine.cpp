// SPDX-License-Identifier: Apache-2.0
#include "tools/machine.hpp"

#include <fmt/format.h>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

namespace warplens::tools {

namespace {

namespace fs = std::filesystem;

/// The folders of this process's control group (version 2) and of those that contain it, innermost first.
std::vector<fs::path> control_groups() {
  const fs::path root = "/sys/fs/cgroup";
  std::vector<fs::path> folders;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with("0::/"))
      for (fs::path path = line.substr(4); !path.empty(); path = path.parent_path()) folders.push_back(root / path);
  folders.push_back(root);
  return folders;
}

/// The first word of a file; empty: there is no such file, or no limit.
std::string limit_in(const fs::path& file, std::string* second = nullptr) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  if (second != nullptr) in >> *second;
  return word == "max" ? "" : word;
}

std::uint64_t number(const std::string& text) {
  const bool is_number = !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == text.npos;
  return is_number ? std::stoull(text) : 0;
}

} // namespace

unsigned usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(CPU_COUNT(&set));
  return std::max(1U, std::thread::hardware_concurrency()); // more than cpu_set_t can hold
}

std::optional<double> processor_quota() {
  std::optional<double> least;
  for (const fs::path& folder : control_groups()) {
    std::string period;
    const std::string quota = limit_in(folder / "cpu.max", &period);
    if (number(quota) == 0 || number(period) == 0) continue;
    const double processors = static_cast<double>(number(quota)) / static_cast<double>(number(period));
    least = std::min(least.value_or(processors), processors);
  }
  return least;
}

std::vector<MemoryLimit> memory_limits() {
  std::vector<MemoryLimit> limits;
  limits.push_back({static_cast<std::uint64_t>(std::max(0L, sysconf(_SC_PHYS_PAGES))) *
                        static_cast<std::uint64_t>(std::max(0L, sysconf(_SC_PAGESIZE))),
                    "machine"});
  for (const fs::path& folder : control_groups())
    if (const std::uint64_t bytes = number(limit_in(folder / "memory.max")); bytes != 0)
      limits.push_back({bytes, "control group"});
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
    limits.push_back({space.rlim_cur, "address space (ulimit -v)"});
  std::stable_sort(limits.begin(), limits.end(), [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  return limits;
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::string_view kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto number = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; number >= 1024 && unit + 1 < std::size(kUnits); ++unit) number /= 1024;
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", number, kUnits[unit]);
}

} // namespace warplens::tools
