// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/recorder.hpp"

#include "api/session/environment.hpp"
#include "runtime/driver/machine/serve.hpp"
#include "runtime/trace/recorder.hpp"

#include <fmt/format.h>

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace warplens::runtime {

namespace {

namespace environment = api::environment;
namespace fs = std::filesystem;

std::string text_of(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The library beside this one.
fs::path library() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&traces), &here) == 0) return kRecorderLibrary;
  return fs::path(here.dli_fname).parent_path() / kRecorderLibrary;
}

/// The trace of this process; of the process that `warplens exec` became, under the exact name.
std::string trace_file() {
  const bool is_first = text_of(environment::kProcess) == std::to_string(getpid());
  return text_of(environment::kTrace) + (is_first ? "" : fmt::format(".{}", getpid()));
}

class Trace {
public:
  std::mutex mutex;

  /// Null: there is none, or a child of fork() has inherited its parent's.
  api::LaunchRecorder* recorder() {
    if (!started_) start();
    return getpid() == process_ && !closed_ ? recorder_.get() : nullptr;
  }
  void close() {
    if (recorder_ == nullptr || getpid() != process_ || closed_) return;
    closed_ = true;
    if (const Expected<void> closed = recorder_->close(); !closed) tell_error(closed.error());
  }

private:
  static void tell_error(const Diagnostics& errors) { tell("--trace: " + errors.list().front().message); }

  void start() {
    started_ = true;
    process_ = getpid();
    const fs::path file = library();
    void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return tell(fmt::format("--trace: {}", dlerror()));
    const auto create = reinterpret_cast<CreateRecorder*>(dlsym(handle, kCreateRecorder));
    if (create == nullptr) return tell(fmt::format("--trace: '{}' has no recorder", file.string()));
    Expected<std::unique_ptr<api::LaunchRecorder>> made =
        create(trace_file(), text_of(environment::kTraceFilter), text_of(environment::kDevice));
    if (!made) return tell_error(made.error());
    recorder_ = std::move(*made);
  }

  bool started_ = false, closed_ = false;
  pid_t process_ = 0;
  std::unique_ptr<api::LaunchRecorder> recorder_;
};

/// Never destroyed: it is used until the process ends.
Trace& trace() {
  static Trace& instance = *new Trace;
  return instance;
}

} // namespace

bool traces() { return !text_of(environment::kTrace).empty(); }

Recording::Recording(api::LaunchOptions& options) {
  if (!traces()) return;
  lock_ = std::unique_lock(trace().mutex);
  options.recorder = trace().recorder();
  if (options.recorder == nullptr) lock_.unlock();
}

void close_trace() {
  if (!traces()) return;
  const std::unique_lock lock(trace().mutex, std::try_to_lock); // held by a launch that a limit has stopped
  if (lock.owns_lock()) trace().close();
}

} // namespace warplens::runtime
