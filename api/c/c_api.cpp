// SPDX-License-Identifier: Apache-2.0
#include "api/warplens.h"

#include "api/c/last_error.hpp"
#include "api/launch/launch.hpp"
#include "api/report/json_report.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <mutex>

using namespace warplens;

struct warplens_context {
  std::shared_ptr<api::Context> context;
  std::mutex mutex;
  std::map<std::uint64_t, std::shared_ptr<api::Buffer>> buffers; ///< by address
};

struct warplens_module {
  std::shared_ptr<api::Module> module;
  std::string text;               ///< for the source lines of messages
  std::vector<std::string> names; ///< of the kernels, zero-terminated
};

struct warplens_report {
  std::vector<api::LaunchReport> launches; ///< the launch, then those that it started
  std::string printed;
  std::uint64_t errors = 0; ///< of the tools
  std::string messages;
  mutable std::once_flag written;
  mutable std::string json; ///< written when somebody asks for it: this takes longer than a small launch
};

std::string& warplens::c::last_error() {
  thread_local std::string messages;
  return messages;
}

namespace {

warplens_status fail(warplens_status status, std::string message) {
  c::last_error() = std::move(message);
  return status;
}
warplens_status fail(const Diagnostics& errors, std::string_view text = {}) {
  return fail(WARPLENS_INVALID, render(errors, text));
}

/// Keeps exceptions inside the library.
template <class Body> warplens_status guarded(Body&& body) {
  try {
    return body();
  } catch (const std::exception& e) {
    return fail(WARPLENS_INTERNAL, std::string("internal error: ") + e.what());
  } catch (...) {
    return fail(WARPLENS_INTERNAL, "internal error");
  }
}

template <class... Pointers> bool any_null(const Pointers*... pointers) { return ((pointers == nullptr) || ...); }
warplens_status null_pointer() { return fail(WARPLENS_INVALID, "error: a required pointer is null"); }

/// The host address of a range, or null if it is not inside one allocation.
void* range(warplens_context& context, std::uint64_t address, std::uint64_t size) {
  const std::lock_guard lock(context.mutex);
  auto after = context.buffers.upper_bound(address);
  if (after == context.buffers.begin()) return nullptr;
  const api::Buffer& buffer = *std::prev(after)->second;
  const std::uint64_t offset = address - buffer.address(), available = buffer.bytes().size();
  if (offset > available || size > available - offset) return nullptr;
  return buffer.bytes().data() + offset;
}
warplens_status no_range() { return fail(WARPLENS_INVALID, "error: the range is not inside an allocation"); }

Expected<api::LaunchRequest> request_of(const warplens_module& module, const char* kernel,
                                        const warplens_launch_options& o) {
  Expected<api::Kernel> found = module.module->kernel(kernel);
  if (!found) return failure(found.error());
  Expected<model::Device> device =
      o.device != nullptr ? api::load_device(o.device) : api::default_device(module.module->ir());
  if (!device) return failure(device.error());
  api::LaunchRequest r;
  r.kernel = std::move(*found);
  for (std::size_t i = 0; i < 3; ++i) r.grid[i] = o.grid[i], r.block[i] = o.block[i];
  r.dynamic_shared_bytes = o.shared_bytes;
  r.device = std::move(*device);
  r.options.analyze = o.analyze != 0;
  r.options.workers = o.workers;
  if (o.max_steps != 0) r.options.max_steps = o.max_steps;
  if (o.registers != 0) r.options.registers = o.registers;
  r.host_pointers = o.host_pointers != 0;
  r.cooperative = o.cooperative != 0;
  r.past_ends = o.past_ends != 0;
  if (o.cluster[0] != 0 || o.cluster[1] != 0 || o.cluster[2] != 0)
    r.cluster = {o.cluster[0], o.cluster[1], o.cluster[2]};
  return r;
}

} // namespace

