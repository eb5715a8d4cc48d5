// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/stream.hpp"

#include "runtime/driver/machine/host_checks.hpp"
#include "runtime/driver/machine/operation_log.hpp"
#include "runtime/driver/machine/serve.hpp"

#include <thread>

namespace warplens::runtime {

namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

/// For short waits, spinning is cheaper than sleeping.
template <class Condition> bool spin_until(Condition&& condition) {
  constexpr int kSpins = 2000;
  for (int i = 0; i < kSpins; ++i) {
    if (condition()) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  return condition();
}

} // namespace

Stream::Stream(Context& context, Kind kind, int priority)
    : context_(context), kind_(kind), priority_(priority), id_(next_id()) {}

std::vector<Stream::Dependency> Stream::dependencies() const {
  std::vector<Dependency> list;
  const auto add = [&](const std::shared_ptr<Stream>& stream) {
    const std::uint64_t number = stream->submitted_.load();
    if (stream->finished_.load(std::memory_order_acquire) < number) list.push_back({stream, number});
  };
  if (kind_ == Kind::non_blocking) return list;
  if (kind_ != Kind::legacy) {
    add(context_.legacy_);
    return list;
  }
  for (const std::weak_ptr<Stream>& weak : context_.all_)
    if (const std::shared_ptr<Stream> stream = weak.lock())
      if (stream.get() != this && stream->kind_ != Kind::non_blocking) add(stream);
  return list;
}

/// Throws if this stream is captured, or waits for a captured stream: only the legacy stream does.
void Stream::refuse_captured(CUresult code) const {
  if (Capture::count == 0) return;
  if (const std::shared_ptr<Capture> capturing = capture()) capturing->refuse(code);
  if (kind_ != Kind::legacy) return;
  std::vector<std::shared_ptr<Stream>> waited_for;
  {
    const std::lock_guard order(context_.order_);
    for (const std::weak_ptr<Stream>& weak : context_.all_)
      if (std::shared_ptr<Stream> stream = weak.lock(); stream && stream->kind_ != Kind::non_blocking)
        waited_for.push_back(std::move(stream));
  }
  for (const std::shared_ptr<Stream>& stream : waited_for)
    if (const std::shared_ptr<Capture> capturing = stream->capture())
      capturing->refuse(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
}

void Stream::wait_for(std::uint64_t number) const {
  if (spin_until([&] { return finished_.load(std::memory_order_acquire) >= number; })) return;
  for (std::uint64_t seen; (seen = finished_.load(std::memory_order_acquire)) < number;)
    finished_.wait(seen, std::memory_order_acquire);
}

void Stream::submit(Operation operation) {
  if (const std::shared_ptr<Capture> capturing = capture()) return capturing->add(*this, std::move(operation));
  refuse_captured(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  if (host_checks() != nullptr) return run_in_order(std::move(operation));
  // As with CUDA, a host that is far ahead waits.
  constexpr std::uint64_t kMostPending = 1024;
  if (const std::uint64_t number = submitted_.load(); number > kMostPending) wait_for(number - kMostPending);
  const std::lock_guard order(context_.order_);
  Item item{submitted_.load() + 1, dependencies(), std::move(operation)};
  submitted_.store(item.number);
  log(item);
  enqueue(std::move(item));
}

void Stream::log(Item& item) const {
  if (OperationLog* const log = operation_log()) item.logged = log->submit(id_, waits_for_now(), item.operation);
}

std::set<std::uint64_t> Stream::waits_for() const {
  const std::lock_guard order(context_.order_);
  return waits_for_now();
}

std::set<std::uint64_t> Stream::waits_for_now() const {
  std::set<std::uint64_t> list;
  if (kind_ == Kind::blocking || kind_ == Kind::per_thread) list.insert(context_.legacy_->id());
  if (kind_ != Kind::legacy) return list;
  for (const std::weak_ptr<Stream>& weak : context_.all_)
    if (const std::shared_ptr<Stream> stream = weak.lock())
      if (stream.get() != this && stream->kind_ != Kind::non_blocking) list.insert(stream->id_);
  return list;
}

void Stream::run_in_order(Operation operation) {
  HostChecks& checks = *host_checks();
  const auto turn = checks.turn(operation);
  const std::set<std::uint64_t> after = waits_for();
  std::unique_lock order(context_.order_);
  Item item{submitted_.load() + 1, {}, std::move(operation)};
  submitted_.store(item.number);
  log(item);
  order.unlock();
  checks.begin(*this, after, item.operation);
  checks.open_pages();
  execute(item);
  checks.close_pages();
}

void Stream::run(Operation operation, bool host_waits) {
  refuse_captured(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  if (host_checks() != nullptr) {
    run_in_order(std::move(operation));
    if (host_waits) host_waited_for(*this);
    return;
  }
  std::unique_lock order(context_.order_);
  Item item{submitted_.load() + 1, dependencies(), std::move(operation)};
  submitted_.store(item.number);
  log(item);
  order.unlock();
  if (host_waits) host_waited_for(*this);
  // The waiting thread can do the work itself: earlier work completes without it, and later work waits.
  execute(item);
}

void Stream::synchronize() {
  refuse_captured(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  std::unique_lock order(context_.order_);
  const std::vector<Dependency> before = dependencies();
  const std::uint64_t number = submitted_.load();
  order.unlock();
  wait_for(number);
  for (const Dependency& d : before) d.stream->wait_for(d.number);
  host_waited_for(*this);
}

bool Stream::idle() const {
  const std::lock_guard order(context_.order_);
  return finished_.load(std::memory_order_acquire) == submitted_.load() && dependencies().empty();
}

void Stream::execute(Item& item) {
  wait_for(item.number - 1);
  for (const Dependency& d : item.after) d.stream->wait_for(d.number);
  {
    const Performing performing(item.logged);
    perform(item.operation, context_);
  }
  finished_.store(item.number, std::memory_order_release);
  finished_.notify_all();
}

void Stream::enqueue(Item item) {
  const std::lock_guard lock(mutex_);
  if (!thread_started_) { // first: if there can be no thread, nothing is queued
    std::thread([self = shared_from_this()] { self->work(); }).detach();
    thread_started_ = true;
  }
  queue_.push_back(std::move(item));
  queued_.fetch_add(1, std::memory_order_release);
  wake_.notify_one();
}

std::optional<Stream::Item> Stream::next() {
  spin_until([&] { return queued_.load(std::memory_order_acquire) != 0; });
  std::unique_lock lock(mutex_);
  // An idle thread ends after a while; the next operation starts another.
  constexpr auto kPatience = std::chrono::seconds(2);
  if (!wake_.wait_for(lock, kPatience, [&] { return !queue_.empty(); })) {
    thread_started_ = false;
    return std::nullopt;
  }
  std::optional<Item> item(std::move(queue_.front()));
  queue_.pop_front();
  queued_.fetch_sub(1, std::memory_order_relaxed);
  return item;
}

void Stream::work() {
  while (std::optional<Item> item = next()) execute(*item);
}

CUstreamAttrValue Stream::attribute(CUstreamAttrID id) const {
  const std::lock_guard lock(mutex_);
  const auto found = attributes_.find(id);
  return found == attributes_.end() ? CUstreamAttrValue{} : found->second;
}

void Stream::set_attribute(CUstreamAttrID id, const CUstreamAttrValue& value) {
  const std::lock_guard lock(mutex_);
  attributes_[id] = value;
}

std::shared_ptr<Capture> Stream::capture() const {
  if (!captured_.load(std::memory_order_acquire)) return nullptr;
  const std::lock_guard order(context_.order_);
  return capture_;
}

void Stream::set_capture(std::shared_ptr<Capture> capture) {
  const std::lock_guard order(context_.order_);
  capture_ = std::move(capture);
  captured_.store(capture_ != nullptr, std::memory_order_release);
}

} // namespace warplens::runtime
