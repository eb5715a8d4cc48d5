// SPDX-License-Identifier: Apache-2.0
// The shared library, loaded as users load it.
#include "api/warplens.h"
#include "tests/api/kernels.hpp"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace c_api_test {

using warplens::api::testing::kScale;

/// The library, or the one that the environment names: the bundle has the same tests.
const char* library_file() {
  const char* const other = std::getenv("WARPLENS_TEST_LIBRARY");
  return other != nullptr ? other : WARPLENS_LIBRARY;
}

class Library {
public:
  Library() : handle_(dlopen(library_file(), RTLD_NOW | RTLD_LOCAL)) {}
  template <class Function> Function* get(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(handle_, name));
  }
  [[nodiscard]] bool loaded() const { return handle_ != nullptr; }

private:
  void* handle_;
};

// Never closed: the library's threads live as long as the process.
const Library& library() {
  static const Library instance;
  return instance;
}

#define API(name) library().get<decltype(::name)>(#name)

const std::string kText(kScale);

struct Handles {
  warplens_context* context = nullptr;
  warplens_module* module = nullptr;
  std::uint64_t x = 0;
  Handles() {
    EXPECT_EQ(API(warplens_context_create)(&context), WARPLENS_OK);
    EXPECT_EQ(API(warplens_module_load)(context, kText.c_str(), "scale.ptx", &module), WARPLENS_OK);
    EXPECT_EQ(API(warplens_memory_allocate)(context, 512, "x", &x), WARPLENS_OK);
  }
  ~Handles() {
    API(warplens_module_destroy)(module);
    API(warplens_context_destroy)(context);
  }

  warplens_status launch(float factor, std::uint32_t count, warplens_report** report) const {
    warplens_launch_options options = WARPLENS_LAUNCH_OPTIONS_INIT;
    options.grid[0] = 4;
    options.block[0] = 32;
    const void* arguments[] = {&x, &factor, &count};
    const size_t sizes[] = {sizeof x, sizeof factor, sizeof count};
    return API(warplens_launch)(module, "scale", &options, arguments, sizes, 3, report);
  }
};

TEST(CApi, Loads) {
  ASSERT_TRUE(library().loaded()) << dlerror();
  EXPECT_STRNE(API(warplens_version)(), "");
}

TEST(CApi, RunsAKernelAndReports) {
  const Handles h;
  EXPECT_EQ(API(warplens_module_kernel_count)(h.module), 1u);
  EXPECT_STREQ(API(warplens_module_kernel_name)(h.module, 0), "scale");
  EXPECT_EQ(API(warplens_module_kernel_name)(h.module, 1), nullptr);
  std::uint64_t size = 0;
  EXPECT_EQ(API(warplens_kernel_parameter_size)(h.module, "scale", 1, &size), WARPLENS_OK);
  EXPECT_EQ(size, 4u);

  std::vector<float> values(128);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  ASSERT_EQ(API(warplens_memory_write)(h.context, h.x, values.data(), 512), WARPLENS_OK);
  warplens_report* report = nullptr;
  ASSERT_EQ(h.launch(3, 128, &report), WARPLENS_OK) << API(warplens_last_error)();
  ASSERT_EQ(API(warplens_memory_read)(h.context, h.x, values.data(), 512), WARPLENS_OK);
  EXPECT_EQ(values[127], 381);
  double requests = 0;
  EXPECT_EQ(API(warplens_report_metric)(report, "gld_request", &requests), WARPLENS_OK);
  EXPECT_EQ(requests, 4);
  EXPECT_EQ(API(warplens_report_metric)(report, "nothing", &requests), WARPLENS_INVALID);
  EXPECT_EQ(API(warplens_report_metric)(report, "gld_requests", &requests), WARPLENS_INVALID);
  EXPECT_STREQ(API(warplens_last_error)(), "error: no metric 'gld_requests'; did you mean 'gld_request'?");
  const char *name = nullptr, *unit = nullptr, *definition = nullptr;
  std::set<std::string> units;
  std::size_t metrics = 0;
  for (; API(warplens_metric)(metrics, &name, &unit, &definition) == WARPLENS_OK; ++metrics)
    if (std::string(name) == "gld_request") units.insert(unit);
  EXPECT_EQ(units, (std::set<std::string>{"requests"}));
  EXPECT_GT(metrics, 100u);
  EXPECT_NE(std::string(API(warplens_report_json)(report)).find("\"kernel\": \"scale\""), std::string::npos);
  EXPECT_STREQ(API(warplens_report_printed)(report), "");
  API(warplens_report_destroy)(report);
}

