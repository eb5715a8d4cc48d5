// SPDX-License-Identifier: Apache-2.0
#include "tools/module_file.hpp"

#include "api/files/input_file.hpp"
#include "api/session/limits.hpp"
#include "runtime/fatbin/executable.hpp"
#include "runtime/fatbin/module_image.hpp"
#include "tools/compiler.hpp"
#include "tools/cuobjdump.hpp"
#include "tools/output.hpp"

#include <fmt/format.h>

#include <iterator>

namespace warplens::tools {

namespace {

namespace fs = std::filesystem;

/// The containers from nvcc -rdc=true are parts of one module.
Expected<CodeOfFile> code_of_executable(std::span<const std::byte> bytes, model::ComputeCapability device) {
  const auto containers = fatbin::containers_in(bytes);
  if (!containers) return failure(containers.error());
  CodeOfFile code;
  Checked expanded; // thousands of small pieces add up
  std::vector<api::Source> parts;
  std::optional<Diagnostics> no_ptx;
  for (const fatbin::Embedded& embedded : *containers) {
    fatbin::LoadedCode loaded = fatbin::load_code(embedded.container, device);
    const bool is_empty = embedded.container.size() == fatbin::kContainerHeader; // beside those of -rdc=true
    if (!loaded && loaded.error().kind == fatbin::LoadError::Kind::invalid_image)
      return failure(loaded.error().diagnostics);
    if (!loaded && !is_empty) no_ptx = loaded.error().diagnostics;
    if (!loaded) continue;
    for (const api::Source& source : loaded->sources) expanded += source.text.size();
    if (const Limit& limit = limits::kExpandedBytes;
        !limit.admits(expanded) && !expanded.at_most((Checked(bytes.size()) * limits::kExpansion.most()).saturated()))
      return failure(limit.exceeded(fmt::format("a file of {} bytes", bytes.size()), expanded), limit.hint());
    code.notes.insert(code.notes.end(), loaded->notes.begin(), loaded->notes.end());
    if (embedded.is_part)
      std::move(loaded->sources.begin(), loaded->sources.end(), std::back_inserter(parts));
    else
      code.modules.push_back(std::move(loaded->sources));
  }
  if (!parts.empty()) code.modules.push_back(std::move(parts));
  if (code.modules.empty() && no_ptx) return failure(*no_ptx);
  if (code.modules.empty()) return failure("no device code in this file: it has no section .nv_fatbin");
  return code;
}

} // namespace

Expected<CodeOfFile> read_code(const fs::path& file, model::ComputeCapability device) {
  if (file.extension() == ".cu") {
    Expected<std::string> ptx = compile_to_ptx(file, device);
    if (!ptx) return failure(ptx.error());
    return CodeOfFile{{{{std::move(*ptx), file.string() + ".ptx"}}}, {}};
  }
  const Expected<std::string> read = api::read_file(file);
  if (!read) return failure(read.error());
  const std::string& text = *read;
  const auto bytes = std::as_bytes(std::span(text));
  const auto in_file = [&](Diagnostics errors) {
    errors.in_file(file.string());
    return failure(std::move(errors));
  };
  constexpr std::uint16_t kCuda = 190; // EM_CUDA: a cubin is an ELF file, too, but not for the host
  const bool is_cubin = bytes.size() > 19 && static_cast<unsigned char>(text[18]) == kCuda;
  if (fatbin::is_elf(bytes) && !is_cubin) {
    Expected<CodeOfFile> code = code_of_executable(bytes, device);
    if (!code) return in_file(code.error());
    return code;
  }
  if (std::optional<std::vector<std::string>> listed = listed_modules(text)) {
    if (listed->empty())
      return failure(fmt::format("'{}' is cuobjdump output without PTX: it lists only machine code", file.string()),
                     "run cuobjdump -ptx -all, or pass the executable to warplens");
    CodeOfFile code;
    for (std::string& module : *listed) code.modules.push_back({{std::move(module), file.string()}});
    return code;
  }
  fatbin::LoadedCode loaded = fatbin::load_code(bytes, device);
  if (!loaded) return in_file(loaded.error().diagnostics);
  if (!fatbin::is_container(bytes)) loaded->sources.front().file = file.string();
  return CodeOfFile{{std::move(loaded->sources)}, std::move(loaded->notes)};
}

Expected<std::vector<api::Source>> read_module(const fs::path& file, model::ComputeCapability device) {
  Expected<CodeOfFile> code = read_code(file, device);
  if (!code) return failure(code.error());
  if (code->modules.size() != 1)
    return failure(fmt::format("'{}' has {} modules: expected one", file.string(), code->modules.size()),
                   "run the program: warplens exec --analyze");
  Diagnostics notes;
  for (const std::string& note : code->notes) notes.warning({}, note);
  print(notes);
  return std::move(code->modules.front());
}

} // namespace warplens::tools
