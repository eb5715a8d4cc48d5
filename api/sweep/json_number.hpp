// SPDX-License-Identifier: Apache-2.0
// Whole numbers in JSON. nlohmann's own get() also converts fractions and negative numbers, and the result of 2e73 as
// an integer is undefined.
//
//   whole_number(json.at("line"))     throws nlohmann's exceptions
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>

namespace warplens::api {

template <class Json> std::uint64_t whole_number(const Json& json) {
  if (!json.is_number_unsigned()) throw Json::type_error::create(302, "expected a whole number from 0", &json);
  return json.template get<std::uint64_t>();
}

} // namespace warplens::api
