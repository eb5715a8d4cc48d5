// SPDX-License-Identifier: Apache-2.0
// Every instruction form of tests/data/hardware/forms.jsonl, run as its kernel in forms.ptx, at every level,
// compared with the results of an H200. README.md there describes the files.
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <sstream>

namespace warplens {
namespace forms_test {

constexpr int kThreads = 256;

struct HardwareForm {
  std::string op, out, kernel;
  std::vector<std::string> ins, sets;
  int tolerance = 0;
  std::vector<std::uint64_t> expected;
};

const std::vector<HardwareForm>& forms() {
  static const std::vector<HardwareForm> all = [] {
    std::vector<HardwareForm> list;
    std::istringstream lines(tests::data_file("hardware/forms.jsonl"));
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
      list.push_back(form);
    }
    return list;
  }();
  return all;
}

const std::map<std::string, std::vector<std::uint64_t>>& inputs() {
  static const auto all = [] {
    std::map<std::string, std::vector<std::uint64_t>> sets;
    const auto json = nlohmann::json::parse(tests::data_file("hardware/inputs.json"));
    for (const auto& [name, values] : json.items())
      for (const auto& value : values) sets[name].push_back(std::stoull(value.get<std::string>(), nullptr, 16));
    return sets;
  }();
  return all;
}

std::uint64_t buffer_of(tests::Emulated& machine, const std::vector<std::uint64_t>& values) {
  std::vector<std::uint32_t> words(2 * values.size());
  std::memcpy(words.data(), values.data(), 8 * values.size());
  return machine.buffer(words);
}

// Runs a form's kernel; an empty string, or why that is not possible.
std::string run_form(tests::Emulated& machine, const HardwareForm& form, const exec::Level& level,
                     std::vector<std::uint64_t>& results) {
  tests::Emulated::Request request;
  request.kernel = form.kernel;
  request.shape.block[0] = kThreads;
  request.level = &level;
  const std::vector<std::uint64_t> none(kThreads, 0);
  for (std::size_t i = 0; i < 3; ++i)
    request.arguments.push_back({buffer_of(machine, i < form.sets.size() ? inputs().at(form.sets[i]) : none), 8});
  const std::uint64_t output = buffer_of(machine, none);
  request.arguments.push_back({output, 8});
  std::string why = machine.run(request);
  const auto* const d = reinterpret_cast<const std::uint64_t*>(output);
  results.assign(d, d + kThreads);
  machine.free_buffers();
  return why;
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
  if (form.tolerance > 0) return std::llabs(ordered(got, form.out) - ordered(expected, form.out)) <= form.tolerance;
  return form.tolerance < 0 && approximates(form, inputs().at(form.sets[0])[thread], got);
}

std::string first_differences(const HardwareForm& form, const std::vector<std::uint64_t>& results) {
  std::ostringstream text;
  int shown = 0;
  for (int i = 0; i < kThreads && shown < 3; ++i) {
    if (agree(form, i, results[i])) continue;
    ++shown;
    text << std::hex << "\n  thread " << i << " (";
    for (const std::string& set : form.sets) text << " " << inputs().at(set)[i];
    text << " ): got " << results[i] << ", hardware " << form.expected[i];
  }
  return text.str();
}

class Forms : public testing::TestWithParam<int> {};

TEST_P(Forms, AsOnHardware) {
  const exec::Level& level = exec::levels()[GetParam()];
  tests::Emulated machine(tests::data_file("hardware/forms.ptx"), "forms.ptx");
  ASSERT_EQ(forms().size(), 1012u);
  for (const HardwareForm& form : forms()) {
    std::vector<std::uint64_t> results;
    EXPECT_EQ(run_form(machine, form, level, results), "") << form.kernel << " " << form.op;
    EXPECT_EQ(first_differences(form, results), "") << form.kernel << " " << form.op << " at " << level.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Forms, testing::Range(0, static_cast<int>(exec::levels().size())),
                         [](const auto& one) {
                           std::string name(exec::levels()[one.param].name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

} // namespace forms_test
} // namespace warplens
