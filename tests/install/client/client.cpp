// SPDX-License-Identifier: Apache-2.0
// A C++ program of a user of the C library: launches a kernel and prints a metric.
#include <array>
#include <cstdint>
#include <iostream>
#include <memory>
#include <warplens.h>

namespace {

using Context = std::unique_ptr<warplens_context, decltype(&warplens_context_destroy)>;
using Module = std::unique_ptr<warplens_module, decltype(&warplens_module_destroy)>;
using Report = std::unique_ptr<warplens_report, decltype(&warplens_report_destroy)>;

// Every lane stores to the same bank of shared memory.
constexpr const char* kPtx = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry conflicts()
{
  .shared .align 4 .b8 words[4096];
  .reg .b32 %r<3>;
  mov.u32 %r1, %tid.x;
  mul.lo.u32 %r2, %r1, 128;
  mov.u32 %r0, words;
  add.u32 %r2, %r2, %r0;
  st.shared.u32 [%r2], %r1;
  ret;
}
)";

int failed() {
  std::cerr << warplens_last_error() << '\n';
  return 1;
}

} // namespace

int main() {
  warplens_context* made = nullptr;
  if (warplens_context_create(&made) != WARPLENS_OK) return failed();
  const Context context(made, warplens_context_destroy);
  warplens_module* loaded = nullptr;
  if (warplens_module_load(made, kPtx, "conflicts.ptx", &loaded) != WARPLENS_OK) return failed();
  const Module module(loaded, warplens_module_destroy);
  warplens_launch_options options = WARPLENS_LAUNCH_OPTIONS_INIT;
  options.block[0] = 32;
  options.device = "a100";
  warplens_report* launched = nullptr;
  if (warplens_launch(loaded, "conflicts", &options, nullptr, nullptr, 0, &launched) != WARPLENS_OK) return failed();
  const Report report(launched, warplens_report_destroy);
  double warps = 0;
  if (warplens_report_metric(launched, "warps_launched", &warps) != WARPLENS_OK) return failed();
  const std::string json = warplens_report_json(launched);
  std::cout << "C++, warplens " << warplens_version() << ": " << warps << " warp, "
            << (json.find("A100") != json.npos ? "A100" : "another device") << '\n';
}
