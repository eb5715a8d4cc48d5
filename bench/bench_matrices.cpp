// SPDX-License-Identifier: Apache-2.0
// Measures mma, mma.sp, wmma.mma, wgmma and tcgen05.mma: nanoseconds for a warp, a warp group or a block, and the time
// relative to the fma.f32 (of double precision: fma.f64) that would do the same multiplications and additions, 32 at
// once. The forms of a warp are those that were measured on hardware (tests/data/hardware/matrix.jsonl), and those with
// .kind; operands are ordinary numbers of their types. Both are kernels of one warp that repeat the instruction; they
// run alternately, and the best of several rounds counts. docs/performance.md has the results.
//
//   build/bin/bench_matrices [NAME]               only forms that contain NAME
//   build/bin/bench_matrices --at-most 1.7 NAME   fails if one of these forms of a warp takes longer, relative to fma
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
const std::map<std::string, Bits> kOrdinary = {{"f16", {0x8fff8fff, 0x30003000}},
                                               {"bf16", {0x81ff81ff, 0x3e003e00}},
                                               {"tf32", {0x81ffffff, 0x3e000000}},
                                               {"f32", {0x81ffffff, 0x3e000000}},
                                               {"f64", {0x801fffff, 0x3fc00000}},
                                               {"e4m3", {0x8f8f8f8f, 0x30303030}},
                                               {"e5m2", {0x87878787, 0x38383838}},
                                               {"e2m1", {0x2c2c2c2c, 0x10101010}},
                                               {"e3m2", {0x27272727, 0x08080808}},
                                               {"packed", {0xbbbbbbbb, 0x44444444}},
                                               {"s32", {0x000fffff, 0}}};
// Scales of narrow floats: 2^-1 to 2 as .ue8m0, 1/4 to 4 as .ue4m3.
constexpr unsigned kPowers = 0x807f7e7f, kFractions = 0x3c383430;

std::string kernel(const std::string& setup, const std::string& statement, int count, int loops) {
  const bool narrow = statement.find(".kind::") != std::string::npos;
  std::string text = std::string(".version 9.0\n.target ") + (narrow ? "sm_120a" : "sm_90a") +
                     "\n.address_size 64\n.visible .entry k() {\n.reg .b32 %t, %e0, %s0, %n; .reg .pred %p; .reg .b32 "
                     "%d<8>, %a<8>, %b<8>, %c<8>; .reg .f32 %f<4>;\n"
                     ".reg .b64 %dw<8>, %aw<8>, %bw<8>, %cw<8>; .reg .f64 %g<4>;\nmov.u32 %t, %tid.x;\n" +
                     setup + fmt::format("mov.u32 %n, {};\nagain:\n", loops);
  for (int i = 0; i < count; ++i) text += statement + "\n";
  return text + "sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra again;\nret;\n}\n";
}

