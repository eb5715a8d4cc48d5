// SPDX-License-Identifier: Apache-2.0
// The page without its data, which frontend/CMakeLists.txt generates as C++.
#pragma once

#include <string_view>

namespace warplens::api {

struct HtmlTemplate {
  std::string_view before, after; ///< the data
};
HtmlTemplate html_template();

} // namespace warplens::api
