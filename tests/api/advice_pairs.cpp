// SPDX-License-Identifier: Apache-2.0
#include "tests/api/advice_pairs.hpp"

#include "api/files/random.hpp"

#include <bit>
#include <cmath>

namespace warplens::tests {
namespace {

using Holds = PairBuffer::Holds;
constexpr std::uint32_t kCount = 1 << 20;

const std::vector<PairBuffer> kSpeechBuffers = {{"x", "f32", kCount, Holds::iota},
                                                {"y", "f32", kCount},
                                                {"z", "f32", kCount},
                                                {"bytes", "s32", kCount, Holds::random, 255},
                                                {"rows", "f32", 132 * 98304}},
                              kFloats = {{"in", "f32", kCount, Holds::iota}, {"out", "f32", kCount}},
                              kKeyed = {{"keys", "s32", kCount, Holds::iota},
                                        {"values", "s32", kCount, Holds::random, 9},
                                        {"sums", "s32", 256}},
                              kDigits = {{"in", "s32", kCount, Holds::random, 9}, {"out", "s32", kCount}},
                              kText = {{"in", "s32", 1 << 22, Holds::random, 9}, {"out", "s32", 1 << 22}},
                              kFields = {{"triples", "s32", 3 * kCount, Holds::iota},
                                         {"triples_out", "s32", 3 * kCount},
                                         {"a", "s32", kCount, Holds::iota},
                                         {"b", "s32", kCount, Holds::iota},
                                         {"c", "s32", kCount, Holds::iota},
                                         {"a_out", "s32", kCount},
                                         {"b_out", "s32", kCount},
                                         {"c_out", "s32", kCount}};

using Arguments = std::vector<PairArgument>;
using Size = std::array<unsigned, 3>;

struct Shape {
  Size grid, block;
};
constexpr Shape kLines{{4096, 1, 1}, {256, 1, 1}}, kFew{{1024, 1, 1}, {256, 1, 1}}, kTiles{{32, 32, 1}, {16, 16, 1}},
    kRows{{132, 1, 1}, {512, 1, 1}}, kBodies{{1024, 1, 1}, {128, 1, 1}}, kTiles16{{64, 64, 1}, {16, 16, 1}},
    kTiles32{{32, 32, 1}, {32, 8, 1}}, kStrided{{528, 1, 1}, {256, 1, 1}};

/// Two kernels with the same arguments.
struct Kernels {
  const char *before, *after;
  Shape shape;
  Arguments arguments;
};

PairLaunch launch(const char* kernel, const Shape& shape, Arguments arguments) {
  return {kernel, shape.grid, shape.block, std::move(arguments)};
}

void add(std::vector<AdvicePair>& list, const char* rule, const char* line, const char* remedy, const Kernels& kernels,
         const char* device = "h200", const char* analyzer = "") {
  list.push_back({rule, "tests/data/advice/speech.ptx", device, line, remedy, kSpeechBuffers,
                  launch(kernels.before, kernels.shape, kernels.arguments),
                  launch(kernels.after, kernels.shape, kernels.arguments), analyzer});
}

void atomics_of_blocks(std::vector<AdvicePair>& list) {
  const auto contended = [&](const char* module, const char* line, const char* remedy,
                             const std::vector<PairBuffer>& buffers, const Kernels& kernels) {
    list.push_back({"ContendedAtomics", module, "h200", line, remedy, buffers,
                    launch(kernels.before, kernels.shape, kernels.arguments),
                    launch(kernels.after, kernels.shape, kernels.arguments)});
  };
  const int n = static_cast<int>(kCount);
  contended("tests/data/advice/histogram.ptx", "// finds ContendedAtomics of all blocks", "in shared memory",
            kSpeechBuffers, {"count_in_global", "count_in_shared", kStrided, {"bytes", "y", n}});
  contended("tests/data/advice/serialised.ptx", "// finds ContendedAtomics of shared memory", "shuffles",
            kSpeechBuffers, {"add_in_shared", "add_in_shared_by_warps", kLines, {"x", "y"}});
}

void of_instructions(std::vector<AdvicePair>& list) {
  const Arguments xy = {"x", "y"};
  add(list, "DoublePrecisionInFloat", "// finds DoublePrecisionInFloat", "1.0f",
      {"polynomial_double", "polynomial_float", kLines, xy});
  add(list, "LocalMemory", "window[k", "registers", {"window_local", "window_registers", kLines, {"x", "y", 3}});
  add(list, "ConstantSerialized", "// finds ConstantSerialized", "shared memory",
      {"look_up_constant", "look_up_shared", kLines, {"bytes", "y"}}, "gtx280");
  add(list, "ConstantSerialized", "// finds ConstantSerialized", "shared memory",
      {"look_up_constant", "look_up_shared", kLines, {"bytes", "y"}});
  add(list, "RepeatedLoad", "// finds RepeatedLoad", "__restrict__",
      {"sums_and_products", "sums_and_products_restrict", kLines, {"x", "x", "y", "z"}});
  add(list, "RepeatedLoad", "// finds RepeatedLoad", "before the loop",
      {"scale_by_memory", "scale_by_register", kFew, {"x", "y", "x", 64}});
  add(list, "ContendedAtomics", "// finds ContendedAtomics", "shuffles",
      {"add_to_one_word", "add_by_warps", kLines, xy});
  atomics_of_blocks(list);
  add(list, "NarrowLoads", "// finds NarrowLoads", "16 bytes at once", {"norms", "norms_of_vectors", kFew, xy});
  add(list, "UnusedResult", "// finds UnusedResult", "in a variable",
      {"add_up_in_memory", "add_up_in_register", kFew, {"x", "y", 64}});
  add(list, "SharedWithinWarp", "// finds SharedWithinWarp", "shuffles",
      {"rotate_in_shared", "rotate_by_shuffles", kLines, xy});
  add(list, "RedundantLoads", "// finds RedundantLoads", "tiles",
      {"product", "product_of_tiles", kTiles, {"x", "x", "z", 512}});
  add(list, "RedundantLoads", "// finds RedundantLoads, too", "tiles",
      {"attract", "attract_by_tiles", kBodies, {"x", "x", "x", "y", 1024}});
  add(list, "RedundantLoads", "// finds RedundantLoads of vectors", "tiles",
      {"attract_vectors", "attract_groups", kBodies, {"x", "y", 1024}});
  list.back().after.arguments.push_back(1024); // the size of the only group
  add(list, "RedundantLoads", "// finds RedundantLoads in the rest", "tiles",
      {"attract_rests", "attract_rests_in_tiles", kBodies, {"x", "x", "x", "y", 960, 160}});
  add(list, "LowCacheReuse", "// finds LowCacheReuse", "fits in the cache",
      {"passes_over_rows", "passes_over_words", kRows, {"rows", "y", 98304, 3}}, "h200", "caches");
}

void of_launches(std::vector<AdvicePair>& list) {
  const auto resized = [&](const char* rule, const char* remedy, const char* module, const char* kernel,
                           const Arguments& arguments, const Shape& before, const Shape& after) {
    list.push_back({rule, module, "h200", "", remedy, kSpeechBuffers, launch(kernel, before, arguments),
                    launch(kernel, after, arguments)});
  };
  const char *const speech = "tests/data/advice/speech.ptx", *const loop = "bench/kernels/fma_loop.ptx";
  const Arguments fma = {"y", 0.9F, 0.1F, 100};
  resized("TooFewBlocks", "256 blocks of 256 threads instead of 64 of 1024", loop, "fma_loop", fma,
          {{64, 1, 1}, {1024, 1, 1}}, {{256, 1, 1}, {256, 1, 1}});
  resized("TailEffect", "blocks of 128 threads instead of 1024", loop, "fma_loop", fma, {{133, 1, 1}, {1024, 1, 1}},
          {{1064, 1, 1}, {128, 1, 1}});
  resized("Occupancy", "blocks of 512 threads instead of 64", speech, "shared_for_few", {"x", "y", 8},
          {{4096, 1, 1}, {64, 1, 1}}, {{512, 1, 1}, {512, 1, 1}});
  resized("BlockSize", "128 threads instead of 100", loop, "fma_loop", fma, {{1024, 1, 1}, {100, 1, 1}},
          {{800, 1, 1}, {128, 1, 1}});
}

/// The samples, whose versions show the patterns one by one.
class Samples {
public:
  explicit Samples(std::vector<AdvicePair>& list) : list_(list) {}

