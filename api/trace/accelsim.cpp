// SPDX-License-Identifier: Apache-2.0
#include "api/trace/accelsim.hpp"

#include "api/files/input_file.hpp"
#include "api/trace/accelsim_opcodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <sstream>

namespace warplens::api {

namespace {

using analyzers::trace::AccelSimHeader;
using analyzers::trace::AccelSimInstruction;
using analyzers::trace::AccelSimReader;
using exec::kWarpSize;
using exec::Mask;

// The windows of generic addresses are 16 MiB long.
constexpr std::uint64_t kWindow = std::uint64_t{1} << 24;

/// A machine instruction of a file: its place in the generated PTX, and its operation.
struct Known {
  std::uint32_t instruction = 0;
  StandIn stand_in;
  std::uint32_t width = 0;
  std::uint32_t source_line = 0;
};
using Instructions = std::map<std::uint64_t, Known>; ///< by PC

/// The pattern of the addresses, as the emulator classifies them.
void classify(exec::Access& access) {
  const int first = std::countr_zero(access.mask);
  const Mask others = access.mask & (access.mask - 1);
  access.shape = exec::Shape::irregular;
  std::int64_t stride = 0;
  if (others != 0) {
    const int second = std::countr_zero(others);
    stride = static_cast<std::int64_t>(access.addresses[second] - access.addresses[first]) / (second - first);
  }
  for (Mask rest = others; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const auto distance = static_cast<std::uint64_t>(lane - first) * static_cast<std::uint64_t>(stride);
    if (access.addresses[lane] - access.addresses[first] != distance) return;
  }
  access.stride = stride;
  access.shape = stride == 0                   ? exec::Shape::broadcast
                 : stride == access.lane_bytes ? exec::Shape::contiguous
                                               : exec::Shape::strided;
}

/// Reads the file a second time and passes the events to the watcher.
class AccelSimEvents final : public EventSource {
public:
  AccelSimEvents(std::filesystem::path file, Instructions known) : file_(std::move(file)), known_(std::move(known)) {}

  Expected<exec::LaunchResult> run(const exec::Launch& launch) override {
    if (launch.watcher == nullptr) return exec::LaunchResult{};
    Expected<AccelSimReader> reader = AccelSimReader::open(file_);
    if (!reader) return failure(reader.error());
    header_ = reader->header();
    counts_.assign(launch.program->function->instructions.size(), {});
    begun_.clear();
    std::vector<std::unique_ptr<exec::Shard>> shards;
    shards.push_back(launch.watcher->make_shard());
    shard_ = shards.front().get();
    for (;;) {
      const Expected<AccelSimReader::Item> item = reader->next();
      if (!item) return failure(item.error());
      if (*item == AccelSimReader::Item::end) break;
      const AccelSimInstruction& i = reader->instruction();
      if (*item == AccelSimReader::Item::end_of_cta)
        end(i.cta);
      else
        tell(i);
    }
    while (!begun_.empty()) end(begun_.begin()->first);
    launch.watcher->finish(std::move(shards), counts_);
    return exec::LaunchResult{};
  }

private:
  bool begin(std::uint64_t cta) {
    const auto found = begun_.find(cta);
    if (found != begun_.end()) return found->second;
    return begun_[cta] = shard_->begin_cta(cta);
  }
  void end(std::uint64_t cta) {
    if (begun_.erase(cta) != 0) shard_->end_cta(cta);
  }

  void tell(const AccelSimInstruction& i) {
    const bool each = begin(i.cta);
    const auto found = known_.find(i.pc);
    if (found == known_.end() || i.mask == 0) return;
    const Known& known = found->second;
    const auto lanes = static_cast<unsigned>(std::popcount(i.mask));
    exec::InstructionCount& count = counts_[known.instruction];
    ++count.warps;
    count.lanes += lanes;
    count.lanes_on += lanes;
    if (known.stand_in.barrier) shard_->barrier({known.instruction, i.mask, 0, {i.cta, i.warp}, 0});
    if (known.stand_in.space == isa::Space::none || !i.addressed) return;
    // The lanes of a generic access may access different spaces.
    Mask in[3]{};
    std::uint64_t addresses[kWarpSize]{};
    constexpr isa::Space spaces[] = {isa::Space::global, isa::Space::shared, isa::Space::local};
    for (Mask rest = i.mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const std::size_t space = space_of(known.stand_in.space, i.addresses[lane], addresses[lane]);
      in[space] |= Mask{1} << lane;
    }
    for (std::size_t s = 0; s < 3; ++s) {
      if (in[s] == 0) continue;
      exec::Access access;
      access.instruction = known.instruction;
      access.space = known.stand_in.space == isa::Space::generic ? spaces[s] : known.stand_in.space;
      access.kind = known.stand_in.kind;
      access.lane_bytes = static_cast<std::uint16_t>(i.width);
      access.mask = in[s];
      access.addresses = addresses;
      classify(access);
      if (each) shard_->each_access({i.cta, i.warp}, access);
      shard_->access(access);
    }
  }

