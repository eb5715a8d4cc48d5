// SPDX-License-Identifier: Apache-2.0
// Launches for tests of findings, written as launch files.
//
//   run("module = \"k.ptx\"\ndevice = \"h200\"\n" + launch_of("k", "grid = [1, 1, 1]\nblock = [32, 1, 1]", "arg = []"))
#pragma once

#include "api/plan/launch_file.hpp"
#include "tests/api/advice_pairs.hpp"

#include <string>
#include <vector>

namespace warplens::api {

// The model of the device predicts both versions; what remains is how well the remedy was tried.
constexpr double kTolerance = 1.5;

/// Paths are relative to the source tree. Throws what is wrong.
std::vector<LaunchReport> run(const std::string& launches, const std::vector<std::string>& analyzers = {});

/// The reports of both launches of a pair.
std::vector<LaunchReport> run(const tests::AdvicePair& pair);
/// The finding that a pair expects of its first launch, or null.
const analyzers::Finding* find(const tests::AdvicePair& pair, const LaunchReport& report);
/// By the model to trust.
double predicted_speedup(const LaunchReport& before, const LaunchReport& after);

/// A [buffer.NAME] table.
std::string buffer(const char* name, const char* type, int count, const char* content);
constexpr const char *kIota = "iota = [0, 1]", *kZeros = "zeros = true";

/// A [[launch]] table. `shape` and `arguments` are its other lines.
std::string launch_of(const std::string& kernel, const std::string& shape, const std::string& arguments);

/// The findings of a launch, a line each, for messages of tests.
std::string list_of(const std::vector<analyzers::Finding>& findings);

} // namespace warplens::api