// The JSON is written when it is asked for: also by two threads at once, and after the module is gone.
TEST(CApi, WritesJsonWhenAsked) {
  warplens_report* report = nullptr;
  {
    const Handles h;
    ASSERT_EQ(h.launch(3, 128, &report), WARPLENS_OK) << API(warplens_last_error)();
  }
  const char* texts[2]{};
  std::thread other([&] { texts[0] = API(warplens_report_json)(report); });
  texts[1] = API(warplens_report_json)(report);
  other.join();
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_NE(std::string(texts[0]).find("\"kernel\": \"scale\""), std::string::npos);
  API(warplens_report_destroy)(report);
}

// 129 elements where 128 are allocated: with memcheck, the launch goes on.
TEST(CApi, ToolsReportErrors) {
  const Handles h;
  warplens_launch_options options = WARPLENS_LAUNCH_OPTIONS_INIT;
  options.grid[0] = 5;
  options.block[0] = 32;
  options.tools = "memcheck";
  const float factor = 2;
  const std::uint32_t count = 129;
  const void* arguments[] = {&h.x, &factor, &count};
  const size_t sizes[] = {sizeof h.x, sizeof factor, sizeof count};
  warplens_report* report = nullptr;
  ASSERT_EQ(API(warplens_launch)(h.module, "scale", &options, arguments, sizes, 3, &report), WARPLENS_OK)
      << API(warplens_last_error)();
  EXPECT_EQ(API(warplens_report_error_count)(report), 2u); // a load and a store
  const std::string text = API(warplens_report_messages)(report);
  EXPECT_NE(text.find("Invalid __global__ read of size 4 bytes"), text.npos) << text;
  EXPECT_NE(text.find("and is 1 bytes after the nearest allocation"), text.npos) << text;
  API(warplens_report_destroy)(report);
  options.tools = "memchek";
  EXPECT_EQ(API(warplens_launch)(h.module, "scale", &options, arguments, sizes, 3, nullptr), WARPLENS_INVALID);
  EXPECT_NE(std::string(API(warplens_last_error)()).find("there is no tool 'memchek'"), std::string::npos);
}

// Allocations are zeroed, and the host writes them directly; shared memory has no value at first.
TEST(CApi, InitcheckReportsUninitializedSharedMemory) {
  const Handles h;
  const char* const text = ".version 8.3 .target sm_75 .address_size 64\n"
                           ".entry k(.param .u64 in) { .reg .b64 %x; .reg .b32 %r<3>; .shared .b32 s[64];\n"
                           "ld.param.u64 %x, [in]; ld.global.u32 %r0, [%x]; st.shared.u32 [s], %r0;\n"
                           "ld.shared.u32 %r1, [s]; ld.shared.u32 %r2, [s+8];\n"
                           "add.u32 %r1, %r1, %r2; st.global.u32 [%x], %r1; ret; }";
  warplens_module* module = nullptr;
  ASSERT_EQ(API(warplens_module_load)(h.context, text, "i.ptx", &module), WARPLENS_OK) << API(warplens_last_error)();
  const void* arguments[] = {&h.x};
  const size_t sizes[] = {sizeof h.x};
  for (const char* tools : {"initcheck", "all"}) {
    warplens_launch_options options = WARPLENS_LAUNCH_OPTIONS_INIT;
    options.block[0] = 4;
    options.tools = tools;
    warplens_report* report = nullptr;
    ASSERT_EQ(API(warplens_launch)(module, "k", &options, arguments, sizes, 1, &report), WARPLENS_OK)
        << API(warplens_last_error)();
    const std::string messages = API(warplens_report_messages)(report);
    EXPECT_NE(messages.find("Uninitialized __shared__ memory read of size 4 bytes"), messages.npos) << messages;
    EXPECT_NE(messages.find("all: threads 0-3 of block 0"), messages.npos) << messages;
    EXPECT_EQ(messages.find("Uninitialized __global__"), messages.npos) << messages;
    if (std::string(tools) == "initcheck") {
      EXPECT_EQ(API(warplens_report_error_count)(report), 4u);
    }
    API(warplens_report_destroy)(report);
  }
  API(warplens_module_destroy)(module);
}

