// SPDX-License-Identifier: Apache-2.0
// The report for people: one screen, then the sections that were asked for.
//
//   transpose_1d on NVIDIA H200 (compute capability 9.0)
//     transpose.ptx: 80 blocks of 256 threads, 640 warps
//
//     Limited by  memory
//     Predicted   4.1 µs (throughput-latency)
//     Occupancy   100 %: 8 blocks, 64 warps per multiprocessor; limited by warps
//
//   Most expensive lines: share of the accesses to memory
//      89 %  transpose.cu:9  out[x * height + y] = in[y * width + x];
//                            20480 sectors (ideal 2560), stride 512 bytes
//   Findings
//     1. warning: UncoalescedGlobalAccess, transpose.cu:9, PTX line 60
//        4-byte stores touch 32 sectors per request (ideal 4): neighbouring threads are 512 bytes apart
//
// Several launches begin with a table of their kernels.
#pragma once

#include "api/launch/launch.hpp"
#include "api/report/sections.hpp"
#include "api/report/style.hpp"

#include <map>
#include <span>
#include <string>

namespace warplens::api {

struct TextOptions {
  std::size_t columns = 100; ///< where lines wrap; tables may be wider
  bool graphics = false;     ///< bars and histograms
  Sections details;
  bool counters = false; ///< every counter, as counters() lists them
  bool hints = false;    ///< name the options of the command line that show more
  /// Texts of source files that are not in the file system, by the name in the module.
  std::map<std::string, std::string> sources{};
  bool quotes = true; ///< lines of CUDA source files that the module names; a trace may name any file
  /// Which kernels of the table to show, as on the command line: see parse_shown(). Empty: the first one; with details
  /// or counters, all.
  std::string shown;
};

/// Of an analysed launch; only the heading of a launch that was not analysed.
std::string text_report(const LaunchReport& report, const Style& style, const TextOptions& options = {});

/// Of all launches that did not trap. Error: `shown` names no kernel.
Expected<std::string> text_report(std::span<const LaunchReport> reports, const Style& style,
                                  const TextOptions& options);

/// All counters of a launch with the names that profilers use, their units and ideal values.
std::string counters(const LaunchReport& report, const Style& style);

} // namespace warplens::api
