// SPDX-License-Identifier: Apache-2.0
// Textures and surfaces, compared with tests/data/hardware/textures.txt, which ask/textures.py recorded on an H200.
#include "tests/hardware/textures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace warplens::tests {
namespace textures_test {

using nlohmann::json;

float as_float(std::uint32_t word) { return std::bit_cast<float>(word); }

/// Results that are not exact yet: the maximum error, and the number of affected threads.
struct Slack {
  double difference = 0, share = 0;
};

Slack slack(const json& question) {
  const std::string group = question["group"], format = question["texture"]["format"],
                    kind = question["texture"]["kind"];
  const json sampler = question.value("sampler", json::object());
  const bool linear = sampler.value("filter", "point") == "linear";
  // Bytes as signed fractions: the sixteenth digit.
  if (format == "s8" && linear) return {1.01 / 32767, 0.3};
  // The table of colours is a few steps off the curve.
  if (group == "srgb") return {1.0 / 1024, 0.05};
  // Where gradients span an area, the hardware estimates its longer axis differently.
  if (group == "gradient") return sampler["mip"] == "linear" ? Slack{0.5, 0.65} : Slack{1, 0.35};
  // Sums over levels lose a few more digits; those of three dimensions have other weights.
  if (group == "trilinear") return kind == "3d" && linear ? Slack{1000, 0.2} : Slack{1e-6, 0.01};
  return {};
}

/// Cases that differ on purpose, or that are unresolved.
bool differs(const json& question) {
  const std::string group = question["group"], kind = question["texture"]["kind"], statement = question["do"];
  if (group == "other geometry") return true;                     // is a trap here
  if (group == "gather" && kind == "1d") return true;             // the same
  if (group == "gradient" && kind.ends_with("cube")) return true; // see level_of_gradient()
  if (group == "whole" && kind == "1d") return true;              // arrays cannot be read by integers
  if (question.value("sampler", json::object()).contains("anisotropy")) return true; // is not there
  if (question.value("sampler", json::object()).value("seamless", false) && question["sampler"]["filter"] == "linear")
    return true; // nor is this
  // The assembler packs a negative offset in a register so that it changes the row, too.
  return group == "offset" && kind == "1d" && statement.find("], {%a3}") != std::string::npos;
}

// Gradients that are no numbers.
bool is_finite(const TextureQuestions& all, const json& question, std::size_t thread) {
  if (question["group"] != "gradient") return true;
  for (const auto& [name, column] : all.inputs(question["in"]))
    if (!(std::fabs(as_float(column[thread])) < 1e4f)) return false;
  return true;
}

std::string described(const TextureQuestions& all, const json& question, std::size_t thread) {
  std::string text = ", thread " + std::to_string(thread) + ":";
  char number[64];
  for (const auto& [name, column] : all.inputs(question["in"])) {
    std::snprintf(number, sizeof number, " %s=%x(%g)", name.c_str(), column[thread],
                  static_cast<double>(as_float(column[thread])));
    text += number;
  }
  return text;
}

void compare(const TextureQuestions& all, const json& question, const Words& got, const Words& wanted,
             const std::string& what) {
  const Slack allowed = slack(question);
  std::size_t off = 0, counted = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!is_finite(all, question, i)) continue;
    ++counted;
    if (got[i] == wanted[i]) continue;
    ++off;
    const double a = as_float(got[i]), b = as_float(wanted[i]);
    if (!(std::fabs(a - b) <= allowed.difference * std::max(1.0, std::fabs(b)))) {
      ADD_FAILURE() << what << described(all, question, i) << " got " << got[i] << " (" << a << ") wanted " << wanted[i]
                    << " (" << b << ")";
      return;
    }
  }
  EXPECT_LE(static_cast<double>(off), allowed.share * static_cast<double>(counted)) << what;
}

// Up to two bytes in hexadecimal, the lower first.
std::uint64_t number(const std::string& digits) {
  const std::uint64_t low = std::stoul(digits.substr(0, 2), nullptr, 16);
  return digits.size() < 4 ? low : low | std::stoul(digits.substr(2), nullptr, 16) << 8;
}

// Surfaces after stores: texels that one thread has stored to, or none. Which of several threads wins is not said.
void compare_surfaces(const TextureQuestions& all, const json& question, const std::string& got,
                      const std::string& what) {
  const std::string wanted = question["after"], statement = question["do"], kind = question["texture"]["kind"];
  ASSERT_EQ(got.size(), wanted.size()) << what;
  const bool stores = question["group"] != "reduce";
  if (stores && (statement.find(".zero") == std::string::npos || (kind != "2d" && kind != "3d"))) return;
  const auto& in = all.inputs(question["in"]);
  std::map<std::size_t, int> stored;
  const auto beyond = [](std::uint32_t at, std::uint32_t size) { return at >= size; };
  for (std::size_t i = 0; stores && i < in.at("a0").size(); ++i) {
    const std::uint32_t x = in.at("a0")[i], y = in.at("a1")[i], z = kind == "3d" ? in.at("a2")[i] : 0;
    if (!beyond(x, 8) && !beyond(y, 6) && !beyond(z, 4)) ++stored[(z * 6 + y) * 8 + x];
  }
  const std::size_t digits = got.size() / (kind == "3d" ? 192 : 48);
  std::size_t compared = 0;
  for (std::size_t t = 0; stores && t * digits < got.size(); ++t) {
    if (stored[t] > 1) continue;
    ++compared;
    // Unsigned fractions of 16 bits are now and then rounded down.
    const std::uint64_t step = question["texture"]["format"] == "unorm16" ? 1 : 0;
    const std::size_t width = std::min<std::size_t>(digits, 4);
    for (std::size_t d = t * digits; d < (t + 1) * digits; d += width) {
      const std::uint64_t ours = number(got.substr(d, width)), theirs = number(wanted.substr(d, width));
      EXPECT_TRUE(ours == theirs || ours == theirs + step) << what << " texel " << t << ": " << ours << ", " << theirs;
    }
  }
  EXPECT_TRUE(!stores || compared > 24) << what;
  EXPECT_TRUE(stores || got == wanted) << what;
}

TEST(Textures, AsOnHardware) {
  const TextureQuestions all;
  std::size_t compared = 0, different = 0;
  for (const json& question : all.list()) {
    const std::string what = question["group"].get<std::string>() + ": " + question["texture"].dump() + " " +
                             question.value("sampler", json()).dump() + " " + question["do"].get<std::string>() + " " +
                             question["in"].get<std::string>();
    if (differs(question)) {
      ++different;
      continue;
    }
    const TextureQuestions::Answer answer = all.ask(question);
    if (question.contains("error")) {
      // What the driver refused was not asked; what stopped the kernel has to stop it here.
      const bool stopped = question["error"].get<std::string>().starts_with("cuCtxSynchronize");
      EXPECT_TRUE(!stopped || !answer.error.empty()) << what;
      continue;
    }
    EXPECT_EQ(answer.error, "") << what;
    for (const auto& [name, text] : question["out"].items()) {
      const Words wanted = TextureQuestions::words(text);
      compare(all, question, answer.out.at(name), wanted, what + " " + name);
      compared += wanted.size();
    }
    if (question.contains("after")) compare_surfaces(all, question, answer.after, what);
  }
  EXPECT_GT(compared, 170000u);
  EXPECT_LT(different, 50u);
}

} // namespace textures_test
} // namespace warplens::tests
