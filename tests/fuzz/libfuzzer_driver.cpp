// SPDX-License-Identifier: Apache-2.0
// Runs the only target of a program with libFuzzer: fuzz_TARGET FOLDER…
#include "tests/fuzz/target.hpp"

#include <algorithm>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most); // libFuzzer's

using namespace warplens::fuzz;

namespace {

const Target& only_target() { return *targets().front(); }

const std::vector<std::string>& words() {
  const auto make = only_target().dictionary;
  static const std::vector<std::string> all = make != nullptr ? make() : std::vector<std::string>();
  return all;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Target& target = only_target();
  if (size > target.most_bytes) return -1; // not for the corpus
  target.run({reinterpret_cast<const char*>(data), size});
  return 0;
}

// A third of the mutations is left to libFuzzer, which knows what the comparisons of the program want.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  Random random(seed);
  if (random.one_in(3)) return LLVMFuzzerMutate(data, size, most);
  static std::string other; // an input from before
  std::string input(reinterpret_cast<const char*>(data), size);
  const std::string before = input;
  const Target& target = only_target();
  for (std::size_t n = 1 + random.below(3); n > 0; --n) target.mutate(input, {random, words(), other});
  if (random.one_in(4)) other = before;
  input.resize(std::min({input.size(), most, target.most_bytes}));
  std::copy(input.begin(), input.end(), data);
  return input.size();
}

// Freed memory stays in the processor's cache, and frames on the stack; ASAN_OPTIONS says otherwise.
extern "C" const char* __asan_default_options() {
  return "quarantine_size_mb=8:thread_local_quarantine_size_kb=64:malloc_context_size=6:detect_stack_use_after_return="
         "0:"
         "allocator_release_to_os_interval_ms=-1";
}
