// SPDX-License-Identifier: Apache-2.0
// The numbers of a device, each with its source.
//
//   device_facts(*model::find_device("c1060"), style) contains "multiprocessors  30  CUDA C Programming Guide 2.0"
#pragma once

#include "api/report/catalogue.hpp"
#include "api/report/style.hpp"

#include <string>

namespace warplens::tools {

std::string device_facts(const model::Device& device, const api::Style& style);

} // namespace warplens::tools
