// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/driver_files.hpp"

#include "tests/fuzz/target.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace warplens::fuzz {

namespace fs = std::filesystem;

namespace {

/// Removed when the process ends. In memory, if there is a place for it: a disk needs more time than most targets.
class Folder {
public:
  Folder() {
    const fs::path memory = "/dev/shm";
    const bool usable = std::getenv("TMPDIR") == nullptr && access(memory.c_str(), W_OK | X_OK) == 0;
    std::string name = ((usable ? memory : fs::temp_directory_path()) / "warplens-fuzz-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) wrong("no folder for temporary files");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

private:
  fs::path path_;
};

} // namespace

void add_inputs(const std::string& path, std::vector<std::string>& inputs) {
  std::vector<fs::path> files;
  if (fs::is_directory(path)) {
    for (const auto& entry : fs::recursive_directory_iterator(path))
      if (entry.is_regular_file()) files.push_back(entry.path());
  } else {
    files.emplace_back(path);
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    if (!in) {
      std::fprintf(stderr, "fuzz_targets: cannot read '%s'\n", file.c_str());
      std::exit(2);
    }
    std::stringstream text;
    text << in.rdbuf();
    inputs.push_back(std::move(text).str());
  }
}

std::string file_with(std::string_view content, std::string_view name) {
  static const Folder folder;
  const fs::path file = folder.path() / name;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!out.flush()) wrong("cannot write a temporary file");
  return file.string();
}

void wrong(std::string_view what) {
  std::fprintf(stderr, "fuzz_targets: wrong: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

} // namespace warplens::fuzz
