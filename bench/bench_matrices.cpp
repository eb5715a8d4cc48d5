// SPDX-License-Identifier: Apache-2.0
// Measures mma, mma.sp, wmma.mma and wgmma: nanoseconds for a warp or a warp group, and the time relative to the
// fma.f32 (of double precision: fma.f64) that would do the same multiplications and additions, 32 at once. The forms
// are those that were measured on hardware (tests/data/hardware/matrix.jsonl); operands are ordinary numbers of their
// types. Both are kernels of one warp that repeat the instruction; they run alternately, and the best of several rounds
// counts. docs/performance.md has the results.
//
//   build/bin/bench_matrices [NAME]      only forms that contain NAME
#include "api/warplens.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

using nlohmann::json;

constexpr int kUnrolled = 8, kRounds = 15;
constexpr int kLoops = 300, kLoopsOfFma = 3000; ///< long enough that the kernel's call is negligible

// Converts random bits r to ordinary numbers, (r & random) | fixed, with exponents from about 1/8 to 1.
struct Bits {
  unsigned random, fixed;
};
const std::map<std::string, Bits> kOrdinary = {{"f16", {0x8fff8fff, 0x30003000}},  {"bf16", {0x81ff81ff, 0x3e003e00}},
                                               {"tf32", {0x81ffffff, 0x3e000000}}, {"f32", {0x81ffffff, 0x3e000000}},
                                               {"f64", {0x801fffff, 0x3fc00000}},  {"e4m3", {0x8f8f8f8f, 0x30303030}},
                                               {"e5m2", {0x87878787, 0x38383838}}, {"s32", {0x000fffff, 0}}};

std::string kernel(const std::string& setup, const std::string& statement, int count, int loops) {
  std::string text = ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n"
                     ".reg .b32 %t, %e0, %n; .reg .pred %p; .reg .b32 %d<8>, %a<8>, %b<8>, %c<8>; .reg .f32 %f<4>;\n"
                     ".reg .b64 %dw<8>, %aw<8>, %bw<8>, %cw<8>; .reg .f64 %g<4>;\nmov.u32 %t, %tid.x;\n" +
                     setup + fmt::format("mov.u32 %n, {};\nagain:\n", loops);
  for (int i = 0; i < count; ++i) text += statement + "\n";
  return text + "sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra again;\nret;\n}\n";
}

std::string operands(const json& form) {
  std::string text = "mov.u32 %e0, 0x44444444;\n";
  for (std::size_t o = 1; o < 4; ++o) {
    const std::string kind = form["kinds"][o];
    const char letter = "dabc"[o];
    const auto found = kOrdinary.find(kind);
    const Bits bits = found == kOrdinary.end() ? Bits{~0u, 0} : found->second;
    for (int i = 0; i < form["counts"][o].get<int>(); ++i) {
      const std::string name = fmt::format("%{}{}", letter, i);
      text += fmt::format("mad.lo.u32 {0}, %t, 0x9E3779B1, {1}; mul.hi.u32 {0}, {0}, 0x85EBCA77; mul.lo.u32 {0}, {0}, "
                          "0xC2B2AE35; and.b32 {0}, {0}, {2}; or.b32 {0}, {0}, {3};\n",
                          name, (o * 8 + static_cast<unsigned>(i)) * 0x27D4EB2Fu, bits.random, bits.fixed);
      if (kind == "f64") text += fmt::format("mov.b64 %{}w{}, {{%t, {}}};\n", letter, i, name);
    }
  }
  return text;
}

// m8n8k4 of halves is four multiplications.
int multiplications(const std::string& statement) {
  std::size_t at = statement.find(".m");
  while (statement[at + 2] < '0' || statement[at + 2] > '9') at = statement.find(".m", at + 1);
  int m = 0, n = 0, k = 0;
  std::sscanf(statement.c_str() + at, ".m%dn%dk%d", &m, &n, &k);
  const bool quads =
      statement.starts_with("mma.sync.aligned.m8n8k4.") && statement.find(".f16.f16.") != std::string::npos;
  return m * n * k * (quads ? 4 : 1);
}

double nanoseconds(const std::string& text, int count, int threads = 32) {
  const auto start = std::chrono::steady_clock::now();
  ptx_run(text.c_str(), 0, nullptr, threads, 1, 1, 1, 1, 1, 0);
  const std::chrono::duration<double, std::nano> all = std::chrono::steady_clock::now() - start;
  return all.count() / count;
}

// ---- products of a warp group, of matrices in shared memory

struct GroupForm {
  const char *d, *a, *b;
  int n, k;
  bool sparse = false;
};
constexpr GroupForm kGroupForms[] = {{"f32", "f16", "f16", 8, 16},           {"f32", "f16", "f16", 64, 16},
                                     {"f32", "f16", "f16", 128, 16},         {"f32", "f16", "f16", 256, 16},
                                     {"f16", "f16", "f16", 128, 16},         {"f32", "bf16", "bf16", 128, 16},
                                     {"f32", "tf32", "tf32", 128, 8},        {"f32", "e4m3", "e4m3", 128, 32},
                                     {"f32", "e5m2", "e5m2", 128, 32},       {"f16", "e4m3", "e4m3", 128, 32},
                                     {"s32", "s8", "s8", 128, 32},           {"s32", "u8", "u8", 128, 32},
                                     {"s32", "b1", "b1", 128, 256},          {"f32", "f16", "f16", 128, 32, true},
                                     {"f32", "tf32", "tf32", 128, 16, true}, {"f32", "e4m3", "e4m3", 128, 64, true},
                                     {"s32", "s8", "s8", 128, 64, true}};

