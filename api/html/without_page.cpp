// SPDX-License-Identifier: Apache-2.0
// A build without the tools that make the page.
#include "api/html/page.hpp"

namespace warplens::api {

Expected<void> check_html() {
  return failure("this build of Warplens has no HTML page: it was made " WARPLENS_HTML_MADE,
                 "install what is missing and build again with -DWARPLENS_HTML=ON, or use --json");
}

Expected<std::string> html_page(std::string_view) { return failure(check_html().error()); }

} // namespace warplens::api
