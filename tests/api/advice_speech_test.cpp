// SPDX-License-Identifier: Apache-2.0
// For each kind of finding, launches on which it must appear: at the right line, with the right remedy and, where it
// promises a speedup, with that of running the mended kernel.
#include "analyzers/finding_kinds.hpp"
#include "tests/api/advice_launches.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <set>

namespace warplens::api {
namespace {

struct Speech {
  const char* rule;
  const char* module;
  std::string before, after; ///< launches; `after` is empty where no speedup is promised
  const char* line;          ///< a part of the line of CUDA source; empty: the finding is about the launch
  const char* remedy;        ///< a part of it
  const char* device = "h200";
  std::vector<std::string> analyzers = {};
};

std::string shape(const char* grid, const char* block) { return fmt::format("grid = [{}]\nblock = [{}]", grid, block); }

std::string arguments(std::initializer_list<std::string> list) {
  std::string text;
  for (const std::string& one : list) text += (text.empty() ? "" : ", ") + one;
  return "arg = [" + text + "]";
}

constexpr const char *kSpeech = "tests/data/advice/speech.ptx", *kLoop = "bench/kernels/fma_loop.ptx";
const std::string kX = "{ buffer = \"x\" }", kY = "{ buffer = \"y\" }", kZ = "{ buffer = \"z\" }",
                  kBytes = "{ buffer = \"bytes\" }", kRows = "{ buffer = \"rows\" }";
const std::string kLines = shape("4096, 1, 1", "256, 1, 1"), kFew = shape("1024, 1, 1", "256, 1, 1"),
                  kTiles = shape("32, 32, 1", "16, 16, 1");

std::string fma_loop(const char* grid, const char* block) {
  return launch_of("fma_loop", shape(grid, block), arguments({kY, "{ f32 = 0.9 }", "{ f32 = 0.1 }", "{ s32 = 100 }"}));
}

std::string number(int value) { return fmt::format("{{ s32 = {} }}", value); }

/// Of instructions.
std::vector<Speech> in_kernels() {
  const auto both = [](const char* kernel, const std::string& how, const std::string& with) {
    return launch_of(kernel, how, with);
  };
  const std::string xy = arguments({kX, kY}), steps = arguments({kX, kY, number(64)}),
                    factor = arguments({kX, kY, kZ, number(64)}), four = arguments({kX, kX, kY, kZ}),
                    look_up = arguments({kBytes, kY}), window = arguments({kX, kY, number(3)}),
                    product = arguments({kX, kY, kZ, number(512)}),
                    rows = arguments({kRows, kY, number(98304), number(3)});
  const std::string one_each = shape("132, 1, 1", "512, 1, 1");
  return {
      {"DoublePrecisionInFloat", kSpeech, both("polynomial_double", kLines, xy), both("polynomial_float", kLines, xy),
       "// finds DoublePrecisionInFloat", "1.0f"},
      {"LocalMemory", kSpeech, both("window_local", kLines, window), both("window_registers", kLines, window),
       "window[k", "registers"},
      {"ConstantSerialized", kSpeech, both("look_up_constant", kLines, look_up), "", "// finds ConstantSerialized",
       "shared memory"},
      {"ConstantSerialized", kSpeech, both("look_up_constant", kLines, look_up),
       both("look_up_shared", kLines, look_up), "// finds ConstantSerialized", "shared memory", "gtx280"},
      {"RepeatedLoad", kSpeech, both("sums_and_products", kLines, four),
       both("sums_and_products_restrict", kLines, four), "// finds RepeatedLoad", "__restrict__"},
      {"RepeatedLoad", kSpeech, both("scale_by_memory", kFew, factor), both("scale_by_register", kFew, factor),
       "// finds RepeatedLoad", "before the loop"},
      {"ContendedAtomics", kSpeech, both("add_to_one_word", kLines, xy), both("add_by_warps", kLines, xy),
       "// finds ContendedAtomics", "shuffles"},
      {"NarrowLoads", kSpeech, both("norms", kFew, xy), both("norms_of_vectors", kFew, xy), "// finds NarrowLoads",
       "16 bytes at once"},
      {"UnusedResult", kSpeech, both("add_up_in_memory", kFew, steps), both("add_up_in_register", kFew, steps),
       "// finds UnusedResult", "in a variable"},
      {"UnusedResult", kSpeech, both("warm_up", shape("2048, 1, 1", "256, 1, 1"), xy), "", "// finds UnusedResult, too",
       "remove the load"},
      {"SharedWithinWarp", kSpeech, both("rotate_in_shared", kLines, xy), both("rotate_by_shuffles", kLines, xy),
       "// finds SharedWithinWarp", "shuffles"},
      {"RedundantLoads", kSpeech, both("product", kTiles, product), both("product_of_tiles", kTiles, product),
       "// finds RedundantLoads", "tiles"},
      {"LowCacheReuse",
       kSpeech,
       both("passes_over_rows", one_each, rows),
       both("passes_over_words", one_each, rows),
       "// finds LowCacheReuse",
       "fits in the cache",
       "h200",
       {"caches"}},
  };
}

/// Of launches, and of the samples; the remedies of the samples are tested in advice_table_test.cpp.
std::vector<Speech> of_launches() {
  const auto few = [](const char* grid, const char* block) {
    return launch_of("shared_for_few", shape(grid, block), arguments({kX, kY, number(8)}));
  };
  const std::string width = arguments({kX, kY, number(1024)});
  return {
      {"TooFewBlocks", kLoop, fma_loop("64, 1, 1", "1024, 1, 1"), fma_loop("256, 1, 1", "256, 1, 1"), "",
       "256 blocks of 256 threads instead of 64 of 1024"},
      {"TailEffect", kLoop, fma_loop("133, 1, 1", "1024, 1, 1"), fma_loop("1064, 1, 1", "128, 1, 1"), "",
       "blocks of 128 threads instead of 1024"},
      {"Occupancy", kSpeech, few("4096, 1, 1", "64, 1, 1"), few("512, 1, 1", "512, 1, 1"), "",
       "blocks of 512 threads instead of 64"},
      {"ImpossibleLaunch", kLoop, fma_loop("32, 1, 1", "512, 1, 1") + "registers = 255\n", "", "", "registers"},
      {"BlockSize", kLoop, fma_loop("1024, 1, 1", "100, 1, 1"), fma_loop("800, 1, 1", "128, 1, 1"), "",
       "128 threads instead of 100"},
      {"UncoalescedGlobalAccess", "samples/transpose/transpose.ptx",
       launch_of("transpose_1d", kLines, arguments({kX, kY, number(1024), number(1024)})), "", "out[column * n_rows",
       "shared memory"},
      {"SharedMemoryConflicts", "samples/transpose/transpose.ptx",
       launch_of("transpose_shared", shape("32, 32, 1", "32, 8, 1"), arguments({kX, kY, number(1024), number(1024)})),
       "", "tile[", "pad each row of 128 bytes"},
      {"ThreadDivergence", "samples/branching/branching.ptx",
       launch_of("branch_per_thread", kLines, arguments({kX, kY})), "", "if (threadIdx.x % 2 == 0)", "by the warp"},
      {"UnneededBarrier", "samples/synchronisation/synchronisation.ptx",
       launch_of("block_barriers", kLines, arguments({kX, kY, number(100), number(10)})), "", "__syncthreads()",
       "remove the barrier"},
  };
}

std::vector<Speech> speeches() {
  std::vector<Speech> all = in_kernels();
  for (Speech& one : of_launches()) all.push_back(std::move(one));
  return all;
}

std::string line_of_source(const Speech& speech, const analyzers::Finding& finding) {
  std::ifstream in(std::filesystem::path(WARPLENS_SOURCE_DIR) /
                   std::filesystem::path(speech.module).replace_filename(finding.source_file));
  std::string line;
  for (std::uint32_t i = 0; i < finding.source_line; ++i) std::getline(in, line);
  return line;
}

const analyzers::Finding* find(const Speech& speech, const LaunchReport& report) {
  for (const analyzers::Finding& f : report.findings)
    if (f.rule == speech.rule && f.remedy.find(speech.remedy) != std::string::npos) return &f;
  return nullptr;
}

double speedup(const LaunchReport& before, const LaunchReport& after) {
  return model::trusted(before.predictions)->milliseconds / model::trusted(after.predictions)->milliseconds;
}

TEST(AdviceSpeech, EachKindSpeaks) {
  const std::string buffers =
      buffer("x", "f32", 1 << 20, kIota) + buffer("y", "f32", 1 << 20, kZeros) + buffer("z", "f32", 1 << 20, kZeros) +
      buffer("bytes", "s32", 1 << 20, "random = [0, 255]\nseed = 1") + buffer("rows", "f32", 132 * 98304, kZeros);
  for (const Speech& speech : speeches()) {
    SCOPED_TRACE(fmt::format("{} {}\n{}", speech.rule, speech.device, speech.before));
    const std::vector<LaunchReport> reports = run(fmt::format("module = \"{}\"\ndevice = \"{}\"\n{}{}{}", speech.module,
                                                              speech.device, speech.before, speech.after, buffers),
                                                  speech.analyzers);
    const analyzers::Finding* const found = find(speech, reports.at(0));
    const std::string all = list_of(reports[0].findings);
    EXPECT_NE(found, nullptr) << all;
    if (found == nullptr) continue;
    EXPECT_EQ(std::string(speech.line).empty(), found->source_line == 0) << all;
    EXPECT_NE(line_of_source(speech, *found).find(speech.line), std::string::npos) << all;
    EXPECT_FALSE(found->message.empty());
    EXPECT_TRUE(!found->values.empty() || found->rule == "ImpossibleLaunch") << all; // nothing ran
    if (speech.after.empty()) continue;
    const double actual = speedup(reports[0], reports.at(1));
    EXPECT_LT(found->speedup.value_or(100), kTolerance * actual) << all;
    EXPECT_GT(found->speedup.value_or(0), actual / kTolerance) << all;
    EXPECT_EQ(find(speech, reports[1]), nullptr) << list_of(reports[1].findings);
  }
}

// Launches that look like the problem.
TEST(AdviceSpeech, NearMissesAreSilent) {
  struct Quiet {
    const char* module;
    std::string launch;
    std::set<std::string_view> rules;
  };
  const std::string xy = arguments({kX, kY});
  const std::vector<Quiet> table = {
      {kSpeech, launch_of("neighbours", kFew, xy), {"NarrowLoads"}},
      {kSpeech, launch_of("triples", kFew, xy), {"NarrowLoads"}},
      {kSpeech, launch_of("hand_over", kFew, xy), {"RepeatedLoad", "UnusedResult", "UnneededBarrier"}},
      {kSpeech, launch_of("reverse_in_shared", kLines, xy), {"SharedWithinWarp", "UnneededBarrier"}},
      {kSpeech, launch_of("transpose_in_warp", shape("1024, 1, 1", "32, 1, 1"), xy), {"SharedWithinWarp"}},
      {kLoop, fma_loop("1057, 1, 1", "256, 1, 1"), {"TailEffect", "Occupancy"}},
      {kLoop, fma_loop("132, 1, 1", "512, 1, 1"), {"TailEffect", "TooFewBlocks"}},
  };
  const std::string buffers = buffer("x", "f32", 1 << 20, kIota) + buffer("y", "f32", 1 << 20, kZeros);
  for (const Quiet& quiet : table) {
    const LaunchReport report =
        run(fmt::format("module = \"{}\"\ndevice = \"h200\"\n{}{}", quiet.module, quiet.launch, buffers)).at(0);
    ASSERT_FALSE(report.trap) << quiet.launch << report.trap->message;
    for (const analyzers::Finding& f : report.findings)
      EXPECT_FALSE(quiet.rules.contains(f.rule)) << quiet.launch << list_of(report.findings);
  }
}

// A new kind needs a launch in the table above and a section of docs/findings.md.
TEST(AdviceSpeech, EachKindHasACaseAndAPage) {
  std::set<std::string_view> tested;
  for (const Speech& speech : speeches()) tested.insert(speech.rule);
  std::ifstream in(WARPLENS_SOURCE_DIR "/docs/findings.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  for (const analyzers::FindingKind& kind : analyzers::finding_kinds()) {
    EXPECT_EQ(tested.erase(kind.name), 1u) << kind.name;
    EXPECT_NE(page.find(fmt::format("\n## {}\n", kind.name)), std::string::npos) << kind.name;
  }
  EXPECT_TRUE(tested.empty()) << *tested.begin();
}

} // namespace
} // namespace warplens::api
