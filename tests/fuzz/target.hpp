// SPDX-License-Identifier: Apache-2.0
// A fuzz target: something that reads what strangers write. driver.cpp runs the targets, either under libFuzzer or as a
// plain program; docs/fuzzing.md describes both, and how to add a target.
//
//   TARGET(npy)                                                        // in targets.def
//   const Target target::npy{"npy", run, mutate_bytes, dictionary};     // in targets/
#pragma once

#include "tests/fuzz/mutate.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::fuzz {

struct Target {
  std::string_view name;
  /// Reads an input. A wrong result ends the process by wrong().
  void (*run)(std::string_view input);
  Mutator* mutate = nullptr;
  /// Words of the format, for mutations.
  std::vector<std::string> (*dictionary)() = nullptr;
  /// Longer inputs are not run: what a short one cannot show is rare.
  std::size_t most_bytes = 1u << 16;
};

namespace target {
#define TARGET(name) extern const Target name;
#include "tests/fuzz/driver_targets.def"
#include "tests/fuzz/targets.def"
#undef TARGET
} // namespace target

/// The targets of this program.
std::span<const Target* const> targets();

/// Ends the process: the input has shown an error in Warplens.
[[noreturn]] void wrong(std::string_view what);

/// A file in a folder of this process, which is removed at the end; for formats that are only read from files.
std::string file_with(std::string_view content, std::string_view name);

} // namespace warplens::fuzz