  // The window of the address; sets `offset` to the offset in it.
  [[nodiscard]] std::size_t space_of(isa::Space space, std::uint64_t address, std::uint64_t& offset) const {
    offset = address;
    if (space != isa::Space::generic) return 0;
    if (header_.shared_base != 0 && address - header_.shared_base < kWindow) return offset -= header_.shared_base, 1;
    if (header_.local_base != 0 && address - header_.local_base < kWindow) return offset -= header_.local_base, 2;
    return 0;
  }

  std::filesystem::path file_;
  Instructions known_;
  AccelSimHeader header_;
  std::vector<exec::InstructionCount> counts_;
  std::map<std::uint64_t, bool> begun_; ///< CTAs, and whether every event is wanted
  exec::Shard* shard_ = nullptr;
};

std::string identifier(std::string name) {
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '$') c = '_';
  return std::isdigit(static_cast<unsigned char>(name.front())) != 0 ? "_" + name : name;
}

std::string module_text(const AccelSimHeader& h, const Instructions& instructions) {
  std::string text =
      fmt::format("// Stands for the machine code of an Accel-Sim trace, instruction for instruction.\n"
                  ".version 8.7\n.target sm_{}\n.address_size 64\n.file 1 \"{}.sass\"\n"
                  ".visible .entry {}()\n{{\n"
                  ".reg .b32 %r<5>; .reg .b64 %rd<4>; .reg .f32 %f<5>; .reg .f64 %fd<5>; .reg .pred %p<2>;\n",
                  h.binary_version == 0 ? 70 : h.binary_version, identifier(h.kernel), identifier(h.kernel));
  for (const auto& [pc, known] : instructions)
    text += fmt::format(".loc 1 {} 0\n{}\n", h.line_info ? std::max(known.source_line, 1u) : pc / 16 + 1,
                        known.stand_in.text);
  return text + "END:\nret;\n}\n";
}

} // namespace

Expected<std::vector<std::filesystem::path>> kernels_of(const std::filesystem::path& list_or_kernel) {
  std::vector<std::filesystem::path> files;
  if (list_or_kernel.extension() != ".g") return std::vector{list_or_kernel};
  const Expected<std::string> list = read_file(list_or_kernel, limits::kSettingsBytes);
  if (!list) return failure(list.error());
  std::istringstream in(*list);
  for (std::string line; std::getline(in, line);) {
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.pop_back();
    if (line.starts_with("kernel")) files.push_back(list_or_kernel.parent_path() / line);
  }
  if (files.empty()) return failure(fmt::format("'{}' lists no kernels", list_or_kernel.string()));
  return files;
}

Expected<LaunchRequest> AccelSimImport::read(const std::filesystem::path& kernel_file,
                                             const std::optional<model::Device>& device) {
  Expected<AccelSimReader> reader = AccelSimReader::open(kernel_file);
  if (!reader) return failure(reader.error());
  const AccelSimHeader header = reader->header();
  Instructions instructions;
  std::uint64_t ctas = 0; // CTAs that end, as all do once they are grouped
  for (;;) {
    const Expected<AccelSimReader::Item> item = reader->next();
    if (!item) return failure(item.error());
    if (*item == AccelSimReader::Item::end) break;
    ctas += *item == AccelSimReader::Item::end_of_cta ? 1 : 0;
    const AccelSimInstruction& i = reader->instruction();
    if (*item != AccelSimReader::Item::instruction || instructions.count(i.pc) != 0) continue;
    std::optional<StandIn> known = stand_in(i.opcode, i.width);
    if (known) {
      instructions[i.pc] = {0, std::move(*known), i.width, i.source_line};
    } else if (std::string opcode(i.opcode.substr(0, i.opcode.find('.'))); unknown_.insert(opcode).second) {
      warnings_.warning({}, fmt::format("instructions {} are ignored: the opcode is unknown", opcode));
      warnings_.in_file(kernel_file.string());
    }
  }
  if (const std::uint64_t all = std::uint64_t{header.grid[0]} * header.grid[1] * header.grid[2];
      ctas != 0 && ctas < all) {
    warnings_.warning({}, fmt::format("the trace contains {} of the {} thread blocks", ctas, all));
    warnings_.in_file(kernel_file.string());
  }
  std::uint32_t number = 0;
  for (auto& [pc, known] : instructions) known.instruction = number++;
  if (!context_) {
    Expected<std::shared_ptr<Context>> context = Context::create();
    if (!context) return failure(context.error());
    context_ = std::move(*context);
  }
  const auto module = Module::load(context_, module_text(header, instructions), identifier(header.kernel) + ".ptx");
  if (!module) return failure(module.error());
  LaunchRequest request;
  Expected<Kernel> kernel = (*module)->kernel(identifier(header.kernel));
  if (!kernel) return failure(kernel.error());
  request.kernel = std::move(*kernel);
  for (std::size_t i = 0; i < 3; ++i) request.grid[i] = header.grid[i], request.block[i] = header.block[i];
  request.dynamic_shared_bytes = header.shared_bytes;
  if (header.registers != 0) request.options.registers = header.registers;
  Expected<model::Device> chosen = device ? *device : default_device((*module)->ir());
  if (!chosen) return failure(chosen.error());
  request.device = std::move(*chosen);
  sources_.push_back(std::make_unique<AccelSimEvents>(kernel_file, std::move(instructions)));
  request.events = sources_.back().get();
  return request;
}

} // namespace warplens::api