  void add_all() {
    transposes();
    for (const char* device : {"h200", "gtx280"}) copies(device);
    shared_copies();
    branches();
  }

private:
  void add(const char* rule, const char* remedy, const char* line, PairLaunch before, PairLaunch after) {
    list_.push_back({rule, std::string("samples/") + module_, device_, line, remedy, *buffers_, std::move(before),
                     std::move(after)});
  }

  void transposes() {
    module_ = "transpose/transpose.ptx", device_ = "h200", buffers_ = &kFloats;
    const Arguments matrix = {"in", "out", 1024, 1024};
    const PairLaunch padded = launch("transpose_padded", kTiles32, matrix);
    add("UncoalescedGlobalAccess", "shared memory", "out[column * n_rows", launch("transpose_1d", kLines, matrix),
        padded);
    add("UncoalescedGlobalAccess", "shared memory", "out[column * n_rows",
        launch("transpose_2d", {{128, 32, 1}, {8, 32, 1}}, matrix), padded);
    add("SharedMemoryConflicts", "pad each row of 128 bytes", "tile[", launch("transpose_shared", kTiles32, matrix),
        padded);
  }

  void copies(const char* device) {
    module_ = "global_copy/global_copy.ptx", device_ = device, buffers_ = &kFloats;
    const Arguments width = {"in", "out", 1024};
    const PairLaunch cc = launch("copy_cc", kTiles16, width);
    const char* const rule = "UncoalescedGlobalAccess";
    add(rule, "exchange x and y", "MATRIX_COPY(copy_nn", launch("copy_nn", kTiles16, width), cc);
    add(rule, "shared memory", "MATRIX_COPY(copy_nc", launch("copy_nc", kTiles16, width), cc);
    add(rule, "shared memory", "MATRIX_COPY(copy_cn", launch("copy_cn", kTiles16, width), cc);
    buffers_ = &kFields;
    add(rule, "separate arrays", "const Triple t = in[i]",
        launch("array_of_structures", kLines, {"triples", "triples_out", 1048576}),
        launch("structure_of_arrays", kLines, {"a", "b", "c", "a_out", "b_out", "c_out", 1048576}));
    module_ = "partitioning/partitioning.ptx", buffers_ = &kDigits;
    const Arguments elements = {"in", "out", 1048576, 10};
    add("BlockSize", "128 threads instead of 100", "", launch("one_dimension", {{10486, 1, 1}, {100, 1, 1}}, elements),
        launch("one_dimension", {{8192, 1, 1}, {128, 1, 1}}, elements));
    module_ = "synchronisation/synchronisation.ptx";
    add("UnneededBarrier", "remove the barrier", "__syncthreads()",
        launch("block_barriers", kLines, {"in", "out", 100, 10}),
        launch("block_barriers", kLines, {"in", "out", 100, 100}));
  }

