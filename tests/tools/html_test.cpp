// SPDX-License-Identifier: Apache-2.0
// --html of the subcommands: what is written, and what is refused before anything runs.
#include "tests/tools/program.hpp"

namespace warplens::testing {
namespace html_test {

const std::string kSample = WARPLENS_SOURCE_DIR "/samples/saxpy";

bool has_page() {
  const Folder folder;
  return run_program({"run", kSample, "--html", (folder.path() / "a.html").string()}).status == 0;
}

#define NEEDS_PAGE                                                                                                     \
  if (!has_page()) GTEST_SKIP() << "this build has no HTML page"

void expect_page(const std::filesystem::path& file) {
  const std::string text = read_text(file);
  EXPECT_TRUE(text.starts_with("<!doctype html>")) << file;
  EXPECT_TRUE(text.ends_with("</html>\n")) << file;
}

TEST(Html, EverySubcommandWritesAPage) {
  NEEDS_PAGE;
  const Folder folder;
  const auto in = [&](const char* name) { return (folder.path() / name).string(); };
  const std::string launch = kSample + "/launch.toml";
  EXPECT_EQ(
      run_program({"run", kSample, "--html", in("run.html"), "--json", in("a.json"), "--trace", in("t.h5")}).status, 0);
  expect_page(in("run.html"));
  EXPECT_EQ(run_program({"analyze", in("t.h5"), "--html", in("analyze.html")}).status, 0);
  expect_page(in("analyze.html"));
  EXPECT_EQ(run_program({"sweep", launch, "--block", "64,128", "--html", in("sweep.html")}).status, 0);
  expect_page(in("sweep.html"));
  EXPECT_EQ(run_program({"compare", in("a.json"), in("a.json"), "--html", in("compare.html")}).status, 0);
  expect_page(in("compare.html"));
  EXPECT_EQ(run_program({"exec", "--html", in("exec.html"), "--", WARPLENS_LAUNCHES, "2"}).status, 0);
  expect_page(in("exec.html"));
  EXPECT_EQ(run_program({"sweep", "--device", "h200,p100", "--html", in("devices.html"), "--", WARPLENS_LAUNCHES, "2"})
                .status,
            0);
  expect_page(in("devices.html"));
}

TEST(Html, TheSameRunGivesTheSamePage) {
  NEEDS_PAGE;
  const Folder folder;
  const std::string a = (folder.path() / "a.html").string(), b = (folder.path() / "b.html").string();
  EXPECT_EQ(run_program({"run", kSample, "--html", a, "--threads", "1"}).status, 0);
  EXPECT_EQ(run_program({"run", kSample, "--html", b, "--threads", "3"}).status, 0);
  EXPECT_EQ(read_text(a), read_text(b));
}

TEST(Html, IsRefusedBeforeTheRun) {
  NEEDS_PAGE;
  const Folder folder;
  const std::string launch = kSample + "/launch.toml", json = (folder.path() / "a.json").string(),
                    trace = (folder.path() / "t.h5").string();
  ASSERT_EQ(run_program({"run", kSample, "--json", json, "--trace", trace}).status, 0);
  const std::vector<std::vector<std::string>> commands = {{"run", kSample},
                                                          {"analyze", trace},
                                                          {"sweep", launch, "--block", "64"},
                                                          {"sweep", "--device", "h200", "--", WARPLENS_LAUNCHES, "2"},
                                                          {"compare", json, json}};
  for (std::vector<std::string> command : commands)
    for (const char* file : {"-", "", "/no such folder/a.html"}) {
      command.insert(command.begin() + 1, {"--html", file}); // before the words of a program
      const Output o = run_program(command);
      EXPECT_EQ(o.status, 2) << command.front() << " " << file;
      EXPECT_EQ(o.out, "") << command.front() << " " << file;
      EXPECT_NE(o.err.find("error: "), o.err.npos) << o.err;
      command.erase(command.begin() + 1, command.begin() + 3);
    }
  EXPECT_EQ(run_program({"exec", "--html", "/no such folder/a.html", "--", WARPLENS_LAUNCHES, "2"}).status, 2);
}

} // namespace html_test
} // namespace warplens::testing
