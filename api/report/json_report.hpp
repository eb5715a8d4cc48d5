// SPDX-License-Identifier: Apache-2.0
// The report as JSON, schema in docs/json-schema.json. The same launches give the same text, byte for byte: it has no
// emulation times, no number of threads, and no paths except those that the user specified.
//
//   { "warplens": "0.2.0", "device": { "name": "Tesla C1060", … }, "launches": [ { "kernel": "saxpy", … } ] }
#pragma once

#include "api/report/timeline.hpp"

#include <span>
#include <string>

namespace warplens::api {

enum class JsonLaunches {
  whole,
  folded, ///< those whose report equals an earlier one refer to it: json_fold.hpp
};

/// In the layout of json_layout.hpp. `operations`: of a program, for its timeline.
std::string json_report(const model::Device& device, std::span<const LaunchReport> launches,
                        std::span<const ProgramOperation> operations = {}, JsonLaunches form = JsonLaunches::whole);

/// The same on one line, with what only the page of api/html/ shows: source texts, control flow, curves of the
/// occupancy, parameters of the device, meanings of the metrics.
std::string json_for_page(const model::Device& device, std::span<const LaunchReport> launches,
                          std::span<const ProgramOperation> operations = {});

} // namespace warplens::api
