// SPDX-License-Identifier: Apache-2.0
#include "api/launch/sample_text.hpp"

#include "api/launch/launch.hpp"

#include <fmt/format.h>

#include <charconv>

namespace warplens::api {

Expected<exec::BlockSampling> parse_sampling(std::string_view word) {
  using How = exec::BlockSampling::How;
  if (word == "exact") return exec::BlockSampling{};
  if (word == "auto") return exec::BlockSampling{How::automatic, 0};
  exec::BlockSampling result{How::fraction, 0};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), result.fraction);
  if (error != std::errc() || end != word.data() + word.size() || !(result.fraction > 0 && result.fraction <= 1))
    return failure(fmt::format("sample {}: expected exact, auto or a fraction from 0 to 1, such as 0.01", word));
  return result;
}

std::string text_of(const analyzers::SampleReport& sample) {
  const auto percent = [](double part) { return fmt::format("{:.2g} %", 100 * part); };
  const auto of = [](std::uint64_t part, std::uint64_t all) {
    return static_cast<double>(part) / static_cast<double>(all);
  };
  std::string text = fmt::format("sampled: the accesses of {} of {} blocks ({}) are counted, the others extrapolated; "
                                 "estimated relative standard error of the main counters {}",
                                 sample.watched, sample.blocks, percent(of(sample.watched, sample.blocks)),
                                 sample.largest == 0 ? "0" : percent(sample.largest));
  if (sample.uncovered != 0)
    text +=
        fmt::format("; {} of the memory accesses are of instructions that no counted block executed, and are missing",
                    percent(sample.uncovered));
  if (sample.unseen_blocks != 0)
    text += fmt::format("; {} of the blocks behave like none of the counted ones",
                        percent(of(sample.unseen_blocks, sample.blocks)));
  return text;
}

} // namespace warplens::api
