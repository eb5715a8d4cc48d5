// SPDX-License-Identifier: Apache-2.0
// write_metrics DOCS: writes DOCS/metrics.md, and the metrics in DOCS/json-schema.json.
#include "tests/docs/metric_tables.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

namespace {

bool write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return static_cast<bool>(file);
}

} // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: write_metrics DOCS\n";
    return 2;
  }
  const std::filesystem::path docs = arguments[1], schema = docs / "json-schema.json";
  std::ostringstream old;
  old << std::ifstream(schema, std::ios::binary).rdbuf();
  const bool fine = write(docs / "metrics.md", warplens::docs::metrics_page()) &&
                    write(schema, warplens::docs::with_metrics(old.str()));
  return fine ? 0 : 1;
}
