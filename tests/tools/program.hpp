// Runs the warplens program and keeps what it prints.
//
//   Output o = run_program({"check", "a.ptx"});   o.status == 2, o.err contains "a.ptx:3:1: error: …"
#pragma once

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace warplens::testing {

struct Output {
  int status = -1; ///< of exit; 128 and more: ended by a signal
  std::string out, err;
};

inline std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A folder of the running test, removed with it.
class Folder {
public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "warplens-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Writes a file in the folder; returns its whole path.
  [[nodiscard]] std::string write(const std::string& name, std::string_view content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return (path_ / name).string();
  }

private:
  std::filesystem::path path_;
};

inline Output run_program(const std::vector<std::string>& arguments) {
  const Folder folder;
  std::string command = "exec '" WARPLENS_PROGRAM "'";
  for (const std::string& a : arguments) {
    command += " '";
    for (const char c : a) command += c == '\'' ? std::string("'\\''") : std::string(1, c);
    command += "'";
  }
  const std::string out = (folder.path() / "out").string(), err = (folder.path() / "err").string();
  const int status = std::system((command + " >'" + out + "' 2>'" + err + "' </dev/null").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_text(out), read_text(err)};
}

} // namespace warplens::testing
