// SPDX-License-Identifier: Apache-2.0
// Machine code is made in another process, whose end must not be that of the program.
#include "emulator/exec/compile/llvm/worker.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace warplens::exec::compile {
namespace compile_worker_test {

namespace fs = std::filesystem;

constexpr std::string_view kLevel = "x86-64-v4";
constexpr std::string_view kModule = R"(
target triple = "x86_64-pc-linux-gnu"
define i32 @head_0(i32 %a) {
  %b = mul i32 %a, 3
  ret i32 %b
}
)";

struct Answer {
  std::optional<std::string> code;
  std::string problem;
};

Answer ask(Worker& worker, std::string_view module, const std::string& program = WARPLENS_COMPILE_WORKER) {
  Answer a;
  a.code = worker.code_of(program, kLevel, module, a.problem);
  return a;
}

void expect_code(const Answer& a) {
  ASSERT_TRUE(a.code);
  EXPECT_EQ(a.code->substr(0, 8), "!<arch>\n");
  EXPECT_EQ(a.problem, "");
}

void expect_none(const Answer& a, std::string_view problem) {
  ASSERT_TRUE(a.code);
  EXPECT_EQ(*a.code, "");
  EXPECT_NE(a.problem.find(problem), std::string::npos) << a.problem;
}

// A program that does something else.
std::string script(const std::string& command) {
  const fs::path file = fs::path(::testing::TempDir()) / ("worker_" + std::to_string(getpid()));
  std::ofstream(file) << "#!/bin/sh\n" << command << "\n";
  chmod(file.c_str(), 0755);
  return file;
}

std::string endless_module() {
  std::ifstream in(WARPLENS_TEST_DATA "/compiler/endless.ll");
  return {std::istreambuf_iterator<char>(in), {}};
}

double seconds_of(const std::function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(CompileWorker, MakesMachineCode) {
  Worker worker(60);
  for (int i = 0; i < 3; ++i) expect_code(ask(worker, kModule));
}

// Each thread takes some of the bodies, and the heads that enter them.
TEST(CompileWorker, DividesLongModulesAmongThreads) {
  std::string module = "target triple = \"x86_64-pc-linux-gnu\"\n";
  for (const std::string i : {"0", "1", "2"})
    module += "define internal i32 @body." + i +
              "(i32 %a) noinline \"warplens-length\"=\"9000\" {\n  %b = mul i32 %a, " + i +
              "\n  ret i32 %b\n}\ndefine i32 @head_" + i + "(i32 %a) {\n  %b = call i32 @body." + i +
              "(i32 %a)\n  ret i32 %b\n}\n";
  Worker worker(60);
  const Answer a = ask(worker, module);
  expect_code(a);
  const auto count = [&](const std::string& text) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = a.code->find(text, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(count("\x7f"
                  "ELF"),
            std::min(3u, std::max(1u, std::thread::hardware_concurrency())));
  for (const std::string i : {"0", "1", "2"}) EXPECT_EQ(count(std::string("head_") + i + '\0'), 1u);
}

TEST(CompileWorker, SaysWhatIsWrongWithAModule) {
  Worker worker(60);
  expect_none(ask(worker, "define nonsense"), "expected");
  expect_code(ask(worker, kModule));
}

// Passes when LLVM is mended, too, but then shows nothing.
TEST(CompileWorker, StopsWhenLlvmDoesNotEnd) {
  Worker worker(2);
  const std::string module = endless_module();
  ASSERT_GT(module.size(), 1000u);
  expect_none(ask(worker, module), "more than 2 seconds");
  expect_code(ask(worker, kModule)); // another process
}

TEST(CompileWorker, EndsOfTheProcess) {
  Worker worker(60);
  const Answer none = ask(worker, kModule, "/nowhere/worker");
  EXPECT_FALSE(none.code);
  EXPECT_EQ(none.problem, "cannot start /nowhere/worker: No such file or directory");
  expect_none(ask(worker, kModule, script("exit 3")), "LLVM crashed");
  expect_none(ask(worker, kModule, script("kill -SEGV $$")), "LLVM crashed");
  expect_code(ask(worker, kModule));
}

TEST(CompileWorker, IsStoppedInTheMiddle) {
  Worker worker(60);
  const std::string module = endless_module();
  Answer a;
  const double seconds = seconds_of([&] {
    std::thread stopping([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      worker.stop();
    });
    a = ask(worker, module);
    stopping.join();
  });
  EXPECT_LT(seconds, 20);
  EXPECT_FALSE(a.code);
  EXPECT_FALSE(ask(worker, kModule).code); // no other one is started
}

// A copy of the process has a worker of its own.
TEST(CompileWorker, CopiesOfTheProcess) {
  Worker worker(60);
  expect_code(ask(worker, kModule));
  const pid_t copy = fork();
  if (copy == 0) {
    const Answer a = ask(worker, kModule);
    _exit(a.code && !a.code->empty() ? 0 : 1);
  }
  expect_code(ask(worker, kModule));
  int status = -1;
  ASSERT_EQ(waitpid(copy, &status, 0), copy);
  EXPECT_EQ(status, 0);
  expect_code(ask(worker, kModule));
}

// The program has no children that it did not start.
TEST(CompileWorker, IsNoChild) {
  Worker worker(60);
  expect_code(ask(worker, kModule));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

} // namespace compile_worker_test
} // namespace warplens::exec::compile
