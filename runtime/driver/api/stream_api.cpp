// SPDX-License-Identifier: Apache-2.0
// Streams: operations and queries. Compiled twice: see default_stream.hpp.
#include "runtime/driver/api/default_stream.hpp"
#include "runtime/driver/graph/capture.hpp"
#include "runtime/driver/machine/event.hpp"
#include "runtime/driver/machine/host_checks.hpp"

#include <algorithm>

using namespace warplens::runtime;

namespace {

CUresult record(CUevent handle, CUstream stream_handle, unsigned flags, const char* function) {
  return serve_for(
      stream_handle,
      [&](Context& context) {
        const std::shared_ptr<Stream> stream = find_stream(context, stream_handle);
        const std::shared_ptr<Event> event = object_of(Machine::instance().events, handle);
        require(&event->context() == &context, CUDA_ERROR_INVALID_HANDLE);
        if (record_captured(*stream, handle, *event, (flags & CU_EVENT_RECORD_EXTERNAL) != 0)) return;
        std::shared_ptr<Mark> mark = event->next_mark();
        try {
          stream->submit(EventRecord{handle, mark});
        } catch (...) { // the stream refuses the record: nobody would reach the mark
          mark->reach();
          throw;
        }
        event->set_mark(std::move(mark));
      },
      function);
}

} // namespace

extern "C" {

#ifndef WARPLENS_PER_THREAD_DEFAULT_STREAM
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int priority) {
  return serve([&](Context& context) {
    require(stream != nullptr && (flags & ~unsigned{CU_STREAM_NON_BLOCKING}) == 0);
    // Priorities out of range are clamped.
    *stream = Machine::instance().streams.add(
        context.create_stream((flags & CU_STREAM_NON_BLOCKING) == 0, std::clamp(priority, -5, 0)));
  });
}

CUresult cuStreamCreate(CUstream* stream, unsigned int flags) { return cuStreamCreateWithPriority(stream, flags, 0); }

// Submitted work still runs.
CUresult cuStreamDestroy_v2(CUstream handle) {
  return serve_for(handle,
                   [&] { require(Machine::instance().streams.remove(handle) != nullptr, CUDA_ERROR_INVALID_HANDLE); });
}
#endif

CUresult PTSZ(cuStreamSynchronize)(CUstream handle) {
  return serve_for(handle, [&](Context& context) {
    find_stream(context, handle)->synchronize();
    context.flush_printed();
    return context.fault();
  });
}

CUresult PTSZ(cuStreamQuery)(CUstream handle) {
  return serve_for(handle, [&](Context& context) {
    const std::shared_ptr<Stream> stream = find_stream(context, handle);
    if (const std::shared_ptr<Capture> capturing = stream->capture())
      capturing->refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    if (!stream->idle()) return CUDA_ERROR_NOT_READY;
    host_waited_for(*stream);
    return context.fault();
  });
}

CUresult PTSZ(cuStreamWaitEvent)(CUstream handle, CUevent event_handle, unsigned int flags) {
  return serve_for(handle, [&](Context& context) {
    const std::shared_ptr<Stream> stream = find_stream(context, handle);
    const std::shared_ptr<Event> event = object_of(Machine::instance().events, event_handle);
    if (wait_captured(*stream, event_handle, *event, (flags & CU_EVENT_WAIT_EXTERNAL) != 0)) return;
    stream->submit(EventWait{event_handle, event->mark()});
  });
}

CUresult PTSZ(cuEventRecord)(CUevent event, CUstream stream) { return record(event, stream, 0, "cuEventRecord"); }

CUresult PTSZ(cuEventRecordWithFlags)(CUevent event, CUstream stream, unsigned int flags) {
  if ((flags & ~unsigned{CU_EVENT_RECORD_EXTERNAL}) != 0) return CUDA_ERROR_INVALID_VALUE;
  return record(event, stream, flags, "cuEventRecordWithFlags");
}

CUresult PTSZ(cuStreamAddCallback)(CUstream handle, CUstreamCallback callback, void* data, unsigned int flags) {
  return serve_for(handle, [&](Context& context) {
    require(callback != nullptr && flags == 0);
    find_stream(context, handle)->submit(StreamCallback{callback, handle, data});
  });
}

CUresult PTSZ(cuLaunchHostFunc)(CUstream handle, CUhostFn function, void* data) {
  return serve_for(handle, [&](Context& context) {
    require(function != nullptr);
    find_stream(context, handle)->submit(HostCall{function, data});
  });
}

CUresult PTSZ(cuStreamGetPriority)(CUstream handle, int* priority) {
  return serve_for(handle, [&](Context& context) {
    require(priority != nullptr);
    *priority = find_stream(context, handle)->priority();
  });
}

CUresult PTSZ(cuStreamGetFlags)(CUstream handle, unsigned int* flags) {
  return serve_for(handle, [&](Context& context) {
    require(flags != nullptr);
    *flags =
        find_stream(context, handle)->kind() == Stream::Kind::non_blocking ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT;
  });
}

CUresult PTSZ(cuStreamGetId)(CUstream handle, unsigned long long* id) {
  return serve_for(handle, [&](Context& context) {
    require(id != nullptr);
    *id = find_stream(context, handle)->id();
  });
}

CUresult PTSZ(cuStreamGetCtx)(CUstream handle, CUcontext* result) {
  return serve_for(handle, [&](Context& context) {
    require(result != nullptr);
    *result = Registry<Context, CUcontext>::handle(&find_stream(context, handle)->context());
  });
}

CUresult PTSZ(cuStreamGetDevice)(CUstream handle, CUdevice* device) {
  return serve_for(handle, [&](Context& context) {
    require(device != nullptr);
    find_stream(context, handle);
    *device = kDevice;
  });
}

} // extern "C"
