// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/context.hpp"

#include "runtime/abi/per_thread.hpp"
#include "runtime/driver/machine/host_checks.hpp"
#include "runtime/driver/machine/serve.hpp"

#include <algorithm>
#include <cstdio>

namespace warplens::runtime {

namespace {

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

/// Unlike addresses and std::thread::id, these numbers are never reused.
std::uint64_t this_thread() {
  thread_local const std::uint64_t number = next_number();
  return number;
}

std::vector<std::shared_ptr<Context>>& stack() { return PerThread<std::vector<std::shared_ptr<Context>>>::get(); }

} // namespace

Context::Context(unsigned context_flags)
    : flags(context_flags), id_(next_number()), legacy_(std::make_shared<Stream>(*this, Stream::Kind::legacy, 0)) {}

Stream& Context::per_thread_stream() {
  const std::lock_guard lock(order_);
  std::shared_ptr<Stream>& stream = per_thread_[this_thread()];
  if (!stream) {
    stream = std::make_shared<Stream>(*this, Stream::Kind::per_thread, 0);
    all_.push_back(stream);
  }
  return *stream;
}

std::shared_ptr<Stream> Context::create_stream(bool blocking, int priority) {
  auto stream =
      std::make_shared<Stream>(*this, blocking ? Stream::Kind::blocking : Stream::Kind::non_blocking, priority);
  const std::lock_guard lock(order_);
  std::erase_if(all_, [](const std::weak_ptr<Stream>& s) { return s.expired(); });
  all_.push_back(stream);
  return stream;
}

std::vector<std::shared_ptr<Stream>> Context::streams() const {
  const std::lock_guard lock(order_);
  std::vector<std::shared_ptr<Stream>> list{legacy_};
  for (const std::weak_ptr<Stream>& weak : all_)
    if (std::shared_ptr<Stream> stream = weak.lock()) list.push_back(std::move(stream));
  return list;
}

bool Context::has_streams() const {
  const std::lock_guard lock(order_);
  return !all_.empty();
}

bool Context::idle() const {
  const std::vector<std::shared_ptr<Stream>> list = streams();
  return std::all_of(list.begin(), list.end(), [](const auto& stream) { return stream->idle(); });
}

CUresult Context::synchronize() {
  const std::vector<std::shared_ptr<Stream>> list = streams();
  for (const auto& stream : list) require(!stream->capture(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  for (const auto& stream : list) stream->synchronize();
  flush_printed();
  return fault();
}

CUresult Context::told_fault() const {
  const CUresult code = fault();
  if (code != CUDA_SUCCESS && !destroyed() && host_checks() != nullptr)
    for (const auto& stream : streams()) host_waited_for(*stream);
  return code;
}

void Context::set_fault(CUresult code) {
  CUresult none = CUDA_SUCCESS;
  fault_.compare_exchange_strong(none, code);
}

std::optional<std::size_t> Context::limit(CUlimit which) const {
  const std::lock_guard lock(limits_mutex_);
  const auto found = limits_.find(which);
  return found == limits_.end() ? std::nullopt : std::optional(found->second);
}

void Context::set_limit(CUlimit which, std::size_t value) {
  const std::lock_guard lock(limits_mutex_);
  limits_[which] = value;
}

void Context::add_printed(const std::string& text) {
  if (text.empty()) return;
  const std::lock_guard lock(printed_mutex_);
  printed_ += text;
}

void Context::flush_printed() {
  std::string text;
  {
    const std::lock_guard lock(printed_mutex_);
    text.swap(printed_);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void Context::destroy() {
  for (const auto& stream : streams()) {
    stream->set_capture(nullptr);
    stream->synchronize();
  }
  flush_printed();
  fault_.store(CUDA_ERROR_CONTEXT_IS_DESTROYED, std::memory_order_release);
}

void Context::revive(unsigned context_flags) {
  const std::lock_guard lock(order_);
  flags = context_flags;
  {
    const std::lock_guard limits(limits_mutex_);
    limits_.clear();
  }
  all_.clear();
  per_thread_.clear();
  legacy_ = std::make_shared<Stream>(*this, Stream::Kind::legacy, 0);
  id_ = next_number();
  fault_.store(CUDA_SUCCESS, std::memory_order_release);
}

Context& current_context() {
  if (stack().empty() || !stack().back()) throw Failure{CUDA_ERROR_INVALID_CONTEXT, {}};
  return *stack().back();
}

std::shared_ptr<Context> current_context_or_null() { return stack().empty() ? nullptr : stack().back(); }

void push_context(std::shared_ptr<Context> context) { stack().push_back(std::move(context)); }

std::shared_ptr<Context> pop_context() {
  if (stack().empty()) return nullptr;
  std::shared_ptr<Context> top = std::move(stack().back());
  stack().pop_back();
  return top;
}

void set_current_context(std::shared_ptr<Context> context) {
  if (!stack().empty()) stack().pop_back();
  if (context) stack().push_back(std::move(context));
}

} // namespace warplens::runtime
