// What a rule is called and where it came from. It decides nothing: two rules that differ in no more say the same.
#pragma once

#include <string>

namespace warplens::rules {

struct Label {
  std::string name;
  std::string title;
  std::string source; ///< where it was read; may be empty
  std::string text;   ///< its TOML
  std::string file;   ///< that it was read from; empty: it is built in
};

} // namespace warplens::rules
