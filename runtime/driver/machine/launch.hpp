// SPDX-License-Identifier: Apache-2.0
// Launches: from the arguments of cuLaunchKernel to a KernelLaunch that can run immediately, later, or repeatedly. All
// launches of the process use perform_launch().
#pragma once

#include "runtime/driver/machine/operation.hpp"

namespace warplens::runtime {

/// Notified of launches, for the reports of `warplens exec`. The threads of the streams call its functions.
class Observer {
public:
  virtual ~Observer() = default;
  /// Whether to analyze this launch, or only to run it. Also called for kernels that kernels launch.
  virtual bool selects(std::string_view kernel) = 0;
  /// What to count for the selected launches.
  [[nodiscard]] virtual const api::LaunchOptions& counts() const = 0;
  /// Called for a selected launch after it has completed or stopped. `copy`: of AnalysisProcesses, which analyses it;
  /// 0: the report is complete.
  virtual void finished(const api::LaunchReport& report, std::uint64_t copy) = 0;
};

/// Null: no observer. Call this before the first launch.
void set_observer(std::shared_ptr<Observer> observer);

/// Copies the arguments into the launch, from `kernelParams` or `extra` of cuLaunchKernel. Throws Failure
/// CUDA_ERROR_INVALID_VALUE if neither or both are given, or if a buffer has the wrong size.
void set_arguments(KernelLaunch& launch, void** parameters, void** extra);

/// Throws Failure with CUDA's code for a configuration that the device or the kernel does not allow.
void check(const KernelLaunch& launch);

/// Runs the kernel. Errors are reported to the user and become the context's fault.
void perform_launch(const KernelLaunch& launch, Context& context);

} // namespace warplens::runtime
