// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/checks.hpp"

#include "api/report/check_files.hpp"
#include "api/report/style.hpp"
#include "api/session/environment.hpp"
#include "runtime/driver/machine/host_checks.hpp"
#include "runtime/driver/machine/machine.hpp"
#include "runtime/driver/machine/serve.hpp"

#include <fmt/format.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>

namespace warplens::runtime {

namespace {

namespace environment = api::environment;
using Kind = exec::ToolFinding::Kind;

std::string text_of(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::uint64_t number_of(const char* name, std::uint64_t otherwise) {
  const std::string text = text_of(name);
  return text.empty() ? otherwise : std::strtoull(text.c_str(), nullptr, 10);
}

std::unique_ptr<api::Sanitizer> from_environment() {
  const std::string names = text_of(environment::kTool);
  if (names.empty()) return nullptr;
  const Expected<exec::Tools> tools = api::parse_tools(names);
  if (!tools) return nullptr;
  api::CheckOptions options;
  options.tools = *tools;
  options.leak_check = text_of(environment::kLeakCheck) == "full";
  options.print_limit = number_of(environment::kPrintLimit, options.print_limit);
  options.kernel_name = text_of(environment::kKernelName);
  options.launch_skip = number_of(environment::kLaunchSkip, 0);
  options.launch_count = number_of(environment::kLaunchCount, options.launch_count);
  options.save = text_of(environment::kSave);
  options.sarif = text_of(environment::kToolSarif);
  options.junit = text_of(environment::kToolJunit);
  options.xml = !text_of(environment::kXml).empty();
  options.track_unused = !text_of(environment::kTrackUnused).empty();
  options.same_values = text_of(environment::kIgnoreSameValues).empty();
  options.schedule_seed = number_of(environment::kScheduleSeed, 0);
  options.suppressions = text_of(environment::kSuppressions);
  Expected<std::unique_ptr<api::Sanitizer>> made = api::Sanitizer::create(std::move(options));
  return made ? std::move(*made) : nullptr;
}

/// Never destroyed: it is used until the process ends.
std::unique_ptr<api::Sanitizer>& instance() {
  static std::unique_ptr<api::Sanitizer>& made = *new std::unique_ptr<api::Sanitizer>;
  return made;
}

struct ErrorName {
  CUresult code;
  const char *name, *text;
};
constexpr ErrorName kErrorNames[] = {
#define X(name, value, text) {name, #name, text},
#include "runtime/abi/driver_errors.def"
#undef X
};

/// Programs make these calls to find something out: a failure is an answer.
bool is_question(std::string_view function) {
  constexpr std::string_view kQuestions[] = {"cuPointerGetAttribute", "cuPointerGetAttributes",  "cuGetProcAddress",
                                             "cuGetProcAddress_v2",   "cuGetExportTable",        "cuGetErrorName",
                                             "cuGetErrorString",      "cuMemGetAddressRange_v2", "cuMemHostGetFlags",
                                             "cuPointerSetAttribute"};
  return std::find(std::begin(kQuestions), std::end(kQuestions), function) != std::end(kQuestions);
}

/// The part of the output that this process has not written yet.
void write_messages(std::span<const api::CheckMessage> messages, std::uint64_t& printed, std::uint64_t limit) {
  std::string text;
  for (const api::CheckMessage& m : messages)
    if (printed < limit) {
      text += api::message_text(m);
      ++printed;
    }
  std::fputs(api::printable(text, {}).c_str(), stderr);
}

void write_all(api::Sanitizer& tools) {
  if (HostChecks* const checks = host_checks()) checks->open_pages();
  tools.conclude(Machine::instance().api()->made_heap());
  const std::vector<api::CheckMessage> messages = tools.take();
  std::uint64_t printed = 0;
  write_messages(messages, printed, tools.options().print_limit);
  api::CheckSummary summary = tools.summary();
  summary.printed = printed;
  std::fputs(api::summary_text(summary, api::names_of(tools.tools())).c_str(), stderr);
  if (const std::string verdict = text_of(environment::kToolVerdict); !verdict.empty() && summary.errors != 0)
    std::ofstream(verdict, std::ios::binary | std::ios::app) << summary.errors << "\n";
  const bool is_first = text_of(environment::kProcess) == std::to_string(getpid());
  const Expected<void> written =
      api::write_check_files(tools.options(), messages, is_first ? "" : fmt::format(".{}", getpid()));
  if (!written) tell(written.error().list().front().message);
}

} // namespace

api::Sanitizer* sanitizer() { return instance().get(); }

void start_tools() {
  instance() = from_environment();
  if (sanitizer() == nullptr) return;
  const exec::Tools& tools = sanitizer()->tools();
  if (tools.memcheck || tools.initcheck) Machine::instance().api()->check_memory();
  std::fputs("========= WARPLENS SANITIZER\n", stderr);
}

void finish_tools() {
  static const pid_t process = getpid();
  if (sanitizer() == nullptr || getpid() != process) return;
  static std::once_flag finished; // exit(), abort() and limits may come together
  std::call_once(finished, [] { write_all(*sanitizer()); });
}

void tell_allocated(const Allocation& a, const std::string& name) {
  if (sanitizer() == nullptr) return;
  if (a.kind != Allocation::Kind::pool && sanitizer()->tools().racecheck) // of pools: when the stream allocates it
    sanitizer()->forget_accesses(a.begin, a.size);
  using AllocationKind = Allocation::Kind;
  const bool counts = a.kind == AllocationKind::device || a.kind == AllocationKind::managed ||
                      a.kind == AllocationKind::host || a.kind == AllocationKind::pool ||
                      a.kind == AllocationKind::array;
  if (!counts) return tell_defined(a);
  sanitizer()->allocated({a.begin,
                          a.size,
                          sanitizer()->next_order(),
                          name,
                          api::HostStack::here(),
                          {},
                          a.kind == AllocationKind::host,
                          a.kind == AllocationKind::device || a.kind == AllocationKind::pool});
  if (sanitizer()->tools().initcheck)
    sanitizer()->given(a.begin, a.size, a.kind == AllocationKind::managed || a.kind == AllocationKind::host);
}

void tell_defined(const Allocation& a) {
  if (sanitizer() != nullptr && sanitizer()->tools().initcheck) sanitizer()->not_given(a.begin, a.size);
}

void tell_written(std::uint64_t begin, std::uint64_t bytes) {
  if (sanitizer() != nullptr && sanitizer()->tools().initcheck) sanitizer()->filled(begin, bytes);
}

void tell_dying(std::uint64_t begin) {
  if (sanitizer() != nullptr) sanitizer()->dying(begin);
}

void tell_freed(std::uint64_t begin) {
  if (sanitizer() != nullptr) sanitizer()->freed(begin);
}

namespace {

/// Whether the process has memory there, other than that of the device.
bool is_host_memory(std::uint64_t address) {
  for (const exec::AddressRange& range : Machine::instance().api()->arena().ranges())
    if (range.overlaps(address, address + 1)) return false;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  unsigned char there = 0;
  return mincore(reinterpret_cast<void*>(address / page * page), 1, &there) == 0;
}

} // namespace

std::shared_ptr<api::CheckMessage> wrong_free(std::uint64_t address) {
  if (sanitizer() == nullptr || !sanitizer()->tools().memcheck) return nullptr;
  auto m = std::make_shared<api::CheckMessage>();
  const std::optional<api::Sanitizer::Origin> origin = sanitizer()->origin_of(address);
  const bool freed = origin && origin->begin == address && !origin->freed.empty();
  m->kind = freed ? Kind::double_free : Kind::foreign_free;
  m->title = freed ? fmt::format("Double free of {:#x}", address)
                   : fmt::format("Free of {:#x}, which is no allocation of this kind", address);
  m->at = api::CheckThreads{};
  m->at->space = (origin && origin->is_host) || (!origin && is_host_memory(address)) ? "host" : "global";
  m->at->address = address;
  if (origin) {
    m->memory = api::Sanitizer::memory_at(address, *origin);
    m->detail =
        fmt::format("The address is {} bytes inside an allocation of {} bytes", address - origin->begin, origin->size);
  } else if (const auto other = Machine::instance().memory().find(address)) {
    m->memory = api::CheckMemory{other->buffer ? other->buffer->name() : "other memory",
                                 other->begin,
                                 other->size,
                                 static_cast<std::int64_t>(address - other->begin),
                                 api::CheckMemory::Where::inside,
                                 {},
                                 {},
                                 {},
                                 {}};
  }
  return m;
}

std::shared_ptr<api::CheckMessage> wrong_access(std::uint64_t address, std::uint64_t bytes, bool writes) {
  if (sanitizer() == nullptr || !sanitizer()->tools().memcheck) return nullptr;
  const std::optional<api::Sanitizer::Origin> origin = sanitizer()->origin_of(address);
  if (!origin) return nullptr;
  auto m = std::make_shared<api::CheckMessage>();
  m->kind = origin->freed.empty() ? Kind::out_of_bounds : Kind::use_after_free;
  m->at = api::CheckThreads{};
  m->at->access = writes ? "write" : "read";
  m->at->space = "global";
  m->at->bytes = bytes;
  m->at->address = address;
  m->memory = api::Sanitizer::memory_at(address, *origin);
  m->title = fmt::format("Invalid __global__ {} of size {} bytes by the host", m->at->access, bytes);
  return m;
}

void tell_failure(const char* function, CUresult code, const std::shared_ptr<api::CheckMessage>& found) {
  api::Sanitizer* const tools = sanitizer();
  if (tools == nullptr || !tools->tools().memcheck || code == CUDA_ERROR_NOT_READY || is_question(function)) return;
  const api::HostStack stack = api::HostStack::here();
  api::CheckMessage m = found ? std::move(*found) : api::CheckMessage{};
  const auto* const known =
      std::find_if(std::begin(kErrorNames), std::end(kErrorNames), [&](const ErrorName& e) { return e.code == code; });
  const std::string caller = stack.caller();
  m.call = caller.empty() ? function : caller;
  m.error = static_cast<int>(code);
  const std::string hit = fmt::format("Program hit {} (error {}) due to \"{}\" on CUDA API call to {}.",
                                      known == std::end(kErrorNames) ? "an error" : known->name, m.error,
                                      known == std::end(kErrorNames) ? "unknown" : known->text, m.call);
  if (found) {
    m.detail += (m.detail.empty() ? "" : ". ") + hit;
  } else {
    m.kind = Kind::api_error;
    m.title = hit;
  }
  m.order = tools->next_order();
  m.host_frames = stack.frames();
  tools->add(std::move(m));
}

} // namespace warplens::runtime
