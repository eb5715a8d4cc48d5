// SPDX-License-Identifier: Apache-2.0
// Runs the test cases of tests/data/hardware/textures.txt in the emulator; ask/textures.py there describes the format
// of the lines.
#pragma once

#include "emulator/exec/state/texture.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace warplens::tests {

using Words = std::vector<std::uint32_t>;

class TextureQuestions {
public:
  TextureQuestions(); ///< reads the file

  [[nodiscard]] const std::vector<nlohmann::json>& list() const { return questions_; }

  struct Answer {
    std::string error; ///< why the emulator has no answer
    std::map<std::string, Words> out;
    std::string after; ///< the texels, in hexadecimal
  };
  [[nodiscard]] Answer ask(const nlohmann::json& question) const;

  /// Parses words as in "= 1f =".
  static Words words(const std::string& text);
  /// The words of a set for each input register, %a0 to %a11, by thread.
  [[nodiscard]] const std::map<std::string, Words>& inputs(const std::string& set) const { return sets_.at(set); }

private:
  std::string kernel_;
  std::map<std::string, std::map<std::string, Words>> sets_;
  std::vector<nlohmann::json> questions_;
};

} // namespace warplens::tests
