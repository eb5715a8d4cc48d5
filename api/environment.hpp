// How `warplens exec` tells the drop-in libraries what it was asked for: variables of the environment, which the
// program's children inherit.
#pragma once

namespace warplens::api::environment {

constexpr const char* kDevice = "WARPLENS_DEVICE";            ///< the GPU to imitate: a name, or a device file
constexpr const char* kAnalyze = "WARPLENS_ANALYZE";          ///< set: reports as text, to stderr at exit
constexpr const char* kJson = "WARPLENS_JSON";                ///< whole path of the JSON report
constexpr const char* kKernelName = "WARPLENS_KERNEL_NAME";   ///< regular expression
constexpr const char* kLaunchSkip = "WARPLENS_LAUNCH_SKIP";   ///< a number
constexpr const char* kLaunchCount = "WARPLENS_LAUNCH_COUNT"; ///< a number
/// The process that writes the JSON report by its name; all others append their number to it.
constexpr const char* kProcess = "WARPLENS_PROCESS";

} // namespace warplens::api::environment
