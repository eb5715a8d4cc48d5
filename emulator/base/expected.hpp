// SPDX-License-Identifier: Apache-2.0
// Errors are values: Expected<T> holds a T, or the diagnostics that explain why there is none.
//
//   Expected<Module> m = parse(text, "a.ptx");
//   if (!m) print(m.error());
#pragma once

#include "emulator/base/diagnostic.hpp"

#include <tl/expected.hpp>

namespace warplens {

template <class T> using Expected = tl::expected<T, Diagnostics>;

/// The error side of an Expected: `return failure("grid is zero");`
inline tl::unexpected<Diagnostics> failure(Diagnostics diagnostics) {
  return tl::unexpected<Diagnostics>(std::move(diagnostics));
}
inline tl::unexpected<Diagnostics> failure(std::string message, std::string hint = {}) {
  Diagnostics diagnostics;
  diagnostics.error({}, std::move(message), std::move(hint));
  return failure(std::move(diagnostics));
}

} // namespace warplens
