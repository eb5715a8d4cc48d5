// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/calls/library_call.hpp"

#include "emulator/base/limits.hpp"
#include "emulator/exec/block/cta.hpp"
#include "emulator/exec/state/device_runtime.hpp"

#include <algorithm>

namespace warplens::exec {

namespace {

/// cudaError_t (driver_types.h).
enum class Error : int {
  success = 0,
  invalid_value = 1,
  memory_allocation = 2,
  invalid_configuration = 9,
  launch_max_depth_exceeded = 65,
  launch_pending_count_exceeded = 69,
  invalid_device_function = 98,
  invalid_resource_handle = 400,
  launch_out_of_resources = 701,
  not_supported = 801
};

/// The names and descriptions of these errors in CUDA.
struct ErrorText {
  Error error;
  const char *name, *text;
};
constexpr ErrorText kErrors[] = {
    {Error::success, "cudaSuccess", "no error"},
    {Error::invalid_value, "cudaErrorInvalidValue", "invalid argument"},
    {Error::memory_allocation, "cudaErrorMemoryAllocation", "out of memory"},
    {Error::invalid_configuration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {Error::launch_max_depth_exceeded, "cudaErrorLaunchMaxDepthExceeded",
     "launch would exceed maximum depth of nested launches"},
    {Error::launch_pending_count_exceeded, "cudaErrorLaunchPendingCountExceeded",
     "launch would exceed maximum number of pending launches"},
    {Error::invalid_device_function, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {Error::invalid_resource_handle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {Error::launch_out_of_resources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {Error::not_supported, "cudaErrorNotSupported", "operation not supported"},
};

// Special streams: the block's own, its two aliases, and those of the grid (cuda_device_runtime_api.h).
constexpr std::uint64_t kLastDefaultStream = 2, kTailLaunch = 3, kFireAndForget = 4;
constexpr std::uint64_t kFirstHandle = 16; ///< first handle of streams and events created by kernels

constexpr int kVersion = 13000; ///< cudaRuntimeGetVersion()

using Dimensions = std::array<std::uint32_t, 3>;

bool is_possible(const Dimensions& grid, const Dimensions& block) {
  constexpr Dimensions kMostBlocks{0x7fffffff, 65535, 65535}, kMostThreads{1024, 1024, 64};
  for (std::size_t i = 0; i < 3; ++i)
    if (grid[i] == 0 || grid[i] > kMostBlocks[i] || block[i] == 0 || block[i] > kMostThreads[i]) return false;
  return std::uint64_t{block[0]} * block[1] * block[2] <= 1024;
}

class Request {
public:
  Request(LibraryCall& call, DeviceRuntime& runtime, Heap& heap) : call_(call), runtime_(runtime), heap_(heap) {}

  bool run() {
    using enum ir::Library;
    switch (call_.function()) {
    case get_parameter_buffer: return give_buffer(call_.address(1), {});
    case get_parameter_buffer_v2: return configured_buffer();
    case launch_device: return launch_unconfigured();
    case launch_device_v2: return launch(call_.address(0), call_.address(1));
    case stream_create:
    case event_create: return make_handle();
    case stream_destroy:
    case event_destroy: return answer(is_handle(call_.address(0)) ? Error::success : Error::invalid_resource_handle);
    case event_record: return answer(check(call_.address(1), call_.address(0)));
    case stream_wait_event: return answer(check(call_.address(0), call_.address(1)));
    case get_last_error: return last_error(true);
    case peek_at_last_error: return last_error(false);
    case get_error_name: return text(&ErrorText::name);
    case get_error_string: return text(&ErrorText::text);
    case get_device: return give(0);
    case get_device_count: return give(1);
    case runtime_get_version: return give(kVersion);
    case cuda_malloc: return allocate();
    case cuda_free: return release();
    case memcpy_async: return copy();
    case memset_async: return fill();
    default: return answer(Error::not_supported);
    }
  }

private:
  bool configured_buffer() {
    DeviceLaunch launch;
    const std::optional<std::uint32_t> kernel = kernel_at(call_.address(0));
    launch.grid = extent(1);
    launch.block = extent(2);
    launch.shared_bytes = call_.argument(3, 4);
    if (!kernel) return give_no_buffer(Error::invalid_device_function);
    if (!is_possible(launch.grid, launch.block)) return give_no_buffer(Error::invalid_configuration);
    launch.kernel = *kernel;
    return give_buffer(parameter_layout(call_.module().functions[*kernel]).back(), std::move(launch));
  }

  bool give_buffer(std::uint64_t bytes, DeviceLaunch launch) {
    const std::uint64_t buffer = heap_.allocate(bytes);
    if (buffer == 0) return give_no_buffer(Error::launch_out_of_resources);
    launch.parameters.resize(bytes);
    runtime_.buffers[buffer] = std::move(launch);
    call_.result(buffer, call_.address_bytes());
    return true;
  }

  bool give_no_buffer(Error why) {
    set_error(why);
    call_.result(0, call_.address_bytes());
    return true;
  }

  // (function, buffer, grid, block, shared, stream)
  bool launch_unconfigured() {
    const auto found = runtime_.buffers.find(call_.address(1));
    if (found == runtime_.buffers.end()) return answer(Error::invalid_value);
    const std::optional<std::uint32_t> kernel = kernel_at(call_.address(0));
    DeviceLaunch& launch = found->second;
    launch.grid = extent(2);
    launch.block = extent(3);
    launch.shared_bytes = call_.argument(4, 4);
    if (kernel) launch.kernel = *kernel;
    const Error why = !kernel                                   ? Error::invalid_device_function
                      : !is_possible(launch.grid, launch.block) ? Error::invalid_configuration
                      : launch.parameters.size() < parameter_layout(function(*kernel)).back() ? Error::invalid_value
                                                                                              : Error::success;
    if (why != Error::success) {
      discard(found);
      return answer(why);
    }
    launch.parameters.resize(parameter_layout(function(*kernel)).back());
    return this->launch(found->first, call_.address(5));
  }

  // The kernel gets the current content of the buffer; CUDA does not allow later writes to it.
  bool launch(std::uint64_t buffer, std::uint64_t stream) {
    const auto found = runtime_.buffers.find(buffer);
    if (found == runtime_.buffers.end()) return answer(Error::invalid_value);
    const Error why = !is_stream(stream)                            ? Error::invalid_resource_handle
                      : runtime_.depth >= DeviceRuntime::kMostDepth ? Error::launch_max_depth_exceeded
                      : is_full()                                   ? Error::launch_pending_count_exceeded
                                                                    : Error::success;
    if (why == Error::success) {
      std::vector<std::byte>& bytes = found->second.parameters;
      const auto* const from = reinterpret_cast<const std::byte*>(buffer);
      std::copy_n(from, bytes.size(), bytes.begin());
      ask(stream, std::move(found->second));
    }
    discard(found);
    return answer(why);
  }

  void discard(std::map<std::uint64_t, DeviceLaunch>::iterator buffer) {
    heap_.free(buffer->first);
    runtime_.buffers.erase(buffer);
  }

  [[nodiscard]] bool is_full() const {
    return !limits::kDeviceOperations.admits(runtime_.in_order.size() + runtime_.tail.size() + 1);
  }

  void ask(std::uint64_t stream, DeviceOperation operation) {
    (stream == kTailLaunch ? runtime_.tail : runtime_.in_order).push_back(std::move(operation));
  }

  // (to, from, bytes, kind, stream)
  bool copy() {
    const DeviceCopy c{call_.address(0), call_.address(1), call_.address(2)};
    if (!is_stream(call_.address(4))) return answer(Error::invalid_resource_handle);
    if (is_full()) return answer(Error::launch_pending_count_exceeded);
    if (!call_.is_global(c.from, c.bytes)) return call_.out_of_bounds(AccessKind::load, c.from, c.bytes);
    if (!call_.is_global(c.to, c.bytes)) return call_.out_of_bounds(AccessKind::store, c.to, c.bytes);
    ask(call_.address(4), c);
    return answer(Error::success);
  }

  // (to, value, bytes, stream)
  bool fill() {
    const DeviceFill f{call_.address(0), call_.address(2), static_cast<std::byte>(call_.argument(1, 1))};
    if (!is_stream(call_.address(3))) return answer(Error::invalid_resource_handle);
    if (is_full()) return answer(Error::launch_pending_count_exceeded);
    if (!call_.is_global(f.to, f.bytes)) return call_.out_of_bounds(AccessKind::store, f.to, f.bytes);
    ask(call_.address(3), f);
    return answer(Error::success);
  }

  bool allocate() {
    const std::uint64_t block = heap_.allocate(call_.address(1), call_.user());
    if (block != 0) call_.fresh(block, call_.address(1));
    if (!call_.store(call_.address(0), block, call_.address_bytes())) return false;
    return answer(block == 0 ? Error::memory_allocation : Error::success);
  }

  bool release() {
    const std::uint64_t address = call_.address(0);
    return answer(address == 0 || heap_.free(address, call_.user()) ? Error::success : Error::invalid_value);
  }

  bool make_handle() {
    return call_.store(call_.address(0), kFirstHandle + runtime_.handles++, call_.address_bytes()) &&
           answer(Error::success);
  }

  bool give(std::uint64_t value) { return call_.store(call_.address(0), value, 4) && answer(Error::success); }

  bool last_error(bool clear) {
    int& error = runtime_.errors[{call_.cta(), call_.thread()}];
    call_.result(static_cast<std::uint64_t>(error), 4);
    if (clear) error = 0;
    return true;
  }

  bool text(const char* ErrorText::*which) {
    const char* text = "unrecognized error code";
    for (const ErrorText& e : kErrors)
      if (static_cast<std::uint64_t>(e.error) == call_.argument(0, 4)) text = e.*which;
    std::uint64_t& copy = runtime_.texts[text];
    if (copy == 0) {
      const std::size_t bytes = std::strlen(text) + 1;
      copy = heap_.allocate(bytes);
      if (copy != 0) std::memcpy(reinterpret_cast<void*>(copy), text, bytes);
    }
    call_.result(copy, call_.address_bytes());
    return true;
  }

  bool answer(Error error) {
    if (error != Error::success) set_error(error);
    call_.result(static_cast<std::uint64_t>(error), 4);
    return true;
  }

  void set_error(Error error) { runtime_.errors[{call_.cta(), call_.thread()}] = static_cast<int>(error); }

  // The order of the calls already satisfies all streams and events.
  [[nodiscard]] Error check(std::uint64_t stream, std::uint64_t event) const {
    return is_stream(stream) && is_handle(event) ? Error::success : Error::invalid_resource_handle;
  }
  [[nodiscard]] bool is_handle(std::uint64_t handle) const {
    return handle >= kFirstHandle && handle - kFirstHandle < runtime_.handles;
  }
  [[nodiscard]] bool is_stream(std::uint64_t stream) const {
    return stream <= kLastDefaultStream || stream == kTailLaunch || stream == kFireAndForget || is_handle(stream);
  }

  [[nodiscard]] Dimensions extent(std::size_t number) const {
    Dimensions e{};
    for (std::uint32_t i = 0; i < 3; ++i) e[i] = static_cast<std::uint32_t>(call_.argument(number, 4, 4 * i));
    return e;
  }

  [[nodiscard]] const ir::Function& function(std::uint32_t index) const { return call_.module().functions[index]; }
  [[nodiscard]] std::optional<std::uint32_t> kernel_at(std::uint64_t address) const {
    const std::vector<ir::Function>& functions = call_.module().functions;
    for (std::uint32_t f = 0; f < functions.size(); ++f)
      if (function_address(f, call_.module().address_size) == address && functions[f].is_entry && functions[f].has_body)
        return f;
    return std::nullopt;
  }

  LibraryCall& call_;
  DeviceRuntime& runtime_;
  Heap& heap_;
};

} // namespace

bool run_device_runtime(LibraryCall& call) {
  const Launch& launch = call.worker().launch;
  if (launch.device_runtime != nullptr && launch.heap != nullptr)
    return Request(call, *launch.device_runtime, *launch.heap).run();
  return call.stop(Trap::Kind::invalid_call, "there is no memory for the device heap, which device-side launches need");
}

} // namespace warplens::exec
