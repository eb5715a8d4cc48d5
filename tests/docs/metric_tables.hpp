// SPDX-License-Identifier: Apache-2.0
// What docs/ says of the metrics, made from analyzers/metrics.def.
#pragma once

#include <string>

namespace warplens::docs {

/// docs/metrics.md.
std::string metrics_page();
/// docs/json-schema.json with the metrics as they are declared now, from the text that it has.
std::string with_metrics(const std::string& schema);

} // namespace warplens::docs
