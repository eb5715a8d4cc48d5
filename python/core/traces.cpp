// SPDX-License-Identifier: Apache-2.0
#include "python/core/traces.hpp"

#include "api/trace/trace.hpp"
#include "api/trace/trace_inspect.hpp"
#include "python/core/catalogue.hpp"
#include "python/core/interrupts.hpp"
#include "python/core/launch.hpp"
#include "python/core/report.hpp"

#include <pybind11/stl.h>

#include <fmt/format.h>

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace warplens::python {

namespace py = pybind11;
namespace trace = analyzers::trace;

namespace {

/// A row of an array of accesses; python/warplens/_trace.py has the same fields.
struct AccessRow {
  std::uint64_t block;
  std::uint64_t base; ///< address of the first active lane
  std::int64_t stride;
  std::uint32_t instruction, line, mask, warp;
  std::uint16_t lane_bytes;
  std::uint8_t space, kind, shape, unused[3];
};
static_assert(sizeof(AccessRow) == 48);

/// A row of an array of branches or barriers: `value` is the mask of the lanes that take the branch, or the number of
/// the barrier.
struct ControlRow {
  std::uint64_t block;
  std::uint32_t instruction, line, mask, value;
  std::uint32_t warp, unused;
};
static_assert(sizeof(ControlRow) == 32);

struct Free {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};

/// Rows that Python owns, as a buffer of bytes.
struct Rows {
  std::unique_ptr<std::byte, Free> bytes;
  std::size_t size = 0;
};

/// Appends to memory that is not cleared before. With huge pages, page faults take a tenth of the time of the events.
template <class Row> class RowWriter {
public:
  explicit RowWriter(std::uint64_t most) {
    constexpr std::size_t kHugePage = std::size_t{2} << 20;
    const std::size_t bytes = (most * sizeof(Row) / kHugePage + 1) * kHugePage;
    rows_.bytes.reset(static_cast<std::byte*>(std::aligned_alloc(kHugePage, bytes)));
    if (!rows_.bytes) throw std::bad_alloc();
    madvise(rows_.bytes.get(), bytes, MADV_HUGEPAGE); // a hint
  }
  void add(const Row& row) {
    std::memcpy(rows_.bytes.get() + rows_.size, &row, sizeof row);
    rows_.size += sizeof row;
  }
  Rows take() { return std::move(rows_); }

private:
  Rows rows_;
};

class TraceObject {
public:
  explicit TraceObject(const std::string& file)
      : trace_([&] {
          const Unlocked unlocked;
          return std::make_shared<api::Trace>(value_or_throw(api::Trace::open(file), "InputError"));
        }()) {}
  /// The caller's until it has read: another thread may close the trace.
  [[nodiscard]] std::shared_ptr<api::Trace> open() const {
    refuse_forks();
    if (!trace_) throw Failure("ClosedError", "the trace is closed");
    return trace_;
  }
  [[nodiscard]] bool is_open() const { return trace_ != nullptr; }
  void close() { trace_.reset(); }

private:
  std::shared_ptr<api::Trace> trace_;
};

api::TraceQuery query_of(const std::vector<std::uint32_t>& lines, std::pair<std::uint64_t, std::uint64_t> blocks,
                         std::pair<std::uint32_t, std::uint32_t> warps) {
  api::TraceQuery query;
  query.lines = lines;
  std::tie(query.first_block, query.last_block) = blocks;
  std::tie(query.first_warp, query.last_warp) = warps;
  return query;
}

/// Reads without the interpreter's lock.
template <class Read> py::memoryview unlocked_rows(const Read& read) {
  Rows rows = [&] {
    const Unlocked unlocked;
    return read();
  }();
  return py::memoryview(py::cast(std::move(rows)));
}

std::uint64_t first_address(const trace::Event& e) {
  const trace::PatternRow& p = *e.pattern;
  const auto lane = static_cast<std::uint64_t>(__builtin_ctz(p.mask));
  switch (p.lanes) {
  case trace::Lanes::sequence: return e.base + lane * static_cast<std::uint64_t>(p.stride[0]);
  case trace::Lanes::halves:
    return lane < 16
               ? e.base + lane * static_cast<std::uint64_t>(p.stride[0])
               : e.base + static_cast<std::uint64_t>(p.half) + (lane - 16) * static_cast<std::uint64_t>(p.stride[1]);
  case trace::Lanes::offsets:
  case trace::Lanes::wide: return e.base;
  }
  return e.base;
}

py::memoryview accesses(const TraceObject& object, std::size_t launch, const std::vector<std::uint32_t>& lines,
                        std::pair<std::uint64_t, std::uint64_t> blocks, std::pair<std::uint32_t, std::uint32_t> warps) {
  const std::shared_ptr<api::Trace> file = object.open();
  return unlocked_rows([&] {
    const api::TraceView view = value_or_throw(api::TraceView::open(*file, launch, {}), "InputError");
    api::TraceQuery query = query_of(lines, blocks, warps);
    query.branches = query.barriers = false;
    std::vector<std::uint32_t> line; // by instruction
    for (std::uint32_t i = 0; i < view.instructions(); ++i) line.push_back(view.line(i));
    RowWriter<AccessRow> rows(view.events());
    value_or_throw(view.visit_events(query,
                                     [&](const trace::Event& e) {
                                       const trace::PatternRow& p = *e.pattern;
                                       rows.add({e.of.cta,
                                                 first_address(e),
                                                 p.lanes == trace::Lanes::sequence ? p.stride[0] : 0,
                                                 p.instruction,
                                                 line[p.instruction],
                                                 p.mask,
                                                 e.of.warp,
                                                 p.lane_bytes,
                                                 p.space,
                                                 p.kind,
                                                 p.shape,
                                                 {}});
                                       return true;
                                     }),
                   "InputError");
    return rows.take();
  });
}

/// 32 addresses of each access, those of inactive lanes 0.
py::memoryview addresses(const TraceObject& object, std::size_t launch, const std::vector<std::uint32_t>& lines,
                         std::pair<std::uint64_t, std::uint64_t> blocks, std::pair<std::uint32_t, std::uint32_t> warps,
                         std::uint64_t count) {
  using Lanes = std::array<std::uint64_t, exec::kWarpSize>;
  const std::shared_ptr<api::Trace> file = object.open();
  return unlocked_rows([&] {
    const api::TraceView view = value_or_throw(api::TraceView::open(*file, launch, {}), "InputError");
    api::TraceQuery query = query_of(lines, blocks, warps);
    query.branches = query.barriers = false;
    RowWriter<Lanes> rows(std::min(count, view.events()));
    value_or_throw(view.visit_events(query,
                                     [&](const trace::Event& e) {
                                       std::uint64_t lanes[exec::kWarpSize];
                                       const exec::Access access = e.access(lanes);
                                       Lanes row{};
                                       for (const int lane : exec::EachLane(access.mask))
                                         row[static_cast<std::size_t>(lane)] = access.addresses[lane];
                                       rows.add(row);
                                       return true;
                                     }),
                   "InputError");
    return rows.take();
  });
}

py::memoryview control(const TraceObject& object, std::size_t launch, bool barriers,
                       const std::vector<std::uint32_t>& lines, std::pair<std::uint64_t, std::uint64_t> blocks,
                       std::pair<std::uint32_t, std::uint32_t> warps) {
  const std::shared_ptr<api::Trace> file = object.open();
  return unlocked_rows([&] {
    const api::TraceView view = value_or_throw(api::TraceView::open(*file, launch, {}), "InputError");
    api::TraceQuery query = query_of(lines, blocks, warps);
    query.branches = !barriers;
    query.barriers = barriers;
    RowWriter<ControlRow> rows(view.events());
    value_or_throw(view.visit_events(
                       query,
                       [&](const trace::Event& e) {
                         const trace::PatternRow& p = *e.pattern;
                         if (p.event != trace::EventKind::access)
                           rows.add({e.of.cta, p.instruction, view.line(p.instruction), p.mask, p.taken, e.of.warp, 0});
                         return true;
                       }),
                   "InputError");
    return rows.take();
  });
}

py::list instructions(const TraceObject& object, std::size_t launch) {
  const std::shared_ptr<api::Trace> file = object.open();
  const api::TraceView view = value_or_throw(api::TraceView::open(*file, launch, {}), "InputError");
  py::list list;
  for (std::uint32_t i = 0; i < view.instructions(); ++i)
    list.append(py::make_tuple(view.line(i), py::bytes(std::string(view.ptx(i))).attr("decode")("utf-8", "replace"),
                               view.source(i)));
  return list;
}

py::list launches(const TraceObject& object) {
  py::list list;
  const std::shared_ptr<api::Trace> file = object.open();
  for (const api::TracedLaunch& l : file->launches()) {
    py::dict one;
    one["kernel"] = std::string(l.request.kernel.function->name);
    one["grid"] = py::cast(l.request.grid);
    one["block"] = py::cast(l.request.block);
    one["device"] = l.request.device.id;
    one["complete"] = l.complete;
    list.append(one);
  }
  return list;
}

ReportObject analyze(const TraceObject& object, std::size_t launch, py::handle device, py::handle rules,
                     const std::vector<std::string>& analyzers) {
  const std::shared_ptr<api::Trace> file = object.open();
  if (launch >= file->launches().size())
    throw Failure("InputError",
                  fmt::format("the trace has {} launches: launch {} does not exist", file->launches().size(), launch));
  api::ReplayOptions options;
  if (!device.is_none()) options.device = device_of(device);
  options.launch.rules = rules_of(rules);
  options.launch.analyzers = analyzers;
  options.launch.keep_accesses = true;
  const Unlocked unlocked;
  return ReportObject(api::with_children(value_or_throw(file->analyze(launch, options), "LaunchError")));
}

} // namespace

std::unique_ptr<api::LaunchRecorder> trace_recorder(const std::string& file, const py::dict& options) {
  if (file.empty()) return nullptr;
  std::filesystem::path device;
  if (options.contains("device") && py::isinstance<py::str>(options["device"])) {
    std::error_code ignored;
    device = options["device"].cast<std::string>();
    if (!std::filesystem::is_regular_file(device, ignored)) device.clear();
  }
  return value_or_throw(api::TraceWriter::create(file, {}, device), "InputError");
}

void add_traces(py::module_& module) {
  py::class_<Rows>(module, "Rows", py::buffer_protocol(), "Rows of a trace as bytes.").def_buffer([](Rows& r) {
    return py::buffer_info(r.bytes.get(), 1, "B", 1, {static_cast<py::ssize_t>(r.size)}, {1});
  });
  const auto everywhere = std::pair{std::uint64_t{0}, ~std::uint64_t{0}};
  const auto all_warps = std::pair{std::uint32_t{0}, ~std::uint32_t{0}};
  py::class_<TraceObject>(module, "Trace", "A trace of launches in a file.")
      .def(py::init<const std::string&>(), py::arg("file"))
      .def("launches", &launches)
      .def("instructions", &instructions, py::arg("launch"))
      .def("accesses", &accesses, py::arg("launch"), py::arg("lines"), py::arg("blocks") = everywhere,
           py::arg("warps") = all_warps)
      .def("addresses", &addresses, py::arg("launch"), py::arg("lines"), py::arg("blocks") = everywhere,
           py::arg("warps") = all_warps, py::arg("count") = ~std::uint64_t{0})
      .def("control", &control, py::arg("launch"), py::arg("barriers"), py::arg("lines"),
           py::arg("blocks") = everywhere, py::arg("warps") = all_warps)
      .def("analyze", &analyze, py::arg("launch"), py::arg("device"), py::arg("rules"), py::arg("analyzers"))
      .def_property_readonly("closed", [](const TraceObject& t) { return !t.is_open(); })
      .def("close", &TraceObject::close);
}

} // namespace warplens::python
