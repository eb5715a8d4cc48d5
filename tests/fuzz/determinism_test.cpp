// SPDX-License-Identifier: Apache-2.0
// Random kernels whose result depends on the order of their blocks: atomic operations whose old values are used, locks,
// blocks that wait for others, volatile loads and stores of words that all write, and printing. The report, what is
// printed and memory must be the same, byte for byte, with any number of threads and in each repetition. Only the
// memory of kernels whose report says that their results depend on the order of the blocks may differ.
//
//   determinism_test --first 5000 --programs 10000 --repetitions 10
#include "tests/fuzz/mutate.hpp"

#include "api/launch/launch.hpp"
#include "api/report/json_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace warplens::fuzz {
namespace determinism_test {

std::uint64_t first_program = 0, program_count = 60, repetitions = 2;

constexpr std::size_t kWords = 64;           // that all threads share
constexpr std::size_t kMostThreads = 8 * 96; // of a grid
constexpr std::uint64_t kSteps = 400'000;

constexpr std::string_view kHead = R"(.version 8.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 text[8] = {37, 100, 32, 37, 117, 10, 0}; // %d %u\n
.visible .entry k(.param .u64 data) {
  .reg .pred %p<4>;
  .reg .b32 %r<12>, %t<4>;
  .reg .b64 %rd<8>, %a<4>;
  .shared .align 4 .b8 s[64];
  .local .align 8 .b8 numbers[8];
  ld.param.u64 %rd1, [data];
  mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;
  mad.lo.u32 %r3, %r1, %r2, %r0;
  mov.u32 %r4, 1; add.u32 %r5, %r3, 7; mov.u32 %r6, %laneid; mov.u32 %r7, 0;
  mul.wide.u32 %rd2, %r3, 4; add.u64 %rd2, %rd2, %rd1; // the thread's own word follows the shared ones
  mov.u64 %rd3, s; and.b32 %t0, %r0, 15; shl.b32 %t0, %t0, 2; cvt.u64.u32 %a0, %t0; add.u64 %a0, %a0, %rd3;
  st.shared.u32 [%a0], %r0; bar.sync 0;
)";

/// Writes the statements of a kernel.
class Kernel {
public:
  explicit Kernel(std::uint64_t number) : random_(number * 7919 + 1) {
    stores_ = random_.one_in(2);
    for (std::size_t n = 3 + random_.below(8); n > 0; --n) statement();
    grid = 2 + random_.below(7), block = 32 * (1 + random_.below(3));
  }
  [[nodiscard]] std::string ptx() const {
    std::string text = std::string(kHead) + body_ + "  st.global.u32 [%rd2+" + std::to_string(4 * kWords) + "], %r7;\n";
    if (waits_)
      text += "  membar.gl; mul.wide.u32 %a0, %r1, 4; add.u64 %a0, %a0, %rd1;\n  st.volatile.global.u32 [%a0+" +
              std::to_string(4 * kFlags) + "], 1;\n";
    return text + "  ret;\n}\n";
  }
  std::uint64_t grid = 0, block = 0;

private:
  static constexpr std::size_t kFlags = kWords - 8, kLocks = kWords - 12; // of blocks; the other words are for all

  std::string value() { return "%r" + std::to_string(random_.below(8)); }
  std::string target() { return "%r" + std::to_string(4 + random_.below(4)); }
  std::string label() { return "L" + std::to_string(labels_++); }
  void line(const std::string& text) { body_ += "  " + text + "\n"; }
  /// An address in %a1, of a word that a value selects.
  void address(bool shared) {
    line("and.b32 %t1, " + value() + ", " + (shared ? "15" : "31") + "; mul.wide.u32 %a1, %t1, 4; add.u64 %a1, %a1, " +
         (shared ? "%rd3;" : "%rd1;"));
  }

  void atomic() {
    const bool shared = random_.one_in(3);
    address(shared);
    constexpr std::string_view kNames[] = {"add.u32", "min.s32", "max.u32", "exch.b32", "xor.b32",
                                           "inc.u32", "dec.u32", "and.b32", "cas.b32",  "add.f32"};
    const std::string name(random_.any(kNames));
    line("atom." + std::string(shared ? "shared." : "global.") + name + " " + target() + ", [%a1], " + value() +
         (name == "cas.b32" ? ", " + value() + ";" : ";"));
  }
  void load() {
    address(false);
    line("ld.volatile.global.u32 " + target() + ", [%a1];");
  }
  void store() {
    address(false);
    line("st.volatile.global.u32 [%a1], " + value() + ";");
  }
  void compute() { line("mad.lo.u32 " + target() + ", " + value() + ", " + value() + ", " + value() + ";"); }
  /// The first lane of each warp changes a word under a lock.
  void lock() {
    const std::string again = label(), end = label();
    const std::string place = std::to_string(4 * (kLocks + random_.below(4)));
    line("setp.ne.u32 %p1, %r6, 0; @%p1 bra " + end + ";");
    line(again + ": atom.global.cas.b32 %t2, [%rd1+" + place + "], 0, 1; setp.ne.u32 %p2, %t2, 0; @%p2 bra " + again +
         ";");
    address(false);
    line("membar.gl; ld.volatile.global.u32 %t2, [%a1]; mad.lo.u32 %t2, %t2, 3, " + value() +
         "; st.volatile.global.u32 [%a1], %t2;");
    line("membar.gl; atom.global.exch.b32 %t2, [%rd1+" + place + "], 0;");
    line(end + ":");
  }
  /// Waits until the block before this one has ended.
  void wait() {
    waits_ = true;
    const std::string again = label(), end = label();
    line("setp.eq.u32 %p1, %r1, 0; @%p1 bra " + end + "; sub.u32 %t2, %r1, 1; mul.wide.u32 %a2, %t2, 4; " +
         "add.u64 %a2, %a2, %rd1;");
    line(again + ": ld.volatile.global.u32 %t2, [%a2+" + std::to_string(4 * kFlags) +
         "]; setp.eq.u32 %p2, %t2, 0; @%p2 bra " + again + ";");
    line(end + ":");
  }
  void print() {
    const std::string end = label();
    line("and.b32 %t1, " + value() + ", 7; setp.ne.u32 %p1, %t1, 0; @%p1 bra " + end + ";");
    line("st.local.v2.u32 [numbers], {%r1, " + value() +
         "}; mov.u64 %a1, numbers; cvta.local.u64 %a1, %a1; "
         "mov.u64 %a2, text;");
    line("{ .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %a2; st.param.b64 [a], %a1; "
         "call.uni (r), vprintf, (f, a); ld.param.b32 %t1, [r]; }");
    line(end + ":");
  }

