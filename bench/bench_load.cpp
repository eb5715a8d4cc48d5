// SPDX-License-Identifier: Apache-2.0
// Measures the processor time for loading PTX: statements per second of each pass over texts of increasing size, and
// microseconds per KB of the first ptx_run of a text.
//
//   build/bin/bench_load            all
//   build/bin/bench_load 100000     only texts of up to 100 000 statements
//
// The texts repeat the samples' kernels as nvcc compiled them, with different names each time.
#include "api/warplens.h"
#include "emulator/exec/decode/decode.hpp"
#include "emulator/ir/check.hpp"
#include "emulator/ir/parse.hpp"

#include <fmt/format.h>

#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <sstream>

namespace {

using namespace warplens;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double seconds_of(const std::function<void()>& work) {
  const double start = processor_seconds();
  work();
  return processor_seconds() - start;
}

constexpr const char* kSamples[] = {"branching", "caesar",      "cluster_histogram", "fmm_ulist",    "linear_algebra",
                                    "saxpy",     "prefix_sum",  "shared_copy",       "partitioning", "transpose",
                                    "ubench",    "global_copy", "vector_add",        "async_copy"};
constexpr const char* kHeader = ".version 9.0\n.target sm_90\n.address_size 64\n";

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

/// A sample without its header, and the names of its kernels and module variables.
struct Sample {
  std::string text;
  std::set<std::string, std::less<>> names;

  /// The text with `suffix` added to every name, also inside words that begin with a name (k_param_0).
  [[nodiscard]] std::string renamed(const std::string& suffix) const {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at;
      while (end < text.size() && in_name(text[end])) ++end;
      if (end == at) {
        result += text[at++];
        continue;
      }
      const std::string_view word = std::string_view(text).substr(at, end - at);
      auto after = names.upper_bound(word);
      const bool is_ours = after != names.begin() && word.starts_with(*--after);
      result += is_ours ? *after + suffix + std::string(word.substr(after->size())) : std::string(word);
      at = end;
    }
    return result;
  }
};

// A module may declare a file number only once: passes() declares those of all samples.
std::string without_files(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);)
    if (line.find(".file") == std::string::npos) result += line + "\n";
  return result;
}

