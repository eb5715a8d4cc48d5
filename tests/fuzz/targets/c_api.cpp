// SPDX-License-Identifier: Apache-2.0
// The C API as a sequence of calls. Handles are valid or null, as the API demands; everything else is arbitrary.
#include "tests/fuzz/calls.hpp"
#include "tests/fuzz/target.hpp"

#include "api/warplens.h"

namespace warplens::fuzz {

namespace {

constexpr const char* kPtx[] = {
    R"(.version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 count = 40;
.visible .entry add(.param .u64 x, .param .f32 a) {
  .reg .b64 %rd<4>; .reg .b32 %r<3>; .reg .f32 %f<3>;
  ld.param.u64 %rd1, [x];
  ld.param.f32 %f1, [a];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.f32 %f2, [%rd1];
  add.f32 %f2, %f2, %f1;
  st.global.f32 [%rd1], %f2;
  ret;
}
.visible .entry loop() {
L: bra L;
}
)",
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { bad; }\n", "not PTX", "",
    R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry wait(.param .b8 big[100]) .reqntid 32 {
  .shared .b64 s;
  .reg .b64 %rd<3>;
  mov.u64 %rd1, 4096;
  ld.u64 %rd2, [%rd1];
  bar.sync 0;
  trap;
}
)"};
constexpr const char* kNames[] = {"add",      "loop",        "wait", "count", "",        "k",
                                  "memcheck", "gld_request", "all",  "h200",  "/nowhere"};

class Session {
public:
  explicit Session(std::string_view input) : calls_(input) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    for (warplens_report* r : reports_) warplens_report_destroy(r);
    for (warplens_module* m : modules_) warplens_module_destroy(m);
    for (warplens_context* c : contexts_) warplens_context_destroy(c);
  }
  void run() {
    using Call = void (Session::*)();
    static constexpr Call kCalls[] = {&Session::create, &Session::destroy,   &Session::allocate,   &Session::free,
                                      &Session::copy,   &Session::load,      &Session::ask_module, &Session::launch,
                                      &Session::launch, &Session::ask_report};
    for (int n = 0; n < 40 && calls_.more(); ++n) {
      (this->*kCalls[calls_.below(std::size(kCalls))])();
      if (warplens_last_error() == nullptr) wrong("no last error");
    }
  }

private:
  const char* name() { return calls_.one_in(12) ? nullptr : kNames[calls_.below(std::size(kNames))]; }

  void create() {
    warplens_context* context = nullptr;
    if (contexts_.size() < 3 && warplens_context_create(&context) == WARPLENS_OK) contexts_.push_back(context);
    if (warplens_context_create(nullptr) != WARPLENS_INVALID) wrong("a null pointer is accepted");
  }

  template <class Handle> void destroy_one(std::vector<Handle>& list, void (*end)(Handle)) {
    if (list.empty()) return end(nullptr);
    const std::size_t at = calls_.below(list.size());
    end(list[at]);
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
  }
  void destroy() {
    switch (calls_.below(3)) {
    case 0: return destroy_one(contexts_, warplens_context_destroy);
    case 1: return destroy_one(modules_, warplens_module_destroy);
    default: return destroy_one(reports_, warplens_report_destroy);
    }
  }

  void allocate() {
    std::uint64_t address = 0;
    std::uint64_t size = calls_.size();
    if (size > (1u << 24) && size < (std::uint64_t{1} << 42)) size = 1u << 24; // what a machine has is not the question
    if (warplens_memory_allocate(calls_.of(contexts_), size, name(), calls_.one_in(20) ? nullptr : &address) ==
        WARPLENS_OK)
      addresses_.push_back(address);
  }
  std::uint64_t address() {
    return calls_.one_in(6) ? calls_.word() : calls_.of(addresses_) + (calls_.one_in(4) ? calls_.size() : 0);
  }
  void free() { warplens_memory_free(calls_.of(contexts_), address()); }
  void copy() {
    const std::uint64_t size = calls_.size() % (sizeof data_ + 1);
    if (calls_.one_in(2))
      warplens_memory_write(calls_.of(contexts_), address(), calls_.one_in(20) ? nullptr : data_, size);
    else
      warplens_memory_read(calls_.of(contexts_), address(), calls_.one_in(20) ? nullptr : data_, size);
  }

