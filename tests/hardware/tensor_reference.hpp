// SPDX-License-Identifier: Apache-2.0
// What an H200 does with a copy by tensor map, by the rules that were found, element by element.
#pragma once

#include "tests/hardware/tensor_questions.hpp"

#include <optional>

namespace warplens::tests {

struct TensorAnswer {
  int error = 0;                             ///< CUresult of the kernel
  int bytes = 0;                             ///< that each barrier of the mask is told of
  std::vector<std::uint32_t> shared, memory; ///< afterwards
};

/// Nothing: no rule is known.
std::optional<TensorAnswer> tensor_reference(const TensorQuestion& q);

} // namespace warplens::tests
