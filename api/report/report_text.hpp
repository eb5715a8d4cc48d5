// SPDX-License-Identifier: Apache-2.0
// The report for people.
//
//   transpose_1d on NVIDIA H200 (compute capability 9.0)
//     80 blocks of 256 threads: 640 warps; a warp is 32 threads that run in lockstep
//   …
//   Findings
//     1. warning: UncoalescedGlobalAccess, transpose.cu:8 (PTX line 34)
//        4-byte stores touch 32 sectors per request (ideal 4): neighbouring threads are 512 bytes apart
#pragma once

#include "api/plan/plan.hpp"
#include "api/report/style.hpp"

namespace warplens::api {

/// The full report of an analysed launch; only the heading of a launch that was not analysed.
std::string text_report(const api::LaunchReport& report, const Style& style);

/// All counters of a launch with the names that profilers use, their units and ideal values.
std::string counters(const api::LaunchReport& report, const Style& style);

} // namespace warplens::api