  void shared_copies() {
    module_ = "shared_copy/shared_copy.ptx", device_ = "gtx280", buffers_ = &kFloats;
    const Arguments width = {"in", "out", 1024};
    for (const char* kernel : {"copy_cu", "copy_uc", "copy_cc"})
      add("SharedMemoryConflicts", "pad each row of 64 bytes of the shared array by 4", "SHARED_COPY(",
          launch(kernel, kTiles16, width), launch("copy_uu", kTiles16, width));
  }

  void branches() {
    module_ = "branching/branching.ptx", device_ = "h200", buffers_ = &kDigits;
    const Arguments in_out = {"in", "out"}, width = {"in", "out", 1024};
    add("ThreadDivergence", "table", "switch (tile[row][column])", launch("branch_compute_bound", kTiles16, width),
        launch("lookup_compute_bound", kTiles16, width));
    add("ThreadDivergence", "neighbouring indices", "if (threadIdx.x % (2 * distance) == 0)",
        launch("sum_in_place", kLines, in_out), launch("sum_reordered", kLines, in_out));
    buffers_ = &kFloats;
    add("ThreadDivergence", "by the warp", "if (threadIdx.x % 2 == 0)", launch("branch_per_thread", kLines, in_out),
        launch("branch_per_warp", kLines, in_out));
  }

