// SPDX-License-Identifier: Apache-2.0
// With four times as many elements of any kind in a module, parsing, checking, printing, merging, linking, decoding and
// analysing take about four times as long.
#include "emulator/exec/decode/decode.hpp"
#include "emulator/ir/check.hpp"
#include "emulator/ir/joined_accesses.hpp"
#include "emulator/ir/link.hpp"
#include "emulator/ir/liveness.hpp"
#include "emulator/ir/merge.hpp"
#include "emulator/ir/parse.hpp"
#include "emulator/ir/print.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <malloc.h>

#include <ctime>
#include <functional>
#include <ostream>

namespace warplens {
namespace scaling_test {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

constexpr double kMostGrowth = 7; // linear is 4; n log n, caches and page faults add to it; a quadratic pass has 16
constexpr double kFloor = 0.002;  // seconds; below, nothing can be told, and nothing is wrong

/// A text with `n` elements of one kind.
struct Class {
  const char* name;
  int few; ///< enough for a quadratic pass to stand out, too few for a linear one to be felt
  std::function<std::string(int n)> text;
  bool is_wrong = false; ///< the text has errors
  friend std::ostream& operator<<(std::ostream& out, const Class& c) { return out << c.name; }
};

std::string repeated(int n, const std::function<std::string(int)>& one) {
  std::string text;
  for (int i = 0; i < n; ++i) text += one(i);
  return text;
}

std::string module(const std::string& declarations, const std::string& body) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n" + declarations + ".visible .entry k(.param .u64 x)\n{\n" +
         ".reg .b32 %r<100>; .reg .b64 %d<100>; .reg .pred %p<100>; .reg .f32 %f<100>;\n" + body + "ret;\n}\n";
}

std::string in_body(int n, const std::function<std::string(int)>& one) { return module("", repeated(n, one)); }

/// Everything that is done with a module before it runs and when it is reported on.
void all_passes(const Class& c, const std::string& text) {
  auto parsed = ir::parse(text, "x.ptx");
  ASSERT_TRUE(parsed || c.is_wrong) << render(parsed.error(), text, 3);
  if (!parsed) return;
  const ir::Checked checked = ir::check(*parsed);
  ASSERT_TRUE(!checked.errors.has_errors() || c.is_wrong) << render(checked.errors, text, 3);
  if (checked.errors.has_errors()) return;
  ir::print(*parsed);
  std::vector<ir::Module> twice;
  for (const char* file : {"a.ptx", "b.ptx"}) twice.push_back(std::move(*ir::parse(text, file)));
  (void)ir::merge(std::move(twice));
  const ir::Function* const kernel = parsed->find("k");
  ASSERT_NE(kernel, nullptr);
  ir::register_pressure(*parsed, *kernel);
  ir::print_lines(*parsed, *kernel);
  const exec::VariableAddresses addresses(parsed->variables.size(), 4096);
  for (const bool watched : {false, true}) {
    const auto program = exec::decode(*parsed, *kernel, addresses, {.watched = watched});
    ASSERT_TRUE(program) << render(program.error(), text, 3);
    ir::estimated_registers(*parsed, *(*program)->function);
  }
}

double seconds_for(const Class& c, const std::string& text) {
  const double start = processor_seconds();
  all_passes(c, text);
  return processor_seconds() - start;
}

class Scaling : public testing::TestWithParam<Class> {
protected:
  /// Large blocks come from the heap like small ones: pages that the system hands out anew for each of them would make
  /// a linear pass look worse than it is.
  static void SetUpTestSuite() {
    constexpr int kMost = 1 << 30;
    mallopt(M_MMAP_THRESHOLD, kMost);
    mallopt(M_TRIM_THRESHOLD, kMost);
  }
};

/// How many times longer four times as much text takes, or at most kMostGrowth if the first attempts tell.
double growth(const Class& c, const std::string& few, const std::string& many) {
  double least_few = 1e9, least_many = 1e9;
  for (int attempt = 0; attempt < 12; ++attempt) { // the machine may be busy: the least of all attempts counts
    least_few = std::min(least_few, seconds_for(c, few));
    least_many = std::min(least_many, seconds_for(c, many));
    if (least_many < kFloor) return 0;
    if (attempt >= 2 && least_many <= kMostGrowth * least_few) break;
  }
  return least_many / least_few;
}

TEST_P(Scaling, IsLinear) {
  const Class& c = GetParam();
  double first = 0;
  // A text that no longer fits into a cache which other programs share takes longer once; a quadratic pass does so at
  // each step.
  for (const int n : {c.few / 2, 2 * c.few}) {
    const double step = growth(c, c.text(n), c.text(4 * n));
    if (HasFatalFailure() || step <= kMostGrowth) return;
    if (first == 0)
      first = step;
    else
      ADD_FAILURE() << "four times as much takes " << first << " and then " << step << " times as long";
  }
}

std::string number(int i) { return std::to_string(i); }

const Class kClasses[] = {
    {"statements", 4000,
     [](int n) { return in_body(n, [](int i) { return fmt::format("add.u32 %r{}, %r{}, 5;\n", i % 90, i % 83); }); }},
    {"comments", 20000, [](int n) { return in_body(n, [](int) { return "// nothing\n/* at all */\n"; }); }},
    {"lines", 8000,
     [](int n) {
       return module(repeated(n, [](int i) { return fmt::format(".file {} \"f{}.cu\"\n", i + 1, i); }),
                     repeated(n, [](int i) { return fmt::format(".loc {} {} 1\nmov.u32 %r1, 5;\n", i + 1, i + 1); }));
     }},
    {"labels", 8000, [](int n) { return in_body(n, [](int i) { return fmt::format("L{}: mov.u32 %r1, 5;\n", i); }); }},
    {"forward_branches", 4000,
     [](int n) {
       return in_body(n, [](int i) { return fmt::format("@%p1 bra L{0};\nadd.u32 %r1, %r1, 1;\nL{0}:\n", i); });
     }},
    {"backward_branches", 8000,
     [](int n) {
       return module("", fmt::format("bra L{};\nL0: add.u32 %r2, %r1, 1; ret;\n", n - 1) +
                             repeated(n - 1, [](int i) { return fmt::format("L{}: bra L{};\n", i + 1, i); }));
     }},
    {"loops_in_loops", 2000,
     [](int n) {
       return module("", repeated(n, [](int i) { return fmt::format("L{}: add.u32 %r1, %r1, 1;\n", i); }) +
                             repeated(n, [n](int i) { return fmt::format("@%p1 bra L{};\n", n - 1 - i); }));
     }},
    {"branches_over_all_others", 4000,
     [](int n) {
       return module("", repeated(n, [](int i) { return fmt::format("@%p1 bra E{};\n", i); }) +
                             repeated(n, [n](int i) { return fmt::format("E{}: mov.u32 %r1, 5;\n", n - 1 - i); }));
     }},
    {"branches_to_both_ends_of_a_chain", 4000,
     [](int n) {
       return module("", repeated(n, [](int i) { return fmt::format("S{}: @%p1 bra C0; @%p2 bra END;\n", i); }) +
                             repeated(n, [](int i) { return fmt::format("C{}: mov.u32 %r1, 5;\n", i); }) + "END:\n");
     }},
    {"branch_table", 8000,
     [](int n) {
       return module("", "T: .branchtargets L0" + repeated(n - 1, [](int i) { return ", L" + number(i + 1); }) +
                             ";\nbrx.idx %r1, T;\n" +
                             repeated(n, [](int i) { return fmt::format("L{}: mov.u32 %r1, 5;\n", i); }));
     }},
    {"blocks", 4000,
     [](int n) { return in_body(n, [](int) { return "{ .reg .b32 t; in: mov.u32 t, 5; @%p1 bra in; }\n"; }); }},
    {"blocks_in_blocks", 40,
     [](int n) {
       return in_body(n, [](int) {
         return repeated(150, [](int) { return "{ .reg .b32 t<4>; mov.u32 t1, 5; in:\n"; }) + std::string(150, '}');
       });
     }},
    {"registers", 8000,
     [](int n) { return in_body(n, [](int i) { return fmt::format(".reg .b32 a{0}; mov.u32 a{0}, 5;\n", i); }); }},
    {"ranges_of_registers", 8000,
     [](int n) {
       return in_body(n, [](int i) { return fmt::format(".reg .b32 a{0}x<3>; mov.u32 a{0}x2, 5;\n", i); });
     }},
    {"ranges_beside_single_registers", 4000,
     [](int n) { return in_body(n, [](int i) { return fmt::format(".reg .b32 a{0}x9; .reg .b32 a{0}x<3>;\n", i); }); }},
    {"small_functions_after_a_large_one", 4000,
     [](int n) {
       return module(".func first() {\n" + repeated(4 * n, [](int i) { return fmt::format(".reg .b32 a{};\n", i); }) +
                         "}\n" + repeated(n, [](int i) { return fmt::format(".func f{}() {{ L: ret; }}\n", i); }),
                     "");
     }},
    {"live_registers", 4000,
     [](int n) {
       return module("", fmt::format(".reg .b32 a<{}>;\n", n) + repeated(n, [](int i) {
                           return fmt::format("mov.u32 a{}, %tid.x;\n", i);
                         }) + repeated(n, [](int i) { return fmt::format("add.u32 %r1, %r1, a{};\n", i); }));
     }},
    {"values_over_many_blocks", 4000,
     [](int n) {
       return module("", fmt::format(".reg .b32 a<{}>;\n", n) + repeated(n, [](int i) {
                           return fmt::format("mov.u32 a{0}, %tid.x;\n@%p1 bra L{0};\nadd.u32 %r1, %r2, a{1};\nL{0}:\n",
                                              i, i < 20 ? i : i - 20);
                         }));
     }},
    {"values_that_come_from_below", 4000,
     [](int n) {
       return module("", fmt::format(".reg .b32 a<{}>;\nL:\n", n + 1) + repeated(n, [](int i) {
                           return fmt::format("mov.u32 a{}, a{};\n", i, i + 1);
                         }) + fmt::format("add.u32 a{}, %r1, 1;\n@%p1 bra L;\n", n));
     }},
    {"accesses_to_shared_memory", 4000,
     [](int n) {
       return module(".shared .align 16 .b8 s[4096];\n", repeated(n, [](int i) {
                       return fmt::format("ld.shared.u32 %r{}, [s+{}];\nst.shared.u32 [s+{}], %r1;\n", i % 90,
                                          i * 4 % 4096, i * 12 % 4096);
                     }));
     }},
    {"space_tests", 4000,
     [](int n) { return in_body(n, [](int i) { return fmt::format("isspacep.global %p1, %d{};\n", i % 90); }); }},
    {"constants", 8000, [](int n) { return in_body(n, [](int i) { return fmt::format("mov.u32 %r1, {};\n", i); }); }},
    {"long_expression", 40000,
     [](int n) { return module("", "mov.u32 %r1, 1" + repeated(n, [](int) { return " + 1"; }) + ";\n"); }},
    {"variables", 8000,
     [](int n) {
       return module(repeated(n, [](int i) { return fmt::format(".global .u32 v{};\n", i); }), "mov.u64 %d1, v0;\n");
     }},
    {"initial_values", 20000,
     [](int n) {
       return module(fmt::format(".global .u32 t[{}][2] = {{", n) +
                         repeated(n, [](int i) { return fmt::format("{}{{{}, 7}}", i == 0 ? "" : ", ", i); }) + "};\n",
                     "");
     }},
    {"addresses_as_initial_values", 8000,
     [](int n) {
       return module(repeated(n, [](int i) { return fmt::format(".func f{}() {{ ret; }}\n", i); }) +
                         fmt::format(".global .u64 t[{}] = {{", n) +
                         repeated(n, [](int i) { return fmt::format("{}f{}", i == 0 ? "" : ", ", i); }) + "};\n",
                     ".reg .u64 %g; ld.global.u64 %g, [t]; P: .callprototype _ (); call %g, P;\n");
     }},
    {"calls_of_one_function", 4000,
     [](int n) { return module(".func f() { ret; }\n", repeated(n, [](int) { return "call f;\n"; })); }},
    {"called_functions", 4000,
     [](int n) {
       return module(repeated(n, [](int i) { return fmt::format(".func f{}() {{ ret; }}\n", i); }),
                     repeated(n, [](int i) { return fmt::format("call f{};\n", i); }));
     }},
    {"chain_of_calls", 4000,
     [](int n) {
       return module(".func f0() { ret; }\n" +
                         repeated(n, [](int i) { return fmt::format(".func f{}() {{ call f{}; ret; }}\n", i + 1, i); }),
                     fmt::format("call f{};\n", n));
     }},
    {"calls_in_a_circle", 2000,
     [](int n) {
       return module(".func f(.reg .b32 a)\n{\n.reg .b32 b;\n" +
                         repeated(n, [](int) { return "mov.u32 b, a; call f, (b);\nadd.u32 a, a, 1;\n"; }) +
                         "ret;\n}\n",
                     "call f, (%r1);\n");
     }},
    {"aliases_of_aliases", 4000,
     [](int n) {
       return module(
           ".func f0() { ret; }\n" +
               repeated(n, [](int i) { return fmt::format(".func f{0}();\n.alias f{0}, f{1};\n", i + 1, i); }),
           repeated(n, [n](int) { return fmt::format("call f{};\n", n); }));
     }},
    {"listed_targets", 4000,
     [](int n) {
       return module(repeated(n, [](int i) { return fmt::format(".func f{}() {{ ret; }}\n", i); }),
                     "T: .calltargets f0" + repeated(n - 1, [](int i) { return ", f" + number(i + 1); }) +
                         ";\nmov.u64 %d1, f0; call %d1, T;\n");
     }},
    {"parameters", 4000,
     [](int n) {
       const auto list = [n](const char* each) {
         return repeated(n, [each](int i) { return fmt::format("{}{}{}", i == 0 ? "" : ", ", each, i); });
       };
       return module(".func f(" + list(".reg .b32 a") + ") { ret; }\n",
                     "{ .reg .b32 b<" + number(n) + ">; call f, (" + list("b") + "); }\n");
     }},
    {"names_near_each_other", 2000,
     [](int n) {
       return in_body(n, [](int i) { return fmt::format("name_{0}_of_a_label: bra name_{0}_of_a_labl;\n", i); });
     },
     true},
    {"long_names_near_each_other", 100000,
     [](int n) {
       const std::string name(static_cast<std::size_t>(n), 'a');
       return module(".global .u32 " + name + "b;\n", "mov.u64 %d1, " + name + "c;\n");
     },
     true},
    {"undeclared_names", 4000,
     [](int n) { return in_body(n, [](int i) { return fmt::format("mov.u32 %r1, %q{};\n", i); }); }, true},
    {"syntax_errors", 4000, [](int n) { return in_body(n, [](int) { return "add.u32 %r1 %r2;\n"; }); }, true},
    {"wrong_operands", 4000, [](int n) { return in_body(n, [](int) { return "add.u32 %f1, %r1;\n"; }); }, true},
};

INSTANTIATE_TEST_SUITE_P(Classes, Scaling, testing::ValuesIn(kClasses),
                         [](const auto& test) { return test.param.name; });

} // namespace scaling_test
} // namespace warplens