  void statement() {
    switch (random_.below(12)) {
    case 0: return lock();
    case 1: return wait();
    case 2: return print();
    case 3: return load();
    case 4: return stores_ ? store() : compute();
    case 5:
    case 6: return compute();
    case 7: return line("bar.sync 0;");
    default: return atomic();
    }
  }

  Random random_;
  bool stores_ = false, waits_ = false;
  std::string body_;
  std::size_t labels_ = 0;
};

/// The kernels of a test run one after the other in the same memory.
class Determinism : public testing::Test {
protected:
  Determinism() : context_(*api::Context::create()), device_(*api::load_device("h200")) {
    data_ = *api::Buffer::allocate(context_, 4 * (kWords + kMostThreads), "data");
  }

  struct Outcome {
    std::string report, printed, memory;
    bool stopped = false;
    std::string order; ///< why memory may differ
    bool operator==(const Outcome& o) const {
      return report == o.report && printed == o.printed && (memory == o.memory || !order.empty());
    }
  };

  Outcome outcome(const std::shared_ptr<api::Module>& module, const Kernel& kernel, unsigned workers) {
    std::ranges::fill(data_->bytes(), std::byte{});
    api::LaunchRequest request;
    request.kernel = *module->kernel("k");
    request.grid = {kernel.grid, 1, 1};
    request.block = {kernel.block, 1, 1};
    request.arguments = {api::Argument::buffer(*data_)};
    request.device = device_;
    request.options.workers = workers;
    request.options.max_steps = kSteps;
    const auto report = api::launch(request);
    if (!report) throw std::runtime_error("refused: " + render(report.error(), kernel.ptx()));
    const auto bytes = data_->bytes();
    return {api::json_report(report->device, {&*report, 1}),
            report->printed + (report->trap ? report->trap->message : std::string()),
            std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), report->trap.has_value(),
            report->order_of_results};
  }

  static std::string difference(const Outcome& a, const Outcome& b) {
    if (a.report != b.report) return "the reports differ:\n" + a.report + "\n---- and\n" + b.report;
    if (a.printed != b.printed) return "what they print differs:\n" + a.printed + "\n---- and\n" + b.printed;
    for (std::size_t i = 0; i < a.memory.size(); i += 4)
      if (a.memory.compare(i, 4, b.memory, i, 4) != 0) return "word " + std::to_string(i / 4) + " of memory differs";
    return "";
  }

  std::shared_ptr<api::Context> context_;
  model::Device device_;
  std::shared_ptr<api::Buffer> data_;
};

TEST_F(Determinism, ReportsOfRandomProgramsAreTheSameWithAnyNumberOfThreads) {
  std::uint64_t stopped = 0, named = 0;
  for (std::uint64_t n = first_program; n < first_program + program_count && !HasFailure(); ++n) {
    const Kernel kernel(n);
    const auto module = api::Module::load(context_, kernel.ptx(), "k.ptx");
    ASSERT_TRUE(module) << render(module.error(), kernel.ptx());
    const Outcome expected = outcome(*module, kernel, 1);
    stopped += expected.stopped ? 1 : 0;
    named += expected.order.empty() ? 0 : 1;
    for (std::uint64_t i = 0; i < repetitions; ++i)
      for (const unsigned workers : {1u, 2u, 3u, 7u}) {
        const Outcome got = outcome(*module, kernel, workers);
        EXPECT_TRUE(got == expected) << "program " << n << " with " << workers
                                     << " threads: " << difference(expected, got) << "\n"
                                     << kernel.ptx();
      }
  }
  RecordProperty("stopped", std::to_string(stopped));
  RecordProperty("named", std::to_string(named));
  EXPECT_LE(stopped * 5, program_count) << "most programs must end";
  EXPECT_LE(named * 2, program_count) << "the memory of most programs must be compared";
}

} // namespace determinism_test
} // namespace warplens::fuzz

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i + 1 < argc; i += 2) {
    using namespace warplens::fuzz::determinism_test;
    for (const auto& [name, number] :
         {std::pair{"--first", &first_program}, {"--programs", &program_count}, {"--repetitions", &repetitions}})
      if (std::string_view(argv[i]) == name) *number = std::strtoull(argv[i + 1], nullptr, 10);
  }
  return RUN_ALL_TESTS();
}
