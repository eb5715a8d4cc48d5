// SPDX-License-Identifier: Apache-2.0
// The HTML page that shows a report: one file without references to others, which a browser opens from disk.
//
//   if (Expected<std::string> page = html_page(json_report(device, launches, kForPage))) … write it to a file
//
// The page is made of frontend/ when Warplens is built, and shows any document of Warplens in JSON: a report, a sweep,
// a comparison.
#pragma once

#include "emulator/base/expected.hpp"

#include <string>
#include <string_view>

namespace warplens::api {

/// Whether this build has the page. Error: it says what the build lacked.
Expected<void> check_html();

/// The page with the document in it. Error: as check_html(); no document, or one of 4 GiB or more.
Expected<std::string> html_page(std::string_view json);

} // namespace warplens::api
