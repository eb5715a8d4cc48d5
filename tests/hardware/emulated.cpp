// SPDX-License-Identifier: Apache-2.0
#include "tests/hardware/emulated.hpp"

#include "emulator/ir/check.hpp"
#include "emulator/ir/parse.hpp"

#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace warplens::tests {

std::string data_file(const std::string& name) {
  std::ifstream in(std::string(WARPLENS_SOURCE_DIR "/tests/data/") + name);
  if (!in) throw std::runtime_error("no test data " + name);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

Emulated::Emulated(const std::string& ptx, const std::string& name) {
  auto parsed = ir::parse(ptx, name);
  if (!parsed) throw std::runtime_error(render(parsed.error(), ptx));
  module_ = std::move(*parsed);
  const ir::Checked checked = ir::check(module_);
  if (checked.errors.has_errors()) throw std::runtime_error(render(checked.errors, ptx));
  arena_ = std::move(*exec::Arena::reserve());
}

std::uint64_t Emulated::buffer(const std::vector<std::uint32_t>& words) {
  const auto address = arena_->allocate(words.size() * 4, "buffer " + std::to_string(buffers_.size()));
  if (!address) throw std::runtime_error("out of memory");
  std::memcpy(reinterpret_cast<void*>(*address), words.data(), words.size() * 4);
  buffers_.push_back(*address);
  return *address;
}

void Emulated::free_buffers() {
  for (const std::uint64_t b : buffers_) arena_->free(b);
  buffers_.clear();
}

std::string Emulated::run(const Request& request) {
  const ir::Function* const kernel = module_.find(request.kernel);
  if (kernel == nullptr) throw std::runtime_error("no kernel " + request.kernel);
  exec::DecodeOptions options;
  options.level = request.level;
  options.watched = request.watcher != nullptr;
  options.checked = !request.checkers.empty();
  const auto program = exec::decode(module_, *kernel, exec::VariableAddresses(module_.variables.size()), options);
  if (!program) return render(program.error(), "");
  exec::Launch launch;
  launch.program = *program;
  launch.shape = request.shape;
  launch.shape.shared_static = (*program)->shared_bytes;
  launch.params.resize((*program)->param_bytes);
  for (std::size_t i = 0; i < request.arguments.size(); ++i)
    std::memcpy(launch.params.data() + (*program)->param_offsets[i],
                request.arguments[i].data != nullptr ? request.arguments[i].data : &request.arguments[i].value,
                request.arguments[i].bytes);
  launch.cooperative = request.cooperative;
  launch.host_pointers = request.host_pointers;
  launch.past_ends = request.past_ends;
  if (request.cooperative) launch.grid_workspace = buffer(std::vector<std::uint32_t>(exec::kGridWorkspace / 4, 0));
  launch.allocations = arena_->snapshot();
  launch.arena = arena_->ranges();
  launch.machine = {132, 64};
  launch.workers = request.workers;
  launch.watcher = request.watcher;
  launch.max_steps = request.max_steps;
  launch.textures = request.textures;
  launch.heap = request.heap;
  launch.tools = request.tools;
  launch.schedule_seed = request.schedule_seed;
  launch.checkers = request.checkers;
  exec::LaunchResult result = exec::run(launch);
  findings_ = std::move(result.findings);
  overruns_.clear();
  for (const exec::Overrun& o : result.overruns)
    overruns_.push_back(std::to_string(o.count) + " " + exec::describe(o, launch).message);
  if (!result.trap) return {};
  return exec::describe(*result.trap, launch).message;
}

} // namespace warplens::tests