TEST(CApi, GivesWhatAKernelPrints) {
  const Handles h;
  warplens_module* module = nullptr;
  const char* const text = ".version 8.3 .target sm_75 .address_size 64\n"
                           ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
                           ".global .b8 hello[4] = {104, 105, 10, 0};\n"
                           ".entry k() { .reg .b64 %x; .reg .b32 %r; mov.u64 %x, hello; cvta.global.u64 %x, %x;\n"
                           "call (%r), vprintf, (%x, 0); ret; }";
  ASSERT_EQ(API(warplens_module_load)(h.context, text, "p.ptx", &module), WARPLENS_OK) << API(warplens_last_error)();
  warplens_launch_options options = WARPLENS_LAUNCH_OPTIONS_INIT;
  options.block[0] = 2;
  warplens_report* report = nullptr;
  ASSERT_EQ(API(warplens_launch)(module, "k", &options, nullptr, nullptr, 0, &report), WARPLENS_OK);
  EXPECT_STREQ(API(warplens_report_printed)(report), "hi\nhi\n");
  API(warplens_report_destroy)(report);
  API(warplens_module_destroy)(module);
}

TEST(CApi, ErrorsAreTextAndStatus) {
  const Handles h;
  const auto last = [] { return std::string(API(warplens_last_error)()); };
  warplens_module* none = nullptr;
  EXPECT_EQ(API(warplens_module_load)(h.context, "nonsense", "n.ptx", &none), WARPLENS_INVALID);
  EXPECT_NE(last().find("n.ptx:1:1: error: "), std::string::npos) << last();
  EXPECT_EQ(none, nullptr);
  size_t count = 0;
  EXPECT_EQ(API(warplens_kernel_parameter_count)(h.module, "scal", &count), WARPLENS_INVALID);
  EXPECT_NE(last().find("did you mean 'scale'?"), std::string::npos);
  EXPECT_EQ(API(warplens_memory_free)(h.context, h.x + 1), WARPLENS_INVALID);
  EXPECT_EQ(API(warplens_memory_write)(h.context, h.x + 500, "0123456789abcdef", 16), WARPLENS_INVALID);
  EXPECT_EQ(API(warplens_context_create)(nullptr), WARPLENS_INVALID);
  warplens_launch_options options = WARPLENS_LAUNCH_OPTIONS_INIT;
  EXPECT_EQ(API(warplens_launch)(h.module, "scale", &options, nullptr, nullptr, 0, nullptr), WARPLENS_INVALID);
  EXPECT_NE(last().find("takes 3 arguments, got 0"), std::string::npos) << last();
  options.cluster[0] = 0, options.cluster[1] = 3;
  EXPECT_EQ(API(warplens_launch)(h.module, "scale", &options, nullptr, nullptr, 0, nullptr), WARPLENS_INVALID);
  EXPECT_NE(last().find("cluster"), std::string::npos) << last();
  options.struct_size = offsetof(warplens_launch_options, cluster); // a program that does not know the member
  EXPECT_EQ(API(warplens_launch)(h.module, "scale", &options, nullptr, nullptr, 0, nullptr), WARPLENS_INVALID);
  EXPECT_EQ(last().find("cluster"), std::string::npos) << last();
  // The text belongs to the thread that failed.
  std::thread([&] { EXPECT_EQ(last(), ""); }).join();
}

