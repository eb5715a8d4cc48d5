// The lane handlers against what a GPU answered: tests/data/hardware/forms.jsonl, README.md there.
#include "tests/exec/lane_machine.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

namespace warplens::exec {
namespace {

const std::string kData = std::string(WARPLENS_SOURCE_DIR) + "/tests/data/hardware/";
constexpr int kThreads = 256;

std::string text_of_file(const std::string& name) {
  std::ifstream file(kData + name);
  EXPECT_TRUE(file.is_open()) << name;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct HardwareForm {
  std::string op, out, kernel;
  std::vector<std::string> ins, sets;
  int tolerance = 0;
  std::vector<std::uint64_t> expected;
  std::vector<std::string> statements; // from the first load to the store
};

// The statements of each kernel, after the computation of addresses.
std::map<std::string, std::vector<std::string>> statements_by_kernel() {
  std::map<std::string, std::vector<std::string>> kernels;
  std::istringstream lines(text_of_file("forms.ptx"));
  std::string line, kernel;
  bool body = false;
  while (std::getline(lines, line)) {
    if (line.starts_with(".visible .entry ")) {
      kernel = line.substr(16, line.find('(') - 16);
      body = false;
    }
    body = body || line.starts_with("ld.global");
    if (!body || line.starts_with("//") || line.starts_with("}")) continue;
    std::istringstream parts(line);
    std::string statement;
    while (std::getline(parts, statement, ';'))
      if (const std::size_t start = statement.find_first_not_of(' '); start != std::string::npos)
        kernels[kernel].push_back(statement.substr(start));
  }
  return kernels;
}

const std::vector<HardwareForm>& forms() {
  static const std::vector<HardwareForm> all = [] {
    const auto kernels = statements_by_kernel();
    std::vector<HardwareForm> list;
    std::istringstream lines(text_of_file("forms.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const auto json = nlohmann::json::parse(line);
      HardwareForm form;
      form.op = json["op"];
      form.out = json["out"];
      form.kernel = json["kernel"];
      form.tolerance = json["tol"];
      form.ins = json["ins"].get<std::vector<std::string>>();
      form.sets = json["sets"].get<std::vector<std::string>>();
      std::istringstream words(json["result"].get<std::string>());
      for (std::string word; words >> word;) form.expected.push_back(std::stoull(word, nullptr, 16));
      form.statements = kernels.at(form.kernel);
      list.push_back(form);
    }
    return list;
  }();
  return all;
}

const std::map<std::string, std::vector<std::uint64_t>>& inputs() {
  static const auto all = [] {
    std::map<std::string, std::vector<std::uint64_t>> sets;
    const auto json = nlohmann::json::parse(text_of_file("inputs.json"));
    for (const auto& [name, values] : json.items())
      for (const auto& value : values) sets[name].push_back(std::stoull(value.get<std::string>(), nullptr, 16));
    return sets;
  }();
  return all;
}

LaneValues lanes_of(const std::vector<std::uint64_t>& values, int warp) {
  LaneValues lanes{};
  std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(warp) * kWarpSize, kWarpSize, lanes.begin());
  return lanes;
}

// Runs a form's statements; an empty string, or why that is not possible.
std::string run_form(const HardwareForm& form, const Level& level, std::vector<std::uint64_t>& results) {
  for (int warp = 0; warp < kThreads / kWarpSize; ++warp) {
    LaneMachine machine(level);
    for (const std::string& statement : form.statements) {
      if (statement.starts_with("ld.global")) {
        const std::size_t set = statement.find("%l10]") != std::string::npos   ? 0
                                : statement.find("%l11]") != std::string::npos ? 1
                                                                               : 2;
        machine.set("%l15", lanes_of(inputs().at(form.sets.at(set)), warp));
      } else if (statement.starts_with("st.global")) {
        for (const std::uint64_t value : machine.get("%l16")) results.push_back(value);
      } else if (statement != "ret") {
        if (std::string why = machine.run(statement); !why.empty()) return why;
      }
    }
  }
  return {};
}

// ---- how close is close enough

double value_of(std::uint64_t bits, std::string_view type) {
  if (type == "f64") return std::bit_cast<double>(bits);
  if (type == "f32") return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if (type == "bf16") return std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16));
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double fraction = static_cast<double>(bits & 0x3ff) / 1024;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15));
}

std::int64_t ordered(std::uint64_t bits, std::string_view type) {
  if (type == "f64")
    return static_cast<std::int64_t>(bits) < 0 ? -static_cast<std::int64_t>(bits << 1 >> 1)
                                               : static_cast<std::int64_t>(bits);
  const auto word = static_cast<std::int64_t>(bits & 0x7fffffff);
  return (bits >> 31) != 0 ? -word : word;
}

