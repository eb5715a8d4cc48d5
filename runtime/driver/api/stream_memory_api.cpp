// SPDX-License-Identifier: Apache-2.0
// Waiting for and writing memory words in streams; attributes of streams. Compiled twice: see default_stream.hpp.
#include "runtime/driver/api/default_stream.hpp"

#include <thread>

using namespace warplens::runtime;

namespace {

template <class Word> bool holds(Word word, Word value, unsigned flags) {
  constexpr unsigned kComparison = 3;
  switch (flags & kComparison) {
  case CU_STREAM_WAIT_VALUE_GEQ: return static_cast<std::make_signed_t<Word>>(word - value) >= 0; // may wrap around
  case CU_STREAM_WAIT_VALUE_EQ: return word == value;
  case CU_STREAM_WAIT_VALUE_AND: return (word & value) != 0;
  default: return static_cast<Word>(~(word | value)) != 0;
  }
}

template <class Word> void require_word(CUdeviceptr address) {
  require(address % sizeof(Word) == 0 && Machine::instance().memory().covers(address, sizeof(Word)));
}

template <class Word> Work waiting(CUdeviceptr address, Word value, unsigned flags) {
  require_word<Word>(address);
  require((flags & ~(3u | unsigned{CU_STREAM_WAIT_VALUE_FLUSH})) == 0);
  return {[=] {
    const auto* const word = reinterpret_cast<const Word*>(address);
    while (!holds(__atomic_load_n(word, __ATOMIC_ACQUIRE), value, flags)) std::this_thread::yield();
  }};
}

template <class Word> Work writing(CUdeviceptr address, Word value, unsigned flags) {
  require_word<Word>(address);
  require((flags & ~unsigned{CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER}) == 0);
  return {[=] {
    const auto writing = Machine::instance().memory().writing();
    tell_written(address, sizeof(Word));
    __atomic_store_n(reinterpret_cast<Word*>(address), value, __ATOMIC_RELEASE);
  }};
}

Work work_of(const CUstreamBatchMemOpParams& p) {
  switch (p.operation) {
  case CU_STREAM_MEM_OP_WAIT_VALUE_32: return waiting(p.waitValue.address, p.waitValue.value, p.waitValue.flags);
  case CU_STREAM_MEM_OP_WAIT_VALUE_64: return waiting(p.waitValue.address, p.waitValue.value64, p.waitValue.flags);
  case CU_STREAM_MEM_OP_WRITE_VALUE_32: return writing(p.writeValue.address, p.writeValue.value, p.writeValue.flags);
  case CU_STREAM_MEM_OP_WRITE_VALUE_64: return writing(p.writeValue.address, p.writeValue.value64, p.writeValue.flags);
  case CU_STREAM_MEM_OP_BARRIER: return {[] {}}; // streams are in order anyway
  default: throw Failure{CUDA_ERROR_INVALID_VALUE, {}};
  }
}

} // namespace

extern "C" {

CUresult PTSZ(cuStreamWaitValue32_v2)(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return serve_for(stream,
                   [&](Context& context) { find_stream(context, stream)->submit(waiting(address, value, flags)); });
}

CUresult PTSZ(cuStreamWaitValue64_v2)(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
  return serve_for(stream,
                   [&](Context& context) { find_stream(context, stream)->submit(waiting(address, value, flags)); });
}

CUresult PTSZ(cuStreamWriteValue32_v2)(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return serve_for(stream,
                   [&](Context& context) { find_stream(context, stream)->submit(writing(address, value, flags)); });
}

CUresult PTSZ(cuStreamWriteValue64_v2)(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
  return serve_for(stream,
                   [&](Context& context) { find_stream(context, stream)->submit(writing(address, value, flags)); });
}

CUresult PTSZ(cuStreamBatchMemOp_v2)(CUstream handle, unsigned int count, CUstreamBatchMemOpParams* operations,
                                     unsigned int flags) {
  return serve_for(handle, [&](Context& context) {
    require(operations != nullptr && count <= 256 && flags == 0);
    const std::shared_ptr<Stream> stream = find_stream(context, handle);
    std::vector<Work> all;
    for (unsigned i = 0; i < count; ++i) all.push_back(work_of(operations[i]));
    for (Work& work : all) stream->submit(std::move(work));
  });
}

CUresult PTSZ(cuStreamGetAttribute)(CUstream stream, CUstreamAttrID id, CUstreamAttrValue* value) {
  return serve_for(stream, [&](Context& context) {
    require(value != nullptr);
    const std::shared_ptr<Stream> found = find_stream(context, stream);
    *value = found->attribute(id);
    if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY) value->priority = found->priority();
  });
}

// Hints for caches and scheduling: stored, but without effect.
CUresult PTSZ(cuStreamSetAttribute)(CUstream stream, CUstreamAttrID id, const CUstreamAttrValue* value) {
  return serve_for(stream, [&](Context& context) {
    require(value != nullptr);
    require(id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW || id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY ||
            id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP || id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN ||
            id == CU_LAUNCH_ATTRIBUTE_PRIORITY);
    find_stream(context, stream)->set_attribute(id, *value);
  });
}

CUresult PTSZ(cuStreamCopyAttributes)(CUstream to, CUstream from) {
  return serve_for(to, [&](Context& context) {
    const std::shared_ptr<Stream> source = find_stream(context, from), target = find_stream(context, to);
    for (const CUstreamAttrID id :
         {CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY})
      target->set_attribute(id, source->attribute(id));
  });
}

} // extern "C"
