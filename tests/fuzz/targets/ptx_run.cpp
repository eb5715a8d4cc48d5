// SPDX-License-Identifier: Apache-2.0
// PTX text -> run, with bounded steps. A number in a comment at the beginning ("//123") selects the launch and the
// tools. Memory must be the same in another way, which the text selects: with or without analysis, at another processor
// level, or with several threads if there is one block.
#include "tests/fuzz/mutate_ptx.hpp"
#include "tests/fuzz/target.hpp"

#include "api/launch/launch.hpp"
#include "api/report/json_report.hpp"
#include "api/report/report_text.hpp"
#include "emulator/base/limits.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <map>

namespace warplens::fuzz {

namespace {

constexpr std::uint64_t kSteps = 4000;
constexpr std::uint64_t kBufferBytes = 4096;

struct Choices {
  explicit Choices(std::string_view text) {
    std::uint64_t number = 0;
    if (text.starts_with("//"))
      std::from_chars(text.data() + 2, text.data() + std::min<std::size_t>(text.size(), 22), number);
    Random random(number);
    constexpr std::uint64_t kBlocks[] = {32, 1, 33, 64, 128, 7};
    block = {kBlocks[random.below(std::size(kBlocks))], 1 + random.below(2), 1};
    grid = {1 + random.below(3), 1, 1};
    cooperative = random.one_in(8);
    analyze = !random.one_in(4);
    every_analyzer = random.one_in(4);
    past_ends = random.one_in(4);
    tools = {random.one_in(6), random.one_in(8), random.one_in(8), random.one_in(8)};
    device = random.one_in(2) ? "h200" : random.one_in(2) ? "gtx480" : "b200";
    shared = random.one_in(4) ? 512 : 0;
  }
  api::Extent grid{}, block{};
  std::uint64_t shared = 0;
  bool cooperative = false, analyze = false, every_analyzer = false, past_ends = false;
  exec::Tools tools;
  std::string device;
};

/// A run of the first kernels of a module in a new context.
struct Outcome {
  std::string memory; ///< of the buffer and the variables, and what was printed
  bool refused = false;
  bool trapped = false; ///< or memcheck has reported an access
};

struct How {
  std::string_view level; ///< empty: the best
  bool analyze = true;
  unsigned workers = 1;
};

api::Argument argument_for(const ir::Variable& parameter, const api::Buffer& buffer) {
  if (parameter.size == 8) return api::Argument::buffer(buffer);
  std::vector<std::byte> bytes(parameter.size);
  if (!bytes.empty()) bytes[0] = std::byte{16};
  return api::Argument::raw(bytes);
}

void use(const api::LaunchReport& report) {
  const std::span<const api::LaunchReport> all(&report, 1);
  if (api::json_report(report.device, all).empty()) wrong("an empty report");
}

const model::Device& device_of(const std::string& name) {
  static std::map<std::string, model::Device> devices;
  auto found = devices.find(name);
  if (found == devices.end()) found = devices.emplace(name, *api::load_device(name)).first;
  return found->second;
}

bool has_invalid_access(const std::vector<api::CheckMessage>& messages) {
  return std::any_of(messages.begin(), messages.end(), [](const api::CheckMessage& message) {
    return exec::tool_of(message.kind) == exec::Tool::memcheck;
  });
}

Outcome outcome_of(std::string_view text, const Choices& choices, const How& how) {
  auto context = api::Context::create();
  if (!context) wrong("no context");
  Outcome result;
  auto module = api::Module::load(*context, text, "fuzz.ptx");
  if (!module) return result.refused = true, result;
  auto buffer = api::Buffer::allocate(*context, kBufferBytes, "data");
  if (!buffer) wrong("no memory for the buffer");
  const model::Device& device = device_of(choices.device);
  std::size_t kernels = 2;
  for (const ir::Function* kernel : (*module)->kernels()) {
    if (kernels-- == 0) break;
    api::LaunchRequest request;
    request.kernel = {*module, kernel};
    request.grid = choices.grid;
    request.block = choices.block;
    request.dynamic_shared_bytes = choices.shared;
    request.cooperative = choices.cooperative;
    request.past_ends = choices.past_ends;
    request.device = device;
    request.options.analyze = how.analyze;
    if (how.analyze && choices.every_analyzer) request.options.analyzers = {"all"};
    request.options.workers = how.workers;
    request.options.max_steps = kSteps;
    request.options.level = how.level;
    std::unique_ptr<api::Sanitizer> sanitizer;
    if (choices.tools.any() && how.analyze) {
      api::CheckOptions checks;
      checks.tools = choices.tools;
      sanitizer = std::move(*api::Sanitizer::create(std::move(checks)));
      request.options.sanitizer = sanitizer.get();
    }
    for (const ir::Variable& p : kernel->params) request.arguments.push_back(argument_for(p, **buffer));
    const auto report = api::launch(request);
    if (!report) {
      if (report.error().list().front().message.find("analyzer") != std::string::npos) wrong("an unknown analyzer");
      continue;
    }
    if (how.analyze) use(*report);
    // With memcheck, an access that stops a kernel otherwise is only reported.
    const bool reported = sanitizer != nullptr && has_invalid_access(sanitizer->take());
    result.trapped = result.trapped || report->trap || reported;
    result.memory += report->printed;
    if (result.trapped) break;
  }
  result.memory.append(reinterpret_cast<const char*>((*buffer)->bytes().data()), kBufferBytes);
  return result;
}

void compare(const Outcome& a, const Outcome& b, std::string_view what) {
  if (a.trapped != b.trapped) wrong(std::string(what) + ": one of two runs trapped");
  if (!a.trapped && a.memory != b.memory) wrong(std::string(what) + ": two runs left different memory");
}

/// Whether runs may differ: by clocks, and by the order of blocks.
bool is_deterministic(std::string_view text) {
  for (const std::string_view word : {"clock", "globaltimer", "%pm", "smid", "nwarpid", "%warpid", "create", "alloc"})
    if (text.find(word) != text.npos) return false;
  return true;
}

/// Runs the kernels again in another way, which the text selects: all ways would make each input take that much longer.
void run_again(std::string_view text, const Choices& choices, const Outcome& first) {
  std::vector<How> ways{{"", !choices.analyze}};
  for (const exec::Level& level : exec::levels().subspan(1)) ways.push_back({level.name, false});
  if (choices.grid[0] == 1) ways.push_back({"", choices.analyze, 3});
  const How& way = ways[std::hash<std::string_view>()(text) % ways.size()];
  const std::string_view what = way.workers > 1 ? "threads" : way.level.empty() ? "analysis" : way.level;
  compare(first, outcome_of(text, choices, way), what);
}

void run_text(std::string_view text) {
  static const std::string limits =
      set_limits("shared-bytes=65536,local-bytes=4096,register-bytes=1048576,variable-bytes=65536,initial-bytes=65536,"
                 "registers=2000,register-name-bytes=65536,device-operations=16,saved-registers=4096");
  const Choices choices(text);
  const Outcome first = outcome_of(text, choices, {"", choices.analyze});
  if (!first.refused && is_deterministic(text)) run_again(text, choices, first);
}

} // namespace

const Target target::ptx_run{"ptx_run", run_text, mutate_ptx, ptx_dictionary, 8192};

} // namespace warplens::fuzz