TEST(CApi, TrapsHaveAReportToo) {
  const Handles h;
  ASSERT_EQ(API(warplens_memory_free)(h.context, h.x), WARPLENS_OK);
  warplens_report* report = nullptr;
  EXPECT_EQ(h.launch(3, 128, &report), WARPLENS_TRAPPED);
  EXPECT_NE(std::string(API(warplens_last_error)()).find("scale.ptx:20:"), std::string::npos);
  EXPECT_NE(std::string(API(warplens_report_json)(report)).find("\"rule\": \"Trap\""), std::string::npos);
  API(warplens_report_destroy)(report);
}

// A kernel of a cooperative launch finds its grid's workspace; callers whose options end before that member have none.
TEST(CApi, CooperativeLaunches) {
  const Handles h;
  const char* const text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 x) {\n"
                           ".reg .u32 %r; .reg .u64 %rd; ld.param.u64 %rd, [x]; mov.u32 %r, %envreg2;\n"
                           "st.global.u32 [%rd], %r; ret;\n}\n";
  warplens_module* module = nullptr;
  ASSERT_EQ(API(warplens_module_load)(h.context, text, "k.ptx", &module), WARPLENS_OK);
  warplens_launch_options options = WARPLENS_LAUNCH_OPTIONS_INIT;
  options.cooperative = 1;
  const auto workspace = [&] {
    const void* arguments[] = {&h.x};
    const size_t sizes[] = {sizeof h.x};
    std::uint32_t word = 0;
    EXPECT_EQ(API(warplens_launch)(module, "k", &options, arguments, sizes, 1, nullptr), WARPLENS_OK);
    EXPECT_EQ(API(warplens_memory_read)(h.context, h.x, &word, sizeof word), WARPLENS_OK);
    return word;
  };
  EXPECT_NE(workspace(), 0u);
  options.struct_size = offsetof(warplens_launch_options, cooperative);
  EXPECT_EQ(workspace(), 0u);
  options.tools = "memcheck";
  for (std::size_t part = offsetof(warplens_launch_options, tools); part < sizeof options; ++part) {
    options.struct_size = part; // ends within the pointer
    EXPECT_NE(workspace(), 0u);
  }
  options.struct_size = offsetof(warplens_launch_options, cooperative) - 1;
  EXPECT_EQ(API(warplens_launch)(module, "k", &options, nullptr, nullptr, 0, nullptr), WARPLENS_INVALID);
  EXPECT_STREQ(API(warplens_last_error)(), "error: struct_size is too small");
  API(warplens_module_destroy)(module);
}

/// A value as callers of gpuocelot pass it: in the pointer.
template <class T> void* in_pointer(T value) {
  void* pointer = nullptr;
  std::memcpy(&pointer, &value, sizeof value);
  return pointer;
}

TEST(PtxRun, ValuesAreInThePointersAndMemoryIsTheHosts) {
  std::vector<float> x(128, 2);
  void* arguments[] = {in_pointer(x.data()), in_pointer(2.5f), in_pointer(std::uint32_t{100})};
  ::testing::internal::CaptureStderr();
  API(ptx_run)(kText.c_str(), 3, arguments, 32, 1, 1, 4, 1, 1, 0);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(x[99], 5);
  EXPECT_EQ(x[100], 2);
}