  std::vector<AdvicePair>& list_;
  const char *module_ = "", *device_ = "";
  const std::vector<PairBuffer>* buffers_ = nullptr;
};

} // namespace

std::vector<std::uint32_t> content(const PairBuffer& buffer) {
  std::vector<std::uint32_t> words(buffer.count, 0);
  api::Random random(1);
  for (std::uint32_t i = 0; i < buffer.count && buffer.holds != Holds::zeros; ++i) {
    const std::uint64_t value =
        buffer.holds == Holds::iota ? i : random.bits() % (static_cast<std::uint64_t>(buffer.most) + 1);
    words[i] = buffer.type == "f32" ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                                    : static_cast<std::uint32_t>(value);
  }
  return words;
}

std::vector<AdvicePair> advice_pairs() {
  std::vector<AdvicePair> list;
  of_instructions(list);
  of_launches(list);
  Samples(list).add_all();
  return list;
}

std::vector<AdvicePair> pairs_not_asked() {
  std::vector<AdvicePair> list;
  for (const char* device : {"a100", "gtx480", "k20"})
    add(list, "ConstantSerialized", "// finds ConstantSerialized", "shared memory",
        {"look_up_constant", "look_up_shared", kLines, {"bytes", "y"}}, device);
  add(list, "NarrowAccesses", "// finds NarrowAccesses", "4 elements in each iteration",
      {"brighten_bytes", "brighten_words", kStrided, {"bytes", "y", 4 * static_cast<int>(kCount)}});
  add(list, "NarrowAccesses", "// finds NarrowAccesses of shorts", "2 elements in each thread",
      {"halve_shorts", "halve_pairs", {{8192, 1, 1}, {256, 1, 1}}, {"bytes", "y"}});
  list.back().after.grid = {4096, 1, 1};
  const auto without_barrier = [&](const char* line, const char* before, const char* after) {
    const Arguments xy = {"x", "y"};
    list.push_back({"UnneededBarrier", "tests/data/advice/barriers.ptx", "h200", line, "remove the barrier",
                    kSpeechBuffers, launch(before, kLines, xy), launch(after, kLines, xy)});
  };
  without_barrier("// finds UnneededBarrier before another", "two_barriers", "one_barrier");
  without_barrier("// finds UnneededBarrier at the end", "barrier_at_the_end", "no_barrier_at_the_end");
  without_barrier("// finds UnneededBarrier between own words", "own_columns_wait", "own_columns");
  list.push_back({"BlockSize", "tests/data/advice/speech.ptx", "h200", "", "512 threads instead of 8", kSpeechBuffers,
                  launch("polynomial_float", {{131072, 1, 1}, {8, 1, 1}}, {"x", "y"}),
                  launch("polynomial_float", {{2048, 1, 1}, {512, 1, 1}}, {"x", "y"})});
  list.push_back({"UncoalescedGlobalAccess", "tests/data/advice/transposes.ptx", "h200",
                  "// finds rows that are staged", "shared memory", kSpeechBuffers,
                  launch("rows_to_columns", {{32, 32, 1}, {32, 16, 1}}, {"x", "y", 1024}),
                  launch("staged_rows", {{32, 32, 1}, {32, 16, 1}}, {"x", "y", 1024})});
  const PairArgument shift = 3, n = 1 << 24;
  list.push_back({"NarrowAccesses", "samples/caesar/caesar.ptx", "h200", "out[i] = in[i] + shift",
                  "4 elements in each thread", kText,
                  launch("shift_char", {{65536, 1, 1}, {256, 1, 1}}, {"in", "out", shift, n}),
                  launch("shift_4", {{16384, 1, 1}, {256, 1, 1}}, {"in", "out", shift, n})});
  return list;
}

std::vector<AdvicePair> close_calls() {
  std::vector<AdvicePair> list;
  add(list, "RedundantLoads", "", "tiles",
      {"attract_groups", "attract_groups_in_tiles", kBodies, {"x", "y", 960, 160}});
  list.push_back({"ContendedAtomics", "tests/data/advice/serialised.ptx", "h200", "", "shuffles", kKeyed,
                  launch("add_by_key", kStrided, {"keys", "values", "sums", static_cast<int>(kCount)}),
                  launch("add_by_key_of_warp", kStrided, {"keys", "values", "sums", static_cast<int>(kCount)})});
  return list;
}

std::vector<AdvicePair> pairs_without_speedup() {
  return {{"RegisterSpills", "tests/data/advice/serialised.ptx", "h200", "", "__launch_bounds__", kSpeechBuffers,
           launch("mix_in_few_registers", kFew, {"x", "y", 32}), launch("mix_in_registers", kFew, {"x", "y", 32})}};
}

std::string name_of(const AdvicePair& pair) {
  std::string name = pair.rule;
  for (const PairLaunch* one : {&pair.before, &pair.after}) {
    name += " " + one->kernel;
    if (pair.before.kernel == pair.after.kernel)
      name += "[" + std::to_string(one->grid[0]) + "x" + std::to_string(one->block[0]) + "]";
  }
  return name;
}

double weighted_sum(const PairBuffer& buffer, const std::vector<std::uint32_t>& words) {
  double sum = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const double value = buffer.type == "f32" ? static_cast<double>(std::bit_cast<float>(words[i]))
                                              : static_cast<double>(static_cast<std::int32_t>(words[i]));
    if (std::isfinite(value)) sum += value * static_cast<double>(1 + i % 13);
  }
  return sum;
}

} // namespace warplens::tests
