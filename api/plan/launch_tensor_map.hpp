// SPDX-License-Identifier: Apache-2.0
// [tensor_map.x] of a launch file: a tensor map of a buffer.
//
//   [tensor_map.a]
//   buffer = "matrix"
//   size = [64, 32]         # elements, the innermost dimension first
//   box = [64, 8]           # elements that a copy takes
//   swizzle = 128           # bytes; default 0
//
//   arg = [{ tensor_map = "a" }]
#pragma once

#include "api/plan/plan.hpp"
#include "emulator/base/toml.hpp"

#include <functional>
#include <span>

namespace warplens::api {

using LaunchFileComplaint = std::function<void(const toml::source_region&, std::string)>;

/// Reads what the table says; the map is made when the buffer has an address.
TensorMapPlan read_tensor_map(const toml::table& table, std::string name, const LaunchFileComplaint& complain);

/// The keys of the table.
std::span<const std::string_view> tensor_map_keys();

/// The map in memory at `address`, whose elements have the type of the buffer unless the plan names another one.
Expected<exec::TensorMap> made(const TensorMapPlan& plan, std::uint64_t address, Type type_of_buffer);

} // namespace warplens::api
