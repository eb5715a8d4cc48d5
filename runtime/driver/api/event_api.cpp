// SPDX-License-Identifier: Apache-2.0
// Events. Recording and waiting are in stream_api.cpp.
#include "runtime/driver/machine/board.hpp"
#include "runtime/driver/machine/event.hpp"
#include "runtime/driver/machine/host_checks.hpp"
#include "runtime/driver/machine/serve.hpp"

using namespace warplens::runtime;

namespace {

std::shared_ptr<Event> find(CUevent handle) { return object_of(Machine::instance().events, handle); }

/// The host cannot use an event that represents nodes of a graph.
std::shared_ptr<Event> find_for_host(CUevent handle) {
  std::shared_ptr<Event> event = find(handle);
  require(event->captured().capture.expired(), CUDA_ERROR_CAPTURED_EVENT);
  return event;
}

} // namespace

extern "C" {

CUresult cuEventCreate(CUevent* event, unsigned int flags) {
  return serve([&](Context& context) {
    constexpr unsigned kKnown = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    require(event != nullptr && (flags & ~kKnown) == 0);
    const bool shared = (flags & CU_EVENT_INTERPROCESS) != 0;
    require(!shared || (flags & CU_EVENT_DISABLE_TIMING) != 0);
    *event = Machine::instance().events.add(
        std::make_shared<Event>(context, flags, shared ? Shared::make(SharedKind::event) : nullptr));
  });
}

CUresult cuEventDestroy_v2(CUevent event) {
  return serve_for(event,
                   [&] { require(Machine::instance().events.remove(event) != nullptr, CUDA_ERROR_INVALID_HANDLE); });
}

CUresult cuEventQuery(CUevent event) {
  return serve_for(event, [&](Context& context) {
    const std::shared_ptr<Mark> mark = find_for_host(event)->mark();
    if (mark && !mark->is_reached()) return CUDA_ERROR_NOT_READY;
    if (mark) host_waited_for(*mark);
    return context.fault();
  });
}

CUresult cuEventSynchronize(CUevent event) {
  return serve_for(event, [&](Context& context) {
    const std::shared_ptr<Mark> mark = find_for_host(event)->mark();
    if (mark) mark->wait();
    if (mark) host_waited_for(*mark);
    context.flush_printed();
    return context.fault();
  });
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return serve_for(start, [&](Context&) {
    require(milliseconds != nullptr);
    const std::shared_ptr<Event> events[] = {find(start), find(end)};
    std::chrono::steady_clock::time_point times[2];
    bool ready = true;
    for (int i = 0; i < 2; ++i) {
      const std::shared_ptr<Mark> mark = events[i]->mark();
      require(mark != nullptr && (events[i]->flags() & CU_EVENT_DISABLE_TIMING) == 0, CUDA_ERROR_INVALID_HANDLE);
      ready = ready && mark->is_reached();
      if (ready) times[i] = mark->when;
    }
    if (!ready) return CUDA_ERROR_NOT_READY;
    *milliseconds = std::chrono::duration<float, std::milli>(times[1] - times[0]).count();
    return CUDA_SUCCESS;
  });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}

} // extern "C"
