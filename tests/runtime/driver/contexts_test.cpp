// SPDX-License-Identifier: Apache-2.0
// Runs the programs that queried an H200's driver about contexts and about launches of the API before CUDA 4. Our
// driver must give the same answers: tests/data/hardware/contexts.txt and old_launches.txt.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace contexts_test {

const std::string kHardware = WARPLENS_SOURCE_DIR "/tests/data/hardware/";

std::string output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char part[4096];
  while (const std::size_t bytes = std::fread(part, 1, sizeof part, pipe)) text.append(part, bytes);
  pclose(pipe);
  return text;
}

std::string read(const std::string& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Answers by question, then state.
using Table = std::map<std::string, std::map<std::string, std::string>>;
Table table_of(const std::string& text) {
  Table table;
  std::istringstream in(text);
  std::string line, word;
  std::getline(in, line);
  std::istringstream head(line);
  std::vector<std::string> states;
  while (head >> word) states.push_back(word);
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    std::string question;
    cells >> question;
    for (std::size_t i = 1; i < states.size() && cells >> word; ++i) table[question][states[i]] = word;
  }
  return table;
}

/// Where we may answer otherwise, and why. Empty: all questions, all states, whatever the H200 answers.
struct Difference {
  std::string question, state, hardware, why;
};
const std::vector<Difference>& differences() {
  static const std::vector<Difference> list = {
      {"", "", "crash", "an error is better"},
      {"", "", "hang", "an error is better"},
      {"", "uninitialised", "1", "handles are null there, and some functions look at them first"},
      {"", "uninitialised", "400", "likewise"},
      {"", "no_context", "1", "likewise"},
      {"", "no_context", "400", "likewise"},
      {"cuMemAllocFromPoolAsync", "uninitialised", "", "likewise"},
      {"cuMemAllocFromPoolAsync", "no_context", "", "likewise"},
      {"cuMemGetAllocationGranularity", "no_context", "", "properties are zeros there, which are refused"},
      {"cuDevicePrimaryCtxRelease_v2", "other_current", "0", "it was never retained"},
      {"cuTexObjectGetResourceViewDesc", "", "0", "there is none"},
      {"cuTexRefSetAddress2D_v3", "", "0", "rows that reach beyond the memory are refused"},
      {"cuTexObject", "other_current", "", "texture and surface objects are the same in all contexts"},
      {"cuSurfObject", "other_current", "", "likewise"},
      {"cuSurfRef", "", "709", "references end with their module"},
      {"cuLinkComplete", "", "0", "nothing was added, and nothing is linked"},
      {"cuStreamSetAttribute", "", "1", "hints are not checked"},
      {"cuParamSetTexRef", "", "1", "it works here"},
      {"cuGraph", "destroyed", "", "what nodes name is looked up, and the context that they name is not"},
      {"cuGraph", "reset", "", "likewise"},
      {"cuGraph", "released", "", "likewise"},
  };
  return list;
}

bool is_allowed(const std::string& question, const std::string& state, const std::string& hardware) {
  for (const Difference& d : differences())
    if ((d.question.empty() || question.starts_with(d.question)) && (d.state.empty() || state == d.state) &&
        (d.hardware.empty() || hardware == d.hardware))
      return true;
  return false;
}

TEST(Contexts, AreFoundAsByAnH200) {
  const Table hardware = table_of(read(kHardware + "contexts.txt"));
  const Table ours = table_of(output_of(WARPLENS_ASK_CONTEXTS " " WARPLENS_LIBCUDA " 2 2>/dev/null"));
  ASSERT_GT(hardware.size(), 350u);
  ASSERT_EQ(ours.size(), hardware.size());
  std::size_t compared = 0;
  for (const auto& [question, answers] : hardware)
    for (const auto& [state, answer] : answers) {
      if (answer == "-") continue;
      EXPECT_NE(answer, "?") << question << ", " << state << " was not asked";
      const std::string& got = ours.at(question).at(state);
      EXPECT_NE(got, "crash") << question << ", " << state;
      EXPECT_NE(got, "hang") << question << ", " << state;
      if (is_allowed(question, state, answer)) continue;
      EXPECT_EQ(got, answer) << question << ", " << state;
      ++compared;
    }
  EXPECT_GT(compared, 2400u);
}

/// Up to where the driver is given what is no context, and crashes. Registers, at the end, are the assembler's affair.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text.substr(0, std::min(text.find("signal:"), text.find("# not a context"))));
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(OldLaunches, DoWhatAnH200Does) {
  const std::vector<std::string> hardware = lines_of(read(kHardware + "old_launches.txt"));
  const std::vector<std::string> ours =
      lines_of(output_of(WARPLENS_ASK_OLD_LAUNCHES " " WARPLENS_LIBCUDA " 2>/dev/null"));
  // cuLaunchKernel() changes what the older functions have set, a part of an address may be an address here, and
  // cuParamSetTexRef() works.
  const std::set<std::string> other = {
      "results: 0 23 25 0 0 0 0 0", "results: 0 216 218 0 0 0 0 0", "results: 700 0 0 0 0 0 0 0", "used, none: -1 1",
      "used, fetches: -1 1",        "unused, none: -1 1",           "unused, fetches: -1 1",      "unit: -1 1"};
  ASSERT_GT(hardware.size(), 200u);
  ASSERT_EQ(ours.size(), hardware.size());
  for (std::size_t i = 0; i < ours.size(); ++i)
    if (!other.contains(hardware[i])) {
      EXPECT_EQ(ours[i], hardware[i]) << "line " << i + 1;
    }
}

/// How many names a list has; each must be exported.
std::size_t exported_of(const std::string& list) {
  std::istringstream names(list);
  const std::string ours = output_of("nm -D --defined-only " WARPLENS_LIBCUDA);
  std::size_t count = 0;
  for (std::string name; names >> name; ++count) EXPECT_NE(ours.find(" " + name + "\n"), ours.npos) << name;
  return count;
}

TEST(Exports, AreThoseOfTheDriver) { EXPECT_GT(exported_of(read(kHardware + "driver_exports.txt")), 600u); }

// What the headers of CUDA 11, 12 and 13 declare for Linux: cuda.h, cudaGL.h, cudaEGL.h, cudaVDPAU.h, all releases of
// a version together. cudaEGL.h has cuEventCreateFromEGLSync, too, which the driver does
// not export.
TEST(Exports, AreThoseOfTheHeaders) {
  for (const char* version : {"11", "12", "13"})
    EXPECT_GT(exported_of(read(WARPLENS_SOURCE_DIR "/tests/data/driver_headers/" + std::string(version) + ".txt")),
              400u)
        << version;
}

} // namespace contexts_test
