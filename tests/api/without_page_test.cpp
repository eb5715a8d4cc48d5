// SPDX-License-Identifier: Apache-2.0
// A build without the page says what it lacked.
#include "api/html/page.hpp"

#include <gtest/gtest.h>

namespace warplens::api {
namespace without_page_test {

TEST(WithoutPage, SaysWhatIsMissing) {
  for (const auto& errors : {check_html().error(), html_page("{}").error()}) {
    EXPECT_NE(errors.list().front().message.find("without esbuild"), std::string::npos);
    EXPECT_NE(errors.list().front().hint.find("WARPLENS_HTML=ON"), std::string::npos);
  }
}

} // namespace without_page_test
} // namespace warplens::api
