// SPDX-License-Identifier: Apache-2.0
// Environment variables that pass the options of `warplens exec` to the drop-in libraries, and settings of libraries
// that have no other way to get them. Child processes inherit them.
#pragma once

#include <cstdlib>
#include <string_view>

namespace warplens::api::environment {

constexpr const char* kDevice = "WARPLENS_DEVICE";   ///< the GPU to emulate: a name or a device file
constexpr const char* kAnalyze = "WARPLENS_ANALYZE"; ///< set: reports as text, to stderr at exit
constexpr const char* kJson = "WARPLENS_JSON";       ///< whole path of the JSON report
constexpr const char* kHtml = "WARPLENS_HTML";       ///< whole path of the report as an HTML page
constexpr const char* kCsv = "WARPLENS_CSV";         ///< the same of the other files of
constexpr const char* kSarif = "WARPLENS_SARIF";     ///< api/report/report_files.hpp
constexpr const char* kJunit = "WARPLENS_JUNIT";
constexpr const char* kTrace = "WARPLENS_TRACE";              ///< whole path of a trace
constexpr const char* kTraceFilter = "WARPLENS_TRACE_FILTER"; ///< as filter_text() of api/trace/trace.hpp gives it
constexpr const char* kDetails = "WARPLENS_DETAILS";          ///< sections of the text report
constexpr const char* kShow = "WARPLENS_SHOW";                ///< kernels of the text report
constexpr const char* kCounters = "WARPLENS_COUNTERS";        ///< set: every counter in the text report
constexpr const char* kFailOn = "WARPLENS_FAIL_ON";           ///< conditions, one on a line
constexpr const char* kVerdict = "WARPLENS_VERDICT";        ///< whole path of a file that gets a line for each met one
constexpr const char* kRules = "WARPLENS_RULES";            ///< names or whole paths of rules, one on a line
constexpr const char* kAnalyzers = "WARPLENS_ANALYZERS";    ///< names, separated by commas
constexpr const char* kFirstLevel = "WARPLENS_L1";          ///< off, on or enlarged
constexpr const char* kPerBlock = "WARPLENS_PER_BLOCK";     ///< set: counters of each block
constexpr const char* kRegisters = "WARPLENS_REGISTERS";    ///< a number
constexpr const char* kProgress = "WARPLENS_PROGRESS";      ///< set: a progress line if stderr is a terminal
constexpr const char* kKernelName = "WARPLENS_KERNEL_NAME"; ///< regular expression
constexpr const char* kLaunchSkip = "WARPLENS_LAUNCH_SKIP"; ///< a number
constexpr const char* kLaunchCount = "WARPLENS_LAUNCH_COUNT";  ///< a number
constexpr const char* kTool = "WARPLENS_TOOL";                 ///< names, separated by commas: api/check/sanitizer.hpp
constexpr const char* kLeakCheck = "WARPLENS_LEAK_CHECK";      ///< full: report leaks
constexpr const char* kPrintLimit = "WARPLENS_PRINT_LIMIT";    ///< a number: messages of the tools
constexpr const char* kSave = "WARPLENS_SAVE";                 ///< whole path of a file for the tools' messages
constexpr const char* kXml = "WARPLENS_XML";                   ///< set: that file is XML, otherwise JSON
constexpr const char* kToolSarif = "WARPLENS_TOOL_SARIF";      ///< the same, of the tools' messages …
constexpr const char* kToolJunit = "WARPLENS_TOOL_JUNIT";      ///< … in other formats
constexpr const char* kSuppressions = "WARPLENS_SUPPRESSIONS"; ///< whole path
constexpr const char* kTrackUnused = "WARPLENS_TRACK_UNUSED_MEMORY";     ///< set: initcheck reports unused memory
constexpr const char* kIgnoreSameValues = "WARPLENS_IGNORE_SAME_VALUES"; ///< set: racecheck leaves such stores out
constexpr const char* kScheduleSeed = "WARPLENS_SCHEDULE_SEED";          ///< order of blocks and warps
constexpr const char* kToolVerdict =
    "WARPLENS_TOOL_VERDICT"; ///< whole path of a file that gets a line if there are errors
constexpr const char* kStrictAsync = "WARPLENS_STRICT_ASYNC"; ///< 1: LaunchOptions::strict_async
constexpr const char* kStrict = "WARPLENS_STRICT";            ///< 1: accesses past the end of an allocation are faults
constexpr const char* kCompile =
    "WARPLENS_COMPILE"; ///< off, auto or always: read by emulator/exec/state/kernel_code.cpp
constexpr const char* kPtxRun = "WARPLENS_PTX_RUN"; ///< abort: a failure of ptx_run() ends the process
constexpr const char* kLimits = "WARPLENS_LIMITS";  ///< "NAME=NUMBER,…": emulator/base/limits.hpp
/// The process that writes the JSON report under its exact name; all others append their process id to the name.
constexpr const char* kProcess = "WARPLENS_PROCESS";

constexpr const char* kTimeLimit = "WARPLENS_TIME_LIMIT"; ///< milliseconds …
constexpr const char* kTimeBegin = "WARPLENS_TIME_BEGIN"; ///< … from this time of the steady clock, in all processes
constexpr const char* kMaxMemory = "WARPLENS_MAX_MEMORY"; ///< bytes, of each process
constexpr const char* kMaxSteps = "WARPLENS_MAX_STEPS";   ///< warp instructions of a launch

/// Whether a variable that switches something on is set: not empty, and not 0.
inline bool is_on(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

} // namespace warplens::api::environment
