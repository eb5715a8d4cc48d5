// SPDX-License-Identifier: Apache-2.0
// The header of a module: .version, .target and .address_size.
#include "emulator/ir/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace warplens::ir {

void Builder::version(Lexeme number) {
  int major = 0;
  int minor = 0;
  const char* const end = number.text.data() + number.text.size();
  const auto first = std::from_chars(number.text.data(), end, major);
  const bool has_minor = first.ec == std::errc{} && first.ptr != end && *first.ptr == '.';
  const auto second = has_minor ? std::from_chars(first.ptr + 1, end, minor) : first;
  if (!has_minor || second.ec != std::errc{} || second.ptr != end || minor > 9 || major < 1 || major > 99) {
    error(number.where, fmt::format("expected a version such as 9.0 but found '{}'", number.text));
    return;
  }
  const int version = major * 10 + minor;
  constexpr int kVersions[] = {10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 30, 31, 32, 40, 41, 42, 43, 50, 51, 60, 61, 62,
                               63, 64, 65, 70, 71, 72, 73, 74, 75, 76, 77, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88};
  constexpr int kNewestAsked = 90; // later versions may exist
  if (version < kNewestAsked && std::find(std::begin(kVersions), std::end(kVersions), version) == std::end(kVersions))
    return error(number.where, fmt::format("there is no PTX ISA .version {}", number.text));
  if (saw_version_) return error(number.where, "'.version' must appear once, at the start of the file");
  module_.version = version;
  saw_version_ = true;
}

namespace {
/// The PTX version, times ten, that introduced a target ("90a"); 10 for an unknown one.
int first_version(std::string_view target) {
  struct Known {
    std::string_view target;
    int ptx;
  };
  constexpr Known kTargets[] = {
      {"12", 12},   {"13", 12},   {"20", 20},   {"21", 20},   {"30", 30},   {"32", 40},   {"35", 31},   {"37", 41},
      {"50", 40},   {"52", 41},   {"53", 42},   {"60", 50},   {"61", 50},   {"62", 50},   {"70", 51},   {"72", 61},
      {"75", 63},   {"80", 70},   {"82", 62},   {"86", 71},   {"87", 74},   {"88", 73},   {"89", 78},   {"90", 78},
      {"90a", 80},  {"100", 86},  {"100f", 88}, {"100a", 86}, {"101", 86},  {"101f", 88}, {"101a", 86}, {"103", 88},
      {"103f", 88}, {"103a", 88}, {"110", 90},  {"110f", 90}, {"110a", 90}, {"120", 87},  {"120f", 88}, {"120a", 87},
      {"121", 88},  {"121f", 88}, {"121a", 88}};
  const auto* const found =
      std::find_if(std::begin(kTargets), std::end(kTargets), [&](const Known& k) { return k.target == target; });
  return found == std::end(kTargets) ? 10 : found->ptx;
}
} // namespace

/// The header must come first; reports a missing header once.
void Builder::end_header(SourceLocation where) {
  if (!saw_item_ && !saw_version_)
    error(where, "expected '.version' at the start of the file");
  else if (!saw_item_ && !saw_target_)
    error(where, "expected '.target' after '.version'");
  saw_item_ = true;
}

void Builder::target(const std::vector<Lexeme>& words) {
  if (!saw_version_) return end_header(words[0].where);
  for (const Lexeme& word : words) {
    const std::string_view text = word.text;
    const bool is_sm = text.starts_with("sm_");
    if (!is_sm && !text.starts_with("compute_")) {
      constexpr std::string_view kOptions[] = {"texmode_unified", "texmode_independent", "texmode_raw", "debug",
                                               "map_f64_to_f32"};
      if (std::find(std::begin(kOptions), std::end(kOptions), text) == std::end(kOptions)) {
        error(word.where, fmt::format("unknown target '{}'", text),
              did_you_mean(text, {std::begin(kOptions), std::end(kOptions)}));
        continue;
      }
      const std::string_view kept = module_.intern(text);
      auto& options = module_.target_options;
      if (!saw_target_) {
        error(word.where, fmt::format("expected a target such as sm_90 before '{}'", text));
        saw_target_ = true;
      }
      if (std::find(options.begin(), options.end(), kept) == options.end()) options.push_back(kept);
      continue;
    }
    int sm = 0;
    const char* const start = text.data() + (is_sm ? 3 : 8);
    const auto parsed = std::from_chars(start, text.data() + text.size(), sm);
    const std::string_view suffix(parsed.ptr, static_cast<std::size_t>(text.data() + text.size() - parsed.ptr));
    if (parsed.ec != std::errc{} || sm < 10 || (!suffix.empty() && suffix != "a" && suffix != "f")) {
      error(word.where, fmt::format("unknown target '{}'", text));
    } else if (!saw_target_) {
      module_.sm = sm;
      module_.target = module_.intern(text);
      saw_target_ = true;
    }
    if (parsed.ec == std::errc{}) {
      const int needed = first_version(text.substr(static_cast<std::size_t>(start - text.data())));
      if (saw_version_ && module_.version < needed)
        error(word.where, fmt::format("'{}' requires PTX ISA .version {}.{} or later", text, needed / 10, needed % 10));
    }
  }
  const auto& options = module_.target_options;
  if (std::count_if(options.begin(), options.end(), [](std::string_view o) { return o.starts_with("texmode_"); }) > 1)
    error(words[0].where, "a target can have only one texture mode");
  for (const Lexeme& word : words)
    if (word.text == "map_f64_to_f32" && module_.sm >= 13)
      error(word.where, fmt::format("map_f64_to_f32 is allowed only for targets before sm_13, got {}", module_.target),
            "sm_13 and later targets have double precision");
}

/// Checks a directive that PTX version `ptx` (times ten) introduced.
void Builder::requires_version(int ptx, Lexeme directive) {
  if (saw_version_ && module_.version < ptx)
    error(directive.where,
          fmt::format("'{}' requires PTX ISA .version {}.{} or later", directive.text, ptx / 10, ptx % 10));
}

void Builder::address_size(Lexeme number) {
  if (!saw_target_) return end_header(number.where);
  requires_version(23, {".address_size", number.where});
  const auto bits = unsigned_of(number);
  if (!bits) return;
  if (*bits != 32 && *bits != 64) {
    error(number.where, fmt::format("expected 32 or 64 but found '{}'", number.text));
    return;
  }
  module_.address_size = static_cast<int>(*bits);
}

} // namespace warplens::ir
