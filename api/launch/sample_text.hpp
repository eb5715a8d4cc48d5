// SPDX-License-Identifier: Apache-2.0
// What a report says of a launch of which only some blocks were watched.
//
//   text_of(*report.profile.sample) == "sampled: the accesses of 656 of 65536 blocks (1 %) are counted, …"
#pragma once

#include "analyzers/sampling.hpp"

#include <string>

namespace warplens::api {

std::string text_of(const analyzers::SampleReport& sample);

} // namespace warplens::api