TEST(PtxRun, BlockComesBeforeGrid) {
  std::vector<float> x(128, 2);
  void* arguments[] = {in_pointer(x.data()), in_pointer(2.0f), in_pointer(std::uint32_t{128})};
  API(ptx_run)(kText.c_str(), 3, arguments, 8, 1, 1, 2, 1, 1, 0);
  EXPECT_EQ(x[15], 4);
  EXPECT_EQ(x[16], 2);
}

TEST(PtxRun, FromManyThreads) {
  std::vector<std::vector<float>> data(6, std::vector<float>(128, 1));
  std::vector<std::thread> threads;
  for (auto& x : data)
    threads.emplace_back([&x] {
      void* arguments[] = {in_pointer(x.data()), in_pointer(2.0f), in_pointer(std::uint32_t{128})};
      for (int i = 0; i < 10; ++i) API(ptx_run)(kText.c_str(), 3, arguments, 32, 1, 1, 4, 1, 1, 0);
    });
  for (std::thread& t : threads) t.join();
  for (const auto& x : data) EXPECT_EQ(x[127], 1024);
}

/// Counts its runs in a variable of the module, so that a count above one shows a module that was kept.
std::string counting(const char* name) {
  return std::string(".version 7.0\n.target sm_70\n.address_size 64\n.global .u32 runs;\n.visible .entry ") + name +
         "(.param .u64 x) {\n.reg .u32 %r; .reg .u64 %rd; ld.param.u64 %rd, [x]; ld.global.u32 %r, [runs];\n"
         "add.u32 %r, %r, 1; st.global.u32 [runs], %r; st.u32 [%rd], %r; ret;\n}\n";
}

TEST(PtxRun, ModulesAreKeptByContent) {
  const auto runs = [](const std::string& text) {
    std::uint32_t count = 0;
    void* arguments[] = {in_pointer(&count)};
    API(ptx_run)(text.c_str(), 1, arguments, 1, 1, 1, 1, 1, 1, 0);
    return count;
  };
  std::string text = counting("kept_a");
  EXPECT_EQ(runs(text), 1u);
  EXPECT_EQ(runs(text), 2u);
  EXPECT_EQ(runs(std::string(text)), 3u); // at another address
  const std::size_t last = text.find("kept_a") + 5;
  text[last] = 'b'; // another module at the same address
  EXPECT_EQ(runs(text), 1u);
  text[last] = 'a';
  EXPECT_EQ(runs(text), 4u);
  EXPECT_EQ(runs(text + "\n"), 1u); // longer at the end
}

TEST(PtxRun, AModuleIsLoadedOnceFromManyThreads) {
  const std::string text = counting("loaded_once");
  std::vector<std::thread> threads;
  std::vector<std::uint32_t> unused(8);
  for (std::uint32_t& to : unused)
    threads.emplace_back([&] {
      const std::string own = text; // at an address of its own
      void* arguments[] = {in_pointer(&to)};
      API(ptx_run)(own.c_str(), 1, arguments, 1, 1, 1, 1, 1, 1, 0);
    });
  for (std::thread& t : threads) t.join();
  // The increments may have met, but some count went on from another's.
  std::uint32_t after = 0;
  void* arguments[] = {in_pointer(&after)};
  API(ptx_run)(text.c_str(), 1, arguments, 1, 1, 1, 1, 1, 1, 0);
  EXPECT_GE(after, 2u);
}

TEST(PtxRun, KernelsThatWaitForTheWholeGrid) {
  const char* const text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 x) {\n"
                           ".reg .u32 %r; .reg .u64 %rd; ld.param.u64 %rd, [x]; mov.u32 %r, %envreg2;\n"
                           "st.u32 [%rd], %r; ret;\n}\n";
  std::uint32_t workspace = 0;
  void* arguments[] = {in_pointer(&workspace)};
  API(ptx_run)(text, 1, arguments, 32, 1, 1, 4, 1, 1, 0);
  EXPECT_NE(workspace, 0u);
}