std::string operands(const json& form) {
  std::string text = fmt::format("mov.u32 %e0, 0x44444444; mov.u32 %s0, {};\n", form.value("scales", 0u));
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

// ---- narrow floats, which no hardware was asked for

std::string list_of(char letter, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{}%{}{}", i == 0 ? "{" : ", ", letter, i);
  return text + "}";
}

// `kind`: with its scales. `packed`: eight elements of 4 bits in a register.
json narrow_form(const std::string& kind, int k, const std::string& a, const std::string& b, bool sparse,
                 const std::string& d = "f32") {
  const bool packed = kind.starts_with("mxf4"), fractions = kind.find("4X") != std::string::npos;
  const int per = packed ? 8 : 4, in_a = 16 * k / 32 / per / (sparse ? 2 : 1), in_b = 8 * k / 32 / per,
            sums = d == "f16" ? 2 : 4;
  const bool scaled = kind.find("block_scale") != std::string::npos;
  const std::string scale_type = !scaled ? "" : fractions ? ".ue4m3" : ".ue8m0";
  std::string statement = fmt::format("mma{}.sync.aligned.m16n8k{}.row.col.kind::{}.{}.{}.{}.{}{} {}, {}, {}, {}",
                                      sparse ? ".sp::ordered_metadata" : "", k, kind, d, a, b, d, scale_type,
                                      list_of('d', sums), list_of('a', in_a), list_of('b', in_b), list_of('c', sums));
  if (sparse) statement += ", %e0, 0";
  if (scaled) statement += ", %s0, {0, 0}, %s0, {0, 0}";
  return {{"statement", statement + ";"},
          {"kinds", {d, packed ? "packed" : a, packed ? "packed" : b, d}},
          {"counts", {sums, in_a, in_b, sums}},
          {"scales", fractions ? kFractions : kPowers}};
}
std::vector<json> narrow_forms() {
  return {narrow_form("f8f6f4", 32, "e4m3", "e4m3", false),
          narrow_form("f8f6f4", 32, "e4m3", "e5m2", false, "f16"),
          narrow_form("f8f6f4", 16, "e4m3", "e4m3", false),
          narrow_form("f8f6f4", 32, "e2m1", "e3m2", false),
          narrow_form("f8f6f4", 64, "e4m3", "e4m3", true),
          narrow_form("mxf8f6f4.block_scale", 32, "e4m3", "e4m3", false),
          narrow_form("mxf8f6f4.block_scale", 32, "e2m1", "e4m3", false),
          narrow_form("mxf8f6f4.block_scale", 64, "e4m3", "e4m3", true),
          narrow_form("mxf4.block_scale", 64, "e2m1", "e2m1", false),
          narrow_form("mxf4nvf4.block_scale.scale_vec::4X", 64, "e2m1", "e2m1", false),
          narrow_form("mxf4nvf4.block_scale.scale_vec::4X", 128, "e2m1", "e2m1", true)};
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

// ---- products with tensor memory: of 128 rows and columns, with both factors in shared memory

struct TensorForm {
  const char *words, *d, *a, *b;
  unsigned number_d, number_a, number_b; ///< of their types, in the instruction descriptor
  int k;
  unsigned scales = 0;
};
constexpr TensorForm kTensorForms[] = {
    {".kind::f16", "f32", "f16", "f16", 1, 0, 0, 16},
    {".kind::f16", "f16", "f16", "f16", 0, 0, 0, 16},
    {".kind::f16", "f32", "bf16", "bf16", 1, 1, 1, 16},
    {".kind::tf32", "f32", "tf32", "tf32", 1, 2, 2, 8},
    {".kind::f8f6f4", "f32", "e4m3", "e4m3", 1, 0, 0, 32},
    {".kind::f8f6f4", "f16", "e5m2", "e5m2", 0, 1, 1, 32},
    {".kind::i8", "s32", "s8", "s8", 2, 1, 1, 32},
    {".sp.cta_group::1.kind::f16", "f32", "f16", "f16", 1, 0, 0, 32},
    {".sp.cta_group::1.kind::f8f6f4", "f32", "e4m3", "e4m3", 1, 0, 0, 64},
    {".ws.cta_group::1.kind::f16", "f32", "f16", "f16", 1, 0, 0, 16},
    {".kind::mxf8f6f4.block_scale", "f32", "e4m3", "e4m3", 0, 0, 0, 32, kPowers},
    {".kind::mxf4.block_scale", "f32", "packed", "packed", 0, 1, 1, 64, kPowers},
    {".kind::mxf4nvf4.block_scale.block16", "f32", "packed", "packed", 0, 1, 1, 64, kFractions},
    {".sp.cta_group::1.kind::mxf8f6f4.block_scale", "f32", "e4m3", "e4m3", 0, 0, 0, 64, kPowers}};
constexpr int kTensorSize = 128; ///< rows and columns

int loops_of(const TensorForm& f) { return std::max(2, (1 << 20) / (kTensorSize * kTensorSize * f.k)); }

std::string tensor_name(const TensorForm& f) {
  const std::string words = f.words;
  return "tcgen05.mma" + (words.find("cta_group") == std::string::npos ? ".cta_group::1" + words : words);
}

std::string tensor_kernel(const TensorForm& f) {
  constexpr int kWords = 8192, kAtB = 16384, kMetadata = 272, kScales = 288, kFilled = 32;
  const std::string name = tensor_name(f);
  const bool sparse = name.find(".sp") != std::string::npos;
  const unsigned descriptor =
      f.number_a << 7 | f.number_b << 10 | unsigned{kTensorSize / 8} << 17 | (sparse ? 1u << 2 : 0u) |
      (f.scales == 0 ? f.number_d << 4 | unsigned{kTensorSize / 16} << 24
                     : unsigned{kTensorSize / 128} << 27 | (f.scales == kPowers ? 1u << 23 : 0u));
  // Units of 16 bytes of eight rows follow each other, then those of the next rows.
  const auto factor = [](int at) {
    return std::uint64_t(at) >> 4 | std::uint64_t{kTensorSize} << 16 | std::uint64_t{8} << 32 | std::uint64_t{1} << 46;
  };
  const auto found = kOrdinary.find(f.a);
  const Bits bits = found == kOrdinary.end() ? Bits{~0u, 0} : found->second;
  std::string text = fmt::format(
      ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k() {{\n.shared .align 1024 .b8 s[{0}];\n"
      ".shared .b32 place; .reg .b32 %t, %i, %w, %at, %n, %d, %x; .reg .pred %p, %q, %first; .reg .b64 %da, %db;\n"
      "mov.u32 %t, %tid.x; mov.u32 %i, %t; setp.lt.u32 %first, %t, 32;\n"
      "@%first tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 512;\nfill:\n"
      "mad.lo.u32 %w, %i, 0x9E3779B1, 7; mul.hi.u32 %w, %w, 0x85EBCA77; mul.lo.u32 %w, %w, 0xC2B2AE35;\n"
      "and.b32 %w, %w, {1}; or.b32 %w, %w, {2}; shl.b32 %at, %i, 2; st.shared.b32 [%at], %w; add.u32 %i, %i, 128;\n"
      "setp.lt.u32 %p, %i, {3}; @%p bra fill;\nbar.sync 0; ld.shared.u32 %d, [place]; mov.u32 %i, 0;\n"
      "shr.u32 %at, %t, 5; shl.b32 %at, %at, 21; add.u32 %at, %at, %d; mov.u32 %x, 0x44444444;\nfill_columns:\n"
      "setp.eq.u32 %p, %i, 16; @%p mov.u32 %x, {4};\n"
      "tcgen05.st.sync.aligned.32x32b.x1.b32 [%at+{5}], {{%x}}; add.u32 %at, %at, 1; add.u32 %i, %i, 1;\n"
      "setp.lt.u32 %p, %i, {6}; @%p bra fill_columns;\n"
      "tcgen05.wait::st.sync.aligned; bar.sync 0; setp.eq.u32 %q, %t, %t; setp.ne.u32 %p, %t, 0; @%p bra done;\n"
      "mov.b64 %da, {7}; mov.b64 %db, {8}; mov.u32 %w, {9}; mov.u32 %n, {10};\nagain:\n",
      4 * kWords, bits.random, bits.fixed, kWords, f.scales, kMetadata, kFilled, factor(0), factor(kAtB), descriptor,
      loops_of(f));
  std::string statement = name + " [%d], %da, %db";
  if (sparse) statement += fmt::format(", [%d+{}]", kMetadata);
  statement += ", %w";
  if (f.scales != 0) statement += fmt::format(", [%d+{}], [%d+{}]", kScales, kScales + 8);
  statement += ", %q;\n";
  for (int i = 0; i < kUnrolled; ++i) text += statement;
  return text + "sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra again;\ndone:\nbar.sync 0;\n"
                "@%first tcgen05.dealloc.cta_group::1.sync.aligned.b32 %d, 512;\nret;\n}\n";
}

// ---- measurements

void measure_block(const std::string& fma, const std::string& text, const std::string& name, double all, int count) {
  nanoseconds(text, 1, 128);
  double ours = 1e9, one = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    ours = std::min(ours, nanoseconds(text, count, 128));
    one = std::min(one, nanoseconds(fma, 8 * kUnrolled * kLoopsOfFma));
  }
  const double scalar = one * all / 32;
  fmt::print("{:8.0f} ns  {:8.0f} ns by fma  {:6.2f}  {:6.1f} G/s  {}\n", ours, scalar, ours / scalar, all / ours,
             name);
}

void measure_groups(const std::string& fma, const std::string& part) {
  for (const GroupForm& f : kGroupForms)
    if (const std::string name = group_name(f); name.find(part) != std::string::npos)
      measure_block(fma, group_kernel(f), name, 64.0 * f.n * f.k, kUnrolled * loops_of(f));
}
void measure_tensors(const std::string& fma, const std::string& part) {
  for (const TensorForm& f : kTensorForms)
    if (const std::string name = fmt::format("{} {} {}", tensor_name(f), f.d, f.a);
        name.find(part) != std::string::npos)
      measure_block(fma, tensor_kernel(f), name, double{kTensorSize} * kTensorSize * f.k, kUnrolled * loops_of(f));
}

} // namespace

int main(int argc, char** argv) {
  double most = 1e9;
  if (argc > 2 && argv[1] == std::string("--at-most")) {
    most = std::stod(argv[2]);
    argc -= 2, argv += 2;
  }
  bool slow = false;
  std::ifstream file(WARPLENS_SOURCE_DIR "/tests/data/hardware/matrix.jsonl");
  const std::string fma = kernel("mov.f32 %f0, 0f3f800000; mov.f32 %f1, %f0; mov.f32 %f2, %f0;\n",
                                 "fma.rn.f32 %f3, %f0, %f1, %f2;", 8 * kUnrolled, kLoopsOfFma);
  const std::string doubles = kernel("mov.f64 %g0, 0d3ff0000000000000; mov.f64 %g1, %g0; mov.f64 %g2, %g0;\n",
                                     "fma.rn.f64 %g3, %g0, %g1, %g2;", 8 * kUnrolled, kLoopsOfFma);
  std::vector<json> forms;
  for (std::string line; std::getline(file, line);) forms.push_back(json::parse(line));
  for (const json& form : narrow_forms()) forms.push_back(form);
  for (const json& form : forms) {
    const std::string statement = form["statement"], name = statement.substr(0, statement.find(' '));
    if (argc > 1 && name.find(argv[1]) == std::string::npos) continue;
    const std::string text = kernel(operands(form), statement, kUnrolled, kLoops);
    const std::string& scalar_text = name.find(".f64") == std::string::npos ? fma : doubles;
    nanoseconds(text, 1);
    nanoseconds(scalar_text, 1);
    double ours = 1e9, one = 1e9;
    const auto ratio = [&] { return ours * 32 / (one * multiplications(name)); };
    // Other load affects both, but not always in the same round.
    for (int round = 0; round < kRounds || (round < 4 * kRounds && ratio() > most); ++round) {
      ours = std::min(ours, nanoseconds(text, kUnrolled * kLoops));
      one = std::min(one, nanoseconds(scalar_text, 8 * kUnrolled * kLoopsOfFma));
    }
    const double scalar = one * multiplications(name) / 32;
    fmt::print("{:8.0f} ns  {:8.0f} ns by fma  {:6.2f}  {}\n", ours, scalar, ours / scalar, name);
    slow = slow || ratio() > most;
  }
  measure_groups(fma, argc > 1 ? argv[1] : "");
  measure_tensors(fma, argc > 1 ? argv[1] : "");
  return slow ? 1 : 0;
}
