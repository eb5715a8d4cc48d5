// SPDX-License-Identifier: Apache-2.0
// The basic blocks of a kernel with their counts, for the picture of its control flow.
#pragma once

#include "api/launch/launch.hpp"

namespace warplens::api {

std::vector<FlowBlock> flow_of(const ir::Function& kernel, const analyzers::Profile& profile);

} // namespace warplens::api
