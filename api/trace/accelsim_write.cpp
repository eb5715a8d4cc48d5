// SPDX-License-Identifier: Apache-2.0
#include "api/trace/accelsim.hpp"

#include "api/files/output_file.hpp"
#include "api/launch/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace warplens::api {

namespace {

using analyzers::trace::EventKind;

// The base addresses of these spaces in the header; the accesses themselves have offsets.
constexpr std::uint64_t kSharedBase = 0x00007fe000000000, kLocalBase = 0x00007fe002000000;

// "LDG.E.64", "STS", "ATOMS.ADD"; empty: no opcode for this access.
std::string opcode_of(const exec::Access& a) {
  std::string_view space;
  switch (a.space) {
  case isa::Space::global: space = "G"; break;
  case isa::Space::shared: space = "S"; break;
  case isa::Space::local: space = "L"; break;
  case isa::Space::constant:
  case isa::Space::param: space = "C"; break;
  default: return {};
  }
  const bool global = space == "G";
  const std::string_view width = a.lane_bytes == 1    ? ".U8"
                                 : a.lane_bytes == 2  ? ".U16"
                                 : a.lane_bytes == 8  ? ".64"
                                 : a.lane_bytes == 16 ? ".128"
                                                      : "";
  switch (a.kind) {
  case exec::AccessKind::load: return fmt::format("LD{}{}{}", space, global ? ".E" : "", width);
  case exec::AccessKind::store: return space == "C" ? "" : fmt::format("ST{}{}{}", space, global ? ".E" : "", width);
  case exec::AccessKind::atomic: return space == "S" ? "ATOMS.ADD" : global ? "ATOMG.E.ADD" : "";
  case exec::AccessKind::reduction: return space == "S" ? "ATOMS.ADD" : global ? "RED.E.ADD" : "";
  }
  return {};
}

// Mode 1 if the active lanes are contiguous, as its readers expect; otherwise mode 0.
std::string addresses_of(const exec::Access& a) {
  const int first = std::countr_zero(a.mask);
  const std::uint64_t run = std::uint64_t{a.mask >> first} + 1;
  if (a.shape != exec::Shape::irregular && (run & (run - 1)) == 0)
    return fmt::format("1 {:#x} {}", a.addresses[first], a.stride);
  std::string text = "0";
  for (exec::Mask rest = a.mask; rest != 0; rest &= rest - 1)
    text += fmt::format(" {:#x}", a.addresses[std::countr_zero(rest)]);
  return text;
}

/// The machine's opcode; empty: none.
std::string opcode_of(const SeenEvent& e) {
  if (e.kind == EventKind::branch) return "BRA";
  if (e.kind == EventKind::barrier) return "BAR.SYNC";
  return opcode_of(e.access);
}

std::string line_of(const SeenEvent& e, std::string_view opcode, std::uint64_t pc) {
  if (e.kind == EventKind::branch) return fmt::format("{:04x} {:08x} 0 {} 0 0\n", pc, e.branch.active, opcode);
  if (e.kind == EventKind::barrier) return fmt::format("{:04x} {:08x} 0 {} 0 0\n", pc, e.barrier.active, opcode);
  const exec::Access& a = e.access;
  const bool store = a.kind == exec::AccessKind::store || a.kind == exec::AccessKind::reduction;
  const std::string_view before = store ? "0" : "1 R2", after = store ? "2 R4 R2" : "1 R4";
  return fmt::format("{:04x} {:08x} {} {} {} {} {}\n", pc, a.mask, before, opcode, after, a.lane_bytes,
                     addresses_of(a));
}

/// Writes the events of one launch, a CTA at a time.
class KernelFile {
public:
  KernelFile(OutputFile& out, const LaunchRequest& r, const TraceView& view, std::size_t number)
      : out_(out), grid_(blocks_of(r)), threads_(r.block[0] * r.block[1] * r.block[2]),
        exit_pc_(kBytes * view.instructions()), opcodes_(view.instructions()) {
    warps_.resize((threads_ + exec::kWarpSize - 1) / exec::kWarpSize);
    out_.write(
        fmt::format("-kernel name = {}\n-kernel id = {}\n-grid dim = ({},{},{})\n-block dim = ({},{},{})\n"
                    "-shmem = {}\n-nregs = {}\n-binary version = {}\n-cuda stream id = 0\n"
                    "-shmem base_addr = {:#018x}\n-local mem base_addr = {:#018x}\n-nvbit version = 1.5\n"
                    "-accelsim tracer version = 3\n\n#traces format = PC mask dest_num [reg_dests] opcode src_num "
                    "[reg_srcs] mem_width [adrrescompress?] [mem_addresses]\n",
                    r.kernel.function->name, number, grid_[0], grid_[1], grid_[2], r.block[0], r.block[1], r.block[2],
                    view.static_shared_bytes() + r.dynamic_shared_bytes, r.options.registers.value_or(32),
                    r.kernel.module->ir().sm, kSharedBase, kLocalBase));
  }

