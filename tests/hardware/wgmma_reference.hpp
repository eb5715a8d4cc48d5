// SPDX-License-Identifier: Apache-2.0
// What an H200 answers to a product of a warp group, by the rule that was found, element by element.
//
// Integers and bits are exact. Floating point: products are exact. All products of an element of D (those of a sparse A
// that are kept) and the accumulator are added at once: each is truncated, towards zero, at a fixed distance below the
// largest exponent among them, the exponent of a product being the sum of its factors' exponents; the sum is exact.
#pragma once

#include "tests/hardware/wgmma_forms.hpp"

namespace warplens::tests {

/// D, in words by register and thread.
std::vector<std::uint32_t> wgmma_reference(const WgmmaForm& form, const WgmmaInput& input);

} // namespace warplens::tests