std::string opcode_of(const std::string& op) { return op.substr(0, op.find('.')); }

// Where the manual leaves the payload of a NaN open.
bool any_nan(const HardwareForm& form) {
  const std::string opcode = opcode_of(form.op);
  const bool chooses =
      opcode == "cvt" || opcode == "min" || opcode == "max" || opcode == "selp" || opcode == "slct" || opcode == "set";
  return (form.out == "f32" || form.out == "f64") && !chooses;
}

// The manual's bound for an approximation of f(x), scalar or one half of a pair (tol < 0).
bool within_manual_bound(const std::string& opcode, std::string_view type, double x, double got) {
  double exact = 0, bound = 0;
  if (opcode == "sin")
    exact = std::sin(x), bound = 0x1p-20;
  else if (opcode == "cos")
    exact = std::cos(x), bound = 0x1p-20;
  else if (opcode == "lg2")
    exact = std::log2(x), bound = 0x1p-22 * (x > 0.5 && x < 2 ? 1 : std::fabs(exact));
  else if (opcode == "ex2")
    exact = std::exp2(x), bound = std::fabs(exact) * (type == "f16" ? 0x1p-9 : type == "bf16" ? 0x1p-7 : 0x1p-22);
  else if (opcode == "tanh")
    exact = std::tanh(x), bound = type == "f16" ? 0x1.05p-11 : type == "bf16" ? 0x1p-8 : std::fabs(exact) * 0x1p-11;
  else
    return false;
  if (std::isnan(exact)) return std::isnan(got);
  if (std::isinf(exact)) return got == exact;
  const double largest = type == "f16" ? 65520 : 0x1.ffp127; // rounds to infinity
  if (std::fabs(exact) >= largest) return std::isinf(got) && std::signbit(got) == std::signbit(exact);
  const double tiniest = type == "f16" ? 0x1p-24 : type == "bf16" ? 0x1p-133 : 0x1p-149;
  return std::fabs(got - exact) <= bound + tiniest && std::signbit(got) == std::signbit(exact);
}

bool approximates(const HardwareForm& form, std::uint64_t x, std::uint64_t got) {
  const std::string opcode = opcode_of(form.op);
  if (!form.out.ends_with("x2"))
    return within_manual_bound(opcode, form.out, value_of(x, form.out), value_of(got, form.out));
  const std::string type = form.out.substr(0, form.out.size() - 2);
  for (const int shift : {0, 16})
    if (!within_manual_bound(opcode, type, value_of(x >> shift & 0xffff, type), value_of(got >> shift & 0xffff, type)))
      return false;
  return true;
}

bool agree(const HardwareForm& form, int thread, std::uint64_t got) {
  const std::uint64_t expected = form.expected[thread];
  if (got == expected) return true;
  if (any_nan(form) && std::isnan(value_of(got, form.out)) && std::isnan(value_of(expected, form.out))) return true;
  if (form.tolerance > 0) return std::llabs(ordered(got, form.out) - ordered(expected, form.out)) <= form.tolerance;
  return form.tolerance < 0 && approximates(form, inputs().at(form.sets[0])[thread], got);
}

// Where the assembler folds immediates into something that its own manual does not say, and that the same hardware does
// not do with the same numbers in registers: bfe.s32 beyond the word, bfi.b32 of 32 bits elsewhere than at 0.
bool folded_by_the_assembler(const HardwareForm& form) { return form.kernel == "k129" || form.kernel == "k144"; }

class LaneForms : public testing::TestWithParam<int> {};

TEST_P(LaneForms, MatchTheHardware) {
  const Level& level = levels()[GetParam()];
  std::map<std::string, std::vector<std::string>> skipped; // why: which
  int checked = 0;
  for (const HardwareForm& form : forms()) {
    std::vector<std::uint64_t> results;
    if (folded_by_the_assembler(form)) {
      skipped["immediates folded by the assembler"].push_back(form.op);
      continue;
    }
    if (const std::string why = run_form(form, level, results); !why.empty()) {
      skipped[why].push_back(form.op);
      continue;
    }
    ++checked;
    ASSERT_EQ(results.size(), form.expected.size()) << form.op;
    int wrong = 0;
    std::string first;
    for (int i = 0; i < kThreads; ++i) {
      if (agree(form, i, results[i]) || ++wrong > 3) continue;
      char text[200];
      std::string in;
      for (const std::string& set : form.sets) {
        std::snprintf(text, sizeof text, " %llx", static_cast<unsigned long long>(inputs().at(set)[i]));
        in += text;
      }
      std::snprintf(text, sizeof text, "\n  thread %d (%s): got %llx, hardware %llx", i, in.c_str(),
                    static_cast<unsigned long long>(results[i]), static_cast<unsigned long long>(form.expected[i]));
      first += text;
    }
    EXPECT_EQ(wrong, 0) << form.kernel << " " << form.op << " at " << level.name << first;
  }
  int left = 0;
  for (const auto& [why, which] : skipped) {
    left += static_cast<int>(which.size());
    std::string names;
    for (const std::string& name : which) names += " " + name;
    std::cout << which.size() << " forms not run here, " << why << ":" << names << "\n";
  }
  // Video instructions, warp-level instructions, set and the second results of setp are not functors.
  constexpr int kKnownOthers = 295;
  EXPECT_LE(left, kKnownOthers);
  EXPECT_GE(checked, static_cast<int>(forms().size()) - kKnownOthers);
}

