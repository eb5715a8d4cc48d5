// SPDX-License-Identifier: Apache-2.0
// Runs the warplens program and captures its output.
//
//   Output o = run_program({"check", "a.ptx"});   o.status == 2, o.err contains "a.ptx:3:1: error: …"
#pragma once

#include "tests/tools/folder.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace warplens::testing {

struct Output {
  int status = -1; ///< exit status; 128 or more: terminated by a signal
  std::string out, err;
};

inline Output run_command(const std::vector<std::string>& words) {
  const Folder folder;
  std::string command = "exec";
  for (const std::string& a : words) {
    command += " '";
    for (const char c : a) command += c == '\'' ? std::string("'\\''") : std::string(1, c);
    command += "'";
  }
  const std::string out = (folder.path() / "out").string(), err = (folder.path() / "err").string();
  const int status = std::system((command + " >'" + out + "' 2>'" + err + "' </dev/null").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_text(out), read_text(err)};
}

inline Output run_program(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {WARPLENS_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_command(words);
}

} // namespace warplens::testing