  void load() {
    warplens_module* module = nullptr;
    const char* const ptx = calls_.one_in(20) ? nullptr : kPtx[calls_.below(std::size(kPtx))];
    if (warplens_module_load(calls_.of(contexts_), ptx, name(), calls_.one_in(20) ? nullptr : &module) == WARPLENS_OK)
      modules_.push_back(module);
  }
  void ask_module() {
    const warplens_module* const module = calls_.of(modules_);
    std::size_t count = 0;
    std::uint64_t size = 0, at = 0;
    warplens_module_kernel_count(module);
    warplens_module_kernel_name(module, calls_.size());
    warplens_kernel_parameter_count(module, name(), &count);
    warplens_kernel_parameter_size(module, name(), calls_.size(), &size);
    warplens_module_variable(module, name(), calls_.one_in(4) ? nullptr : &at, calls_.one_in(4) ? nullptr : &size);
  }

  void launch() {
    warplens_launch_options options = WARPLENS_LAUNCH_OPTIONS_INIT;
    for (std::uint64_t& n : options.grid)
      if (calls_.one_in(4)) n = calls_.size();
    for (std::uint64_t& n : options.block) n = calls_.one_in(3) ? calls_.size() : 1 + calls_.below(32);
    if (calls_.one_in(4)) options.shared_bytes = calls_.size();
    if (calls_.one_in(4)) options.device = name();
    if (calls_.one_in(4)) options.registers = static_cast<std::uint32_t>(calls_.size());
    if (calls_.one_in(8)) options.struct_size = calls_.size() % (sizeof options + 1);
    if (calls_.one_in(4)) options.tools = name();
    for (std::uint64_t& n : options.cluster)
      if (calls_.one_in(8)) n = calls_.size();
    options.workers = 1;
    options.max_steps = 2000;
    options.analyze = calls_.one_in(2) ? 1 : 0;
    options.cooperative = calls_.one_in(2) ? 1 : 0;
    options.past_ends = calls_.one_in(2) ? 1 : 0;
    const std::uint64_t values[16] = {address(), calls_.word()}; // as long as the largest parameter
    const void* arguments[3] = {values, values + 1, calls_.one_in(12) ? nullptr : values};
    const std::size_t sizes[3] = {calls_.one_in(12) ? 100u : 8u, calls_.one_in(12) ? 0u : 4u, 100};
    warplens_report* report = nullptr;
    warplens_launch(calls_.of(modules_), name(), calls_.one_in(20) ? nullptr : &options, arguments, sizes,
                    calls_.below(4), calls_.one_in(8) ? nullptr : &report);
    if (report != nullptr && reports_.size() < 8)
      reports_.push_back(report);
    else
      warplens_report_destroy(report);
  }
  void ask_report() {
    const warplens_report* const report = calls_.of(reports_);
    double value = 0;
    const char *metric = nullptr, *unit = nullptr, *definition = nullptr;
    warplens_report_json(report);
    warplens_report_printed(report);
    warplens_report_messages(report);
    warplens_report_error_count(report);
    warplens_report_metric(report, name(), calls_.one_in(12) ? nullptr : &value);
    warplens_metric(calls_.size(), &metric, &unit, &definition);
  }

  Calls calls_;
  std::vector<warplens_context*> contexts_;
  std::vector<warplens_module*> modules_;
  std::vector<warplens_report*> reports_;
  std::vector<std::uint64_t> addresses_;
  unsigned char data_[4096]{};
};

void run_calls(std::string_view input) { Session(input).run(); }

} // namespace

const Target target::c_api{"c_api", run_calls, mutate_bytes};

} // namespace warplens::fuzz
