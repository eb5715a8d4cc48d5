// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/serve.hpp"

#include "api/report/style.hpp"
#include "runtime/driver/machine/event.hpp"
#include "runtime/driver/machine/module.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <new>
#include <set>
#include <system_error>
#include <utility>

namespace warplens::runtime {

void tell(const std::string& text) {
  static std::mutex& mutex = *new std::mutex; // never destroyed: threads may print at process exit
  static std::set<std::string>& told = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (told.insert(text).second) std::fprintf(stderr, "warplens: %s\n", api::printable(text, {}).c_str());
}

CUresult unsupported(const char* what) {
  tell(fmt::format("{} is not supported", what));
  return CUDA_ERROR_NOT_SUPPORTED;
}

namespace {
thread_local std::shared_ptr<api::CheckMessage> found_now; // about the call that fails
} // namespace

void failed(const char* function, CUresult code) {
  if (sanitizer() != nullptr) tell_failure(function, code, std::exchange(found_now, nullptr));
}

CUresult translate(const char* function, const Failure& failure) {
  found_now = failure.found;
  if (!failure.text.empty() && sanitizer() == nullptr) tell(fmt::format("{}: {}", function, failure.text));
  return failure.code;
}

CUresult translate(const char* function, const std::exception& exception) {
  if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  if (const auto* const error = dynamic_cast<const std::system_error*>(&exception);
      error != nullptr && error->code() == std::errc::resource_unavailable_try_again) {
    tell(fmt::format("{}: cannot start a thread (is their number or the memory limited? ulimit -u, -v)", function));
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  tell(fmt::format("{}: internal error: {}", function, exception.what()));
  return CUDA_ERROR_UNKNOWN;
}

Context* context_of(CUstream handle) {
  if (handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) return &current_context();
  return &object_of(Machine::instance().streams, handle)->context();
}

Context* context_of(CUevent handle) { return &object_of(Machine::instance().events, handle)->context(); }

namespace {

/// Null: the owner is a pool, or all contexts.
Context* context_of_owner(const void* owner) {
  return Machine::instance().contexts.find(static_cast<CUcontext>(const_cast<void*>(owner))).get();
}

} // namespace

Context* context_of(CUmodule handle) { return context_of_owner(find_module(handle)->owner()); }

Context* context_of(CUfunction handle) {
  const std::shared_ptr<Module> module = find_function(Machine::instance(), handle)->module();
  require(module != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return context_of_owner(module->owner());
}

Context* context_of(Address address) {
  const std::shared_ptr<Context> current = current_context_or_null();
  if (const CUresult fault = current ? current->told_fault() : CUDA_SUCCESS; fault != CUDA_SUCCESS)
    throw Failure{fault, {}};
  const std::optional<Allocation> found = Machine::instance().memory().find(address.value);
  return found ? context_of_owner(found->owner) : nullptr;
}

} // namespace warplens::runtime