TEST(PtxRun, ErrorsArePrintedOnce) {
  const auto printed = [](const char* source, int n_args, int block) {
    std::vector<float> x(128);
    void* arguments[] = {in_pointer(x.data()), in_pointer(2.0f), in_pointer(std::uint32_t{128})};
    ::testing::internal::CaptureStderr();
    API(ptx_run)(source, n_args, arguments, block, 1, 1, 1, 1, 1, 0);
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(printed("nonsense", 3, 32).find("<ptx>:1:1: error: "), std::string::npos);
  EXPECT_NE(printed(".version 7.0\n.target sm_70\n", 0, 32).find("no kernel"), std::string::npos);
  EXPECT_NE(printed(nullptr, 0, 32).find("null"), std::string::npos);
  EXPECT_NE(printed(kText.c_str(), 3, -1).find("negative"), std::string::npos);
  const std::string few = printed(kText.c_str(), 2, 32);
  EXPECT_NE(few.find("takes 3 arguments, got 2"), std::string::npos);
  EXPECT_EQ(few.find("error: "), few.rfind("error: "));
}

const char* const kTrapping = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { trap; }\n";

TEST(PtxRun, ErrorsCanBeReadUntilTheNextCall) {
  const auto run = [](const char* source, int n_args) {
    std::vector<float> x(128);
    void* arguments[] = {in_pointer(x.data()), in_pointer(2.0f), in_pointer(std::uint32_t{128})};
    ::testing::internal::CaptureStderr();
    API(ptx_run)(source, n_args, arguments, 32, 1, 1, 1, 1, 1, 0);
    const std::string printed = ::testing::internal::GetCapturedStderr();
    const std::string kept = API(warplens_last_error)();
    EXPECT_EQ(printed, kept.empty() ? "" : "ptx_run: " + kept);
    return kept;
  };
  EXPECT_NE(run("nonsense", 0).find("<ptx>:1:1: error: "), std::string::npos);
  EXPECT_EQ(run(kText.c_str(), 3), "");
  EXPECT_NE(run(kText.c_str(), 2).find("takes 3 arguments"), std::string::npos);
  EXPECT_NE(run(nullptr, 0).find("null"), std::string::npos);
  std::string of_other = "not read";
  std::thread([&] { of_other = API(warplens_last_error)(); }).join(); // each thread has its own
  EXPECT_EQ(of_other, "");
}

TEST(PtxRun, TheEnvironmentDecidesWhetherAnErrorEndsTheProcess) {
  const auto run = [](const char* setting, const char* source) {
    if (setting != nullptr)
      setenv("WARPLENS_PTX_RUN", setting, 1);
    else
      unsetenv("WARPLENS_PTX_RUN");
    std::vector<float> x(128);
    void* arguments[] = {in_pointer(x.data()), in_pointer(2.0f), in_pointer(std::uint32_t{128})};
    API(ptx_run)(source, source == kText.c_str() ? 3 : 0, arguments, 32, 1, 1, 1, 1, 1, 0);
    std::_Exit(7);
  };
  const ::testing::ExitedWithCode went_on(7);
  const ::testing::KilledBySignal aborted(SIGABRT);
  EXPECT_EXIT(run("abort", "nonsense"), aborted, "ptx_run: <ptx>:1:1: error: ");
  EXPECT_EXIT(run("abort", kTrapping), aborted, "ptx_run: .*error: ");
  EXPECT_EXIT(run("abort", nullptr), aborted, "ptx_run: error: null");
  EXPECT_EXIT(run("abort", kText.c_str()), went_on, "^$");
  EXPECT_EXIT(run("continue", kTrapping), went_on, "ptx_run: .*error: ");
  EXPECT_EXIT(run(nullptr, "nonsense"), went_on, "ptx_run: <ptx>:1:1: error: ");
  EXPECT_EXIT(run("yes", "nonsense"), went_on, "WARPLENS_PTX_RUN is 'yes': expected 'abort' or 'continue'");
}

} // namespace c_api_test
