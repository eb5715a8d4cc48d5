// Launches: from the arguments of cuLaunchKernel to a KernelLaunch that can be performed, now or later, once or often.
// All launches of the process pass through perform_launch().
#pragma once

#include "runtime/driver/machine/operation.hpp"

namespace warplens::runtime {

/// Told of the launches: `warplens exec` reports them. Its functions are called by the threads of streams.
class Observer {
public:
  virtual ~Observer() = default;
  /// Whether this launch shall be analysed; it is only run otherwise. Kernels that kernels launch are asked for, too.
  virtual bool selects(std::string_view kernel) = 0;
  /// Of a launch that was selected, after it has ended, or has stopped.
  virtual void finished(const api::LaunchReport& report) = 0;
};

/// Null: nobody is told. Before the first launch.
void set_observer(std::shared_ptr<Observer> observer);

/// Copies the arguments into the launch, from `kernelParams` or `extra` of cuLaunchKernel. Throws Failure
/// CUDA_ERROR_INVALID_VALUE: neither or both are given, or a buffer of the wrong size.
void set_arguments(KernelLaunch& launch, void** parameters, void** extra);

/// Throws Failure with CUDA's code for a configuration that the device or the kernel does not allow.
void check(const KernelLaunch& launch);

/// Runs the kernel. What goes wrong is told to the user and becomes the context's fault.
void perform_launch(const KernelLaunch& launch, Context& context);

} // namespace warplens::runtime