extern "C" {

const char* warplens_version(void) {
  static const std::string version(api::version());
  return version.c_str();
}

const char* warplens_last_error(void) { return c::last_error().c_str(); }

warplens_status warplens_context_create(warplens_context** context) {
  if (context == nullptr) return null_pointer();
  return guarded([&] {
    Expected<std::shared_ptr<api::Context>> made = api::Context::create();
    if (!made) return fail(made.error());
    auto owner = std::make_unique<warplens_context>();
    owner->context = std::move(*made);
    *context = owner.release();
    return WARPLENS_OK;
  });
}

void warplens_context_destroy(warplens_context* context) { delete context; }

warplens_status warplens_memory_allocate(warplens_context* context, uint64_t size, const char* name,
                                         uint64_t* address) {
  if (any_null(context, address)) return null_pointer();
  return guarded([&] {
    auto buffer = api::Buffer::allocate(context->context, size, name != nullptr ? name : "");
    if (!buffer) return fail(buffer.error());
    *address = (*buffer)->address();
    const std::lock_guard lock(context->mutex);
    context->buffers[*address] = std::move(*buffer);
    return WARPLENS_OK;
  });
}

warplens_status warplens_memory_free(warplens_context* context, uint64_t address) {
  if (context == nullptr) return null_pointer();
  return guarded([&] {
    const std::lock_guard lock(context->mutex);
    if (context->buffers.erase(address) == 0)
      return fail(WARPLENS_INVALID, "error: the address is not the start of an allocation");
    return WARPLENS_OK;
  });
}

warplens_status warplens_memory_write(warplens_context* context, uint64_t address, const void* from, uint64_t size) {
  if (any_null(context, from)) return null_pointer();
  void* const to = range(*context, address, size);
  if (to == nullptr) return no_range();
  std::memcpy(to, from, size);
  return WARPLENS_OK;
}

warplens_status warplens_memory_read(warplens_context* context, uint64_t address, void* to, uint64_t size) {
  if (any_null(context, to)) return null_pointer();
  const void* const from = range(*context, address, size);
  if (from == nullptr) return no_range();
  std::memcpy(to, from, size);
  return WARPLENS_OK;
}

warplens_status warplens_module_load(warplens_context* context, const char* ptx, const char* file,
                                     warplens_module** module) {
  if (any_null(context, ptx, module)) return null_pointer();
  return guarded([&] {
    auto loaded = api::Module::load(context->context, ptx, file != nullptr ? file : "<ptx>");
    if (!loaded) return fail(loaded.error(), ptx);
    auto owner = std::make_unique<warplens_module>();
    owner->module = std::move(*loaded);
    owner->text = ptx;
    for (const ir::Function* f : owner->module->kernels()) owner->names.emplace_back(f->name);
    *module = owner.release();
    return WARPLENS_OK;
  });
}

void warplens_module_destroy(warplens_module* module) { delete module; }

size_t warplens_module_kernel_count(const warplens_module* module) {
  return module != nullptr ? module->names.size() : 0;
}

const char* warplens_module_kernel_name(const warplens_module* module, size_t index) {
  return module != nullptr && index < module->names.size() ? module->names[index].c_str() : nullptr;
}

warplens_status warplens_kernel_parameter_count(const warplens_module* module, const char* kernel, size_t* count) {
  if (any_null(module, kernel, count)) return null_pointer();
  return guarded([&] {
    const Expected<api::Kernel> found = module->module->kernel(kernel);
    if (!found) return fail(found.error());
    *count = found->function->params.size();
    return WARPLENS_OK;
  });
}

warplens_status warplens_kernel_parameter_size(const warplens_module* module, const char* kernel, size_t index,
                                               uint64_t* size) {
  if (any_null(module, kernel, size)) return null_pointer();
  return guarded([&] {
    const Expected<api::Kernel> found = module->module->kernel(kernel);
    if (!found) return fail(found.error());
    if (index >= found->function->params.size()) return fail(WARPLENS_INVALID, "error: no such parameter");
    *size = found->function->params[index].size;
    return WARPLENS_OK;
  });
}

warplens_status warplens_module_variable(const warplens_module* module, const char* name, uint64_t* address,
                                         uint64_t* size) {
  if (any_null(module, name)) return null_pointer();
  return guarded([&] {
    const api::Buffer* const variable = module->module->variable(name);
    if (variable == nullptr) return fail(WARPLENS_INVALID, std::string("error: no variable '") + name + "'");
    if (address != nullptr) *address = variable->address();
    if (size != nullptr) *size = variable->bytes().size();
    return WARPLENS_OK;
  });
}

// The bytes of whole members within the caller's struct: half a pointer would be another one.
static std::size_t known_bytes(std::size_t struct_size) {
  using Options = warplens_launch_options;
  std::size_t known = 0;
  for (const std::size_t end : {offsetof(Options, cooperative), offsetof(Options, cluster),
                                offsetof(Options, past_ends), offsetof(Options, tools), sizeof(Options)})
    if (end <= struct_size) known = end;
  return known;
}

warplens_status warplens_launch(warplens_module* module, const char* kernel, const warplens_launch_options* options,
                                const void* const* arguments, const size_t* sizes, size_t count,
                                warplens_report** report) {
  if (any_null(module, kernel, options) || (count != 0 && any_null(arguments, sizes))) return null_pointer();
  if (options->struct_size < offsetof(warplens_launch_options, cooperative)) // the size in the first version
    return fail(WARPLENS_INVALID, "error: struct_size is too small");
  return guarded([&] {
    warplens_launch_options known = WARPLENS_LAUNCH_OPTIONS_INIT;
    std::memcpy(&known, options, known_bytes(options->struct_size));
    Expected<api::LaunchRequest> request = request_of(*module, kernel, known);
    if (!request) return fail(request.error(), module->text);
    for (std::size_t i = 0; i < count; ++i) {
      if (arguments[i] == nullptr) return null_pointer();
      request->arguments.push_back(api::Argument::raw({static_cast<const std::byte*>(arguments[i]), sizes[i]}));
    }
    std::unique_ptr<api::Sanitizer> tools;
    if (known.tools != nullptr) {
      api::CheckOptions checks;
      const Expected<exec::Tools> named = api::parse_tools(known.tools);
      if (!named) return fail(named.error());
      checks.tools = *named;
      tools = std::move(*api::Sanitizer::create(std::move(checks)));
      request->options.sanitizer = tools.get();
    }
    Expected<api::LaunchReport> result = api::launch(*request);
    if (!result) return fail(result.error(), module->text);
    std::vector<api::LaunchReport> all = api::with_children(std::move(*result));
    const std::optional<Diagnostic> trap = all.back().trap;
    if (report != nullptr) {
      auto owner = std::make_unique<warplens_report>();
      if (tools != nullptr)
        for (const api::CheckMessage& m : tools->take()) {
          owner->errors += m.count;
          owner->messages += api::message_text(m);
        }
      for (const api::LaunchReport& launch : all) owner->printed += launch.printed;
      owner->launches = std::move(all);
      *report = owner.release();
    }
    if (!trap) return WARPLENS_OK;
    Diagnostics why;
    why.error(trap->where, trap->message, trap->hint);
    why.in_file(trap->file);
    return fail(WARPLENS_TRAPPED, render(why, module->text));
  });
}

const char* warplens_report_json(const warplens_report* report) {
  if (report == nullptr) return "";
  guarded([&] {
    std::call_once(report->written,
                   [&] { report->json = api::json_report(report->launches.front().device, report->launches); });
    return WARPLENS_OK;
  });
  return report->json.c_str();
}

const char* warplens_report_printed(const warplens_report* report) {
  return report != nullptr ? report->printed.c_str() : "";
}

uint64_t warplens_report_error_count(const warplens_report* report) { return report != nullptr ? report->errors : 0; }

const char* warplens_report_messages(const warplens_report* report) {
  return report != nullptr ? report->messages.c_str() : "";
}

warplens_status warplens_report_metric(const warplens_report* report, const char* name, double* value) {
  if (any_null(report, name, value)) return null_pointer();
  return guarded([&] {
    const analyzers::Metric* const metric = report->launches.front().profile.metrics.find(name);
    if (metric == nullptr) {
      const std::string near = analyzers::did_you_mean_metric(name);
      return fail(WARPLENS_INVALID, std::string("error: no metric '") + name + "'" + (near.empty() ? "" : "; " + near));
    }
    *value = metric->number();
    return WARPLENS_OK;
  });
}

warplens_status warplens_metric(size_t index, const char** name, const char** unit, const char** definition) {
  if (any_null(name, unit, definition)) return null_pointer();
  return guarded([&] {
    const auto all = analyzers::metric_infos();
    if (index >= all.size()) return fail(WARPLENS_INVALID, "error: no metric has this index");
    *name = all[index].name.data(); // literals, which end with a zero
    *unit = all[index].unit.data();
    *definition = all[index].definition.data();
    return WARPLENS_OK;
  });
}

void warplens_report_destroy(warplens_report* report) { delete report; }

} // extern "C"