INSTANTIATE_TEST_SUITE_P(Levels, LaneForms, testing::Range(0, static_cast<int>(levels().size())),
                         [](const auto& level) {
                           std::string name(levels()[level.param].name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// What the manual leaves open or says otherwise, as measured on the same device with numbers in registers.
TEST(LaneFacts, MeasuredWithRegisters) {
  const auto one = [](const std::string& statement, std::uint64_t a, std::uint64_t b, std::uint64_t c = 0,
                      std::uint64_t d = 0) {
    LaneMachine machine(levels().front());
    const auto all = [](std::uint64_t value) {
      LaneValues values;
      values.fill(value);
      return values;
    };
    for (const char kind : {'r', 'l', 'h', 'f', 'd'}) {
      const std::string name = std::string("%") + kind;
      machine.set(name + "1", all(a));
      machine.set(name + "2", all(b));
      machine.set(name + "3", all(c));
      machine.set(name + "4", all(d));
    }
    std::istringstream parts(statement);
    std::string part;
    while (std::getline(parts, part, ';')) EXPECT_EQ(machine.run(part), "") << part;
    return machine.get(part.substr(part.find('%'), 3))[7];
  };
  // Division by zero: all ones, the remainder too.
  EXPECT_EQ(one("div.u32 %r0, %r1, %r2", 5, 0), 0xffffffffu);
  EXPECT_EQ(one("rem.u32 %r0, %r1, %r2", 5, 0), 0xffffffffu);
  EXPECT_EQ(one("rem.s16 %h0, %h1, %h2", 5, 0), 0xffffu);
  EXPECT_EQ(one("rem.u64 %l0, %l1, %l2", 5, 0), ~std::uint64_t{0});
  EXPECT_EQ(one("div.s32 %r0, %r1, %r2", 0x80000000, 0xffffffff), 0x80000000u);
  // Bit fields that reach beyond the word.
  EXPECT_EQ(one("bfe.s32 %r0, %r1, %r2, %r3", 0x21, 255, 255), 0u);
  EXPECT_EQ(one("bfe.s32 %r0, %r1, %r2, %r3", 0x80000021, 40, 9), 0xffffffffu);
  EXPECT_EQ(one("bfi.b32 %r0, %r1, %r2, %r3, %r4", 0x21, 0x10000, 7, 32), 0x1080u);
  // The flag of sub.cc is the carry: addc after 3 - 1 adds one, after 1 - 3 none.
  EXPECT_EQ(one("sub.cc.u32 %r9, %r1, %r2;addc.u32 %r0, %r1, %r2", 3, 1), 5u);
  EXPECT_EQ(one("sub.cc.u32 %r9, %r1, %r2;addc.u32 %r0, %r1, %r2", 1, 3), 4u);
  // .ftz is judged as if the exponent had no bound.
  EXPECT_EQ(one("mul.ftz.f32 %f0, %f1, %f2", 0x3f7fffff, 0x00800000), 0u);
  EXPECT_EQ(one("cvt.rn.ftz.f32.f64 %f0, %d1", 0x380fffffe0000000, 0), 0u);
  EXPECT_EQ(one("cvt.rn.ftz.f32.f64 %f0, %d1", 0x380ffffff0000000, 0), 0x00800000u);
  // Payloads of NaN.
  EXPECT_EQ(one("cvt.f64.f32 %d0, %f1", 0x7f9d23bf, 0), 0x7ffba477e0000000u);
  EXPECT_EQ(one("cvt.f64.f16 %d0, %h1", 0x7c01, 0), 0x7ff8040000000000u);
  EXPECT_EQ(one("cvt.rn.bf16.f64 %h0, %d1", 0xfff9abcdef012345, 0), 0xffcdu);
  EXPECT_EQ(one("cvt.rn.f16.f64 %h0, %d1", 0x7ff4567890123456, 0), 0x7f15u);
}

} // namespace
} // namespace warplens::exec