std::vector<Sample> samples() {
  std::vector<Sample> list;
  for (const std::string name : kSamples) {
    std::ifstream in(fmt::format("{}/samples/{}/{}.ptx", WARPLENS_SOURCE_DIR, name, name), std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto parsed = ir::parse(text, name);
    const std::size_t header = text.find(".address_size 64");
    if (!parsed || header == std::string::npos) continue;
    Sample sample{without_files(text.substr(header + 17)), {}};
    for (const ir::Function& f : parsed->functions) sample.names.emplace(f.name);
    for (const ir::Variable& v : parsed->variables) sample.names.emplace(v.name);
    list.push_back(std::move(sample));
  }
  return list;
}

std::size_t statements_of(const ir::Module& module) {
  std::size_t count = 0;
  for (const ir::Function& f : module.functions) count += f.instructions.size();
  return count;
}

void passes(const std::vector<Sample>& list, std::size_t statements) {
  std::string text = kHeader;
  constexpr int kFiles = 32;
  for (int i = 1; i <= kFiles; ++i) text += fmt::format(".file {} \"{}.cu\"\n", i, i);
  for (std::size_t copy = 0, made = 0; made < statements; ++copy)
    for (std::size_t i = 0; i < list.size(); ++i) { // two samples may have kernels with the same name
      const std::string one = list[i].renamed(fmt::format("_{}_{}", i, copy));
      made += static_cast<std::size_t>(std::count(one.begin(), one.end(), ';'));
      text += one;
    }
  Expected<ir::Module> module = failure("");
  const double parse = seconds_of([&] { module = ir::parse(text, "samples.ptx"); });
  if (!module) return (void)std::fputs(render(module.error(), text, 5).c_str(), stderr);
  const double check = seconds_of([&] { ir::check(*module); });
  const exec::VariableAddresses addresses(module->variables.size(), 4096);
  const double decode = seconds_of([&] {
    for (const ir::Function& f : module->functions)
      if (f.is_entry) (void)exec::decode(*module, f, addresses, {});
  });
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto count = static_cast<double>(statements_of(*module));
  fmt::print("{:>10.0f} {:>8.1f} {:>12.0f} {:>12.0f} {:>12.0f} {:>10}\n", count,
             static_cast<double>(text.size()) * 1e-6, count / parse, count / check, count / decode,
             used.ru_maxrss / 1024);
}

/// A kernel like those of machine-learning compilers: straight-line loads, arithmetic and stores.
std::string small_kernel(int number, std::size_t bytes) {
  std::string text = fmt::format(".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry E_{}(\n", number);
  const std::size_t registers = bytes / 50;
  text += "  .param .u64 data0,\n  .param .u64 data1\n)\n{\n  .reg .b64 %rd<9>;\n  .reg .b32 %r<9>;\n";
  text += fmt::format("  .reg .f32 %f<{}>;\n", registers);
  text += "  ld.param.u64 %rd0, [data0+0];\n  ld.param.u64 %rd1, [data1+0];\n"
          "  mov.u32 %r0, %tid.x;\n  mul.wide.s32 %rd2, %r0, 4;\n  add.s64 %rd3, %rd1, %rd2;\n"
          "  add.s64 %rd4, %rd0, %rd2;\n  ld.global.f32 %f0, [%rd3+0];\n";
  for (std::size_t i = 1; text.size() + 60 < bytes; ++i)
    text += i % 5 == 0 ? fmt::format("  ld.global.f32 %f{}, [%rd3+0];\n", i % registers)
                       : fmt::format("  fma.rn.f32 %f{}, %f{}, 0f{:08X}, %f0;\n", i % registers, (i - 1) % registers,
                                     static_cast<std::size_t>(number) + i);
  return text + "  st.global.f32 [%rd4+0], %f0;\n  ret;\n}\n";
}

void first_runs() {
  float in[32] = {}, out[32] = {};
  void* arguments[] = {out, in};
  const auto run = [&](const std::string& text) { ptx_run(text.c_str(), 2, arguments, 32, 1, 1, 1, 1, 1, 0); };
  const std::string first = small_kernel(0, 4096);
  fmt::print("first text of the process, 4 KB: {:.0f} µs\n", seconds_of([&] { run(first); }) * 1e6);
  fmt::print("{:>10} {:>12} {:>12} {:>16}\n", "KB", "µs", "µs per KB", "again, µs");
  int number = 1;
  for (const std::size_t kilobytes : {1, 2, 5, 10, 20}) {
    constexpr int kTexts = 40;
    std::vector<std::string> texts;
    texts.reserve(kTexts);
    for (int i = 0; i < kTexts; ++i) texts.push_back(small_kernel(number++, kilobytes * 1024));
    double fresh = 0, again = 0;
    for (const std::string& text : texts) fresh += seconds_of([&] { run(text); });
    for (const std::string& text : texts) again += seconds_of([&] { run(text); });
    const double each = fresh / kTexts * 1e6;
    fmt::print("{:>10} {:>12.0f} {:>12.1f} {:>16.0f}\n", kilobytes, each, each / static_cast<double>(kilobytes),
               again / kTexts * 1e6);
  }
}

} // namespace

int main(int count, char** arguments) {
  const std::size_t most = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 820'000;
  first_runs();
  const std::vector<Sample> list = samples();
  fmt::print("{:>10} {:>8} {:>12} {:>12} {:>12} {:>10}\n", "statements", "MB", "parsed/s", "checked/s", "decoded/s",
             "peak MiB");
  for (std::size_t n : {10'000, 50'000, 200'000, 820'000})
    if (n <= most) passes(list, n);
}