  void add(const SeenEvent& e) {
    if (any_ && e.of.cta != cta_) end_cta();
    any_ = true;
    cta_ = e.of.cta;
    const std::string opcode = opcode_of(e);
    if (opcode.empty()) return;
    warps_[e.of.warp].text += line_of(e, opcode, pc_of(e.index, opcode));
    ++warps_[e.of.warp].lines;
  }

  Expected<void> finish() {
    if (any_) end_cta();
    return out_.finish();
  }

private:
  struct Warp {
    std::string text;
    std::uint64_t lines = 0;
  };

  /// A PC has one opcode. If a PTX instruction has several opcodes, as asynchronous copies and generic addresses do,
  /// the additional PCs are between it and the next instruction.
  std::uint64_t pc_of(std::uint32_t instruction, const std::string& opcode) {
    std::vector<std::string>& known = opcodes_[instruction];
    const auto found = std::find(known.begin(), known.end(), opcode);
    const auto number = static_cast<std::uint64_t>(found - known.begin());
    if (found == known.end()) known.push_back(opcode);
    return kBytes * instruction + number;
  }

  void end_cta() {
    out_.write(fmt::format("\n#BEGIN_TB\n\nthread block = {},{},{}\n", cta_ % grid_[0], cta_ / grid_[0] % grid_[1],
                           cta_ / grid_[0] / grid_[1]));
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      const std::uint64_t lanes = std::min<std::uint64_t>(threads_ - exec::kWarpSize * w, exec::kWarpSize);
      out_.write(fmt::format("\nwarp = {}\ninsts = {}\n{}{:04x} {:08x} 0 EXIT 0 0\n", w, warps_[w].lines + 1,
                             warps_[w].text, exit_pc_, (std::uint64_t{1} << lanes) - 1));
      warps_[w] = {};
    }
    out_.write("\n#END_TB\n");
  }

  static constexpr std::uint64_t kBytes = 16; // of a machine instruction

  OutputFile& out_;
  Extent grid_;
  std::uint64_t threads_; // of a block
  std::uint64_t exit_pc_;
  std::vector<std::vector<std::string>> opcodes_; // of each PTX instruction, in the order of occurrence
  std::vector<Warp> warps_;
  std::uint64_t cta_ = 0;
  bool any_ = false;
};

} // namespace

namespace {

Expected<void> write_files(const Trace& trace, const std::filesystem::path& folder) {
  std::vector<OutputFile> files; // renamed only when all are complete
  std::string list;
  for (std::size_t i = 0; i < trace.launches().size(); ++i) {
    const std::string name = fmt::format("kernel-{}.traceg", i + 1);
    const Expected<TraceView> view = TraceView::open(trace, i, {});
    if (!view) return failure(view.error());
    Expected<OutputFile> out = OutputFile::create(folder / name);
    if (!out) return failure(out.error());
    KernelFile file(*out, trace.launches()[i].request, *view, i + 1);
    Expected<void> seen = view->visit({}, [&](const SeenEvent& e) {
      file.add(e);
      return true;
    });
    if (!seen) return seen;
    if (Expected<void> finished = file.finish(); !finished) return finished;
    files.push_back(std::move(*out));
    list += name + "\n";
  }
  for (OutputFile& file : files)
    if (Expected<void> committed = file.commit(); !committed) return committed;
  return write_whole(folder / "kernelslist.g", list);
}

} // namespace

Expected<void> write_accelsim(const Trace& trace, const std::filesystem::path& folder) {
  std::error_code error;
  const bool is_new = std::filesystem::create_directories(folder, error);
  if (error) return failure(fmt::format("cannot create the folder '{}': {}", folder.string(), error.message()));
  Expected<void> written = write_files(trace, folder);
  if (!written && is_new) std::filesystem::remove(folder, error); // only if it is empty
  return written;
}

} // namespace warplens::api