// About a millisecond for all: longer runs would be interrupted.
int loops_of(const GroupForm& f) { return std::max(2, (1 << 20) / (64 * f.n * f.k)); }

std::string group_name(const GroupForm& f) {
  return fmt::format("wgmma.mma_async{}.sync.aligned.m64n{}k{}.{}.{}.{}{}", f.sparse ? ".sp" : "", f.n, f.k, f.d, f.a,
                     f.b, f.a == std::string("b1") ? ".and.popc" : "");
}

std::string group_kernel(const GroupForm& f) {
  constexpr int kWords = 12288, kThreads = 128;
  const std::string type = f.a;
  const auto found = kOrdinary.find(type);
  const Bits bits = found == kOrdinary.end() ? Bits{~0u, 0} : found->second;
  const int registers = f.d == std::string("f16") ? f.n / 4 : f.n / 2;
  std::string text = fmt::format(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {{\n.shared .align 1024 .b8 s[{}];\n"
      ".reg .b32 %t, %i, %w, %at, %n, %e0; .reg .pred %p, %q; .reg .b64 %da, %db; .reg .b32 %d<{}>;\n"
      "mov.u32 %t, %tid.x; mov.u32 %i, %t; mov.u32 %e0, 0x44444444;\nfill:\n"
      "mad.lo.u32 %w, %i, 0x9E3779B1, 7; mul.hi.u32 %w, %w, 0x85EBCA77; mul.lo.u32 %w, %w, 0xC2B2AE35;\n"
      "and.b32 %w, %w, {}; or.b32 %w, %w, {}; shl.b32 %at, %i, 2; st.shared.b32 [%at], %w; add.u32 %i, %i, {};\n"
      "setp.lt.u32 %p, %i, {}; @%p bra fill;\nbar.sync 0; setp.eq.u32 %q, %t, %t;\n",
      4 * kWords, registers, bits.random, bits.fixed, kThreads, kWords);
  for (int r = 0; r < registers; ++r) text += fmt::format("mov.b32 %d{}, 0;\n", r);
  // Units of 16 bytes of eight rows follow each other; B has twice as many if A is sparse.
  text += fmt::format("mov.b64 %da, {}; mov.b64 %db, {};\n", 8ull << 16 | 16ull << 32,
                      2048ull >> 4 | 8ull << 16 | (f.sparse ? 32ull : 16ull) << 32);
  std::string statement = group_name(f) + " {";
  for (int r = 0; r < registers; ++r) statement += fmt::format("{}%d{}", r == 0 ? "" : ", ", r);
  statement += std::string("}, %da, %db") + (f.sparse ? ", %e0, 0" : "") + ", %q";
  if (f.d != std::string("s32")) statement += ", 1, 1";
  if (type == "f16" || type == "bf16") statement += ", 0, 0";
  text += fmt::format("mov.u32 %n, {};\nagain:\n", loops_of(f));
  for (int i = 0; i < kUnrolled; ++i) text += statement + ";\n";
  return text + "sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra again;\nret;\n}\n";
}

void measure_groups(const std::string& fma, const std::string& part) {
  for (const GroupForm& form : kGroupForms) {
    const std::string name = group_name(form), text = group_kernel(form);
    if (name.find(part) == std::string::npos) continue;
    nanoseconds(text, 1, 128);
    double ours = 1e9, one = 1e9;
    for (int round = 0; round < kRounds; ++round) {
      ours = std::min(ours, nanoseconds(text, kUnrolled * loops_of(form), 128));
      one = std::min(one, nanoseconds(fma, 8 * kUnrolled * kLoopsOfFma));
    }
    const double all = 64.0 * form.n * form.k, scalar = one * all / 32;
    fmt::print("{:8.0f} ns  {:8.0f} ns by fma  {:6.2f}  {:6.1f} G/s  {}\n", ours, scalar, ours / scalar, all / ours,
               name);
  }
}

} // namespace

int main(int argc, char** argv) {
  std::ifstream file(WARPLENS_SOURCE_DIR "/tests/data/hardware/matrix.jsonl");
  const std::string fma = kernel("mov.f32 %f0, 0f3f800000; mov.f32 %f1, %f0; mov.f32 %f2, %f0;\n",
                                 "fma.rn.f32 %f3, %f0, %f1, %f2;", 8 * kUnrolled, kLoopsOfFma);
  const std::string doubles = kernel("mov.f64 %g0, 0d3ff0000000000000; mov.f64 %g1, %g0; mov.f64 %g2, %g0;\n",
                                     "fma.rn.f64 %g3, %g0, %g1, %g2;", 8 * kUnrolled, kLoopsOfFma);
  for (std::string line; std::getline(file, line);) {
    const json form = json::parse(line);
    const std::string statement = form["statement"], name = statement.substr(0, statement.find(' '));
    if (argc > 1 && name.find(argv[1]) == std::string::npos) continue;
    const std::string text = kernel(operands(form), statement, kUnrolled, kLoops);
    const std::string& scalar_text = name.find(".f64") == std::string::npos ? fma : doubles;
    nanoseconds(text, 1);
    nanoseconds(scalar_text, 1);
    double ours = 1e9, one = 1e9;
    for (int round = 0; round < kRounds; ++round) {
      ours = std::min(ours, nanoseconds(text, kUnrolled * kLoops));
      one = std::min(one, nanoseconds(scalar_text, 8 * kUnrolled * kLoopsOfFma));
    }
    const double scalar = one * multiplications(name) / 32;
    fmt::print("{:8.0f} ns  {:8.0f} ns by fma  {:6.2f}  {}\n", ours, scalar, ours / scalar, name);
  }
  measure_groups(fma, argc > 1 ? argv[1] : "");
}
