// SPDX-License-Identifier: Apache-2.0
#include "analyzers/trace/file.hpp"

#include "emulator/base/own_folder.hpp"

#include <fmt/format.h>

#include <dlfcn.h>

#include <mutex>

namespace warplens::analyzers::trace {

namespace {

constexpr const char* kLibrary = "libwarplens_hdf5.so";

/// Where it is relative to the file that contains this code: for libwarplens_trace.so and the installed Python package;
/// for the programs and the Python package of a build folder; for the installed program.
constexpr const char* kFolders[] = {".", "../lib/cuda", "../../lib/cuda", WARPLENS_INSTALLED_CUDA};

Expected<const FileFunctions*> opened() {
  const std::filesystem::path own = own_folder();
  std::string why = fmt::format("cannot find {}", kLibrary);
  for (const char* const folder : kFolders) {
    const std::filesystem::path file = (own / folder / kLibrary).lexically_normal();
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) continue;
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      why = dlerror();
      continue;
    }
    if (const void* const functions = dlsym(library, kFileFunctions))
      return static_cast<const FileFunctions*>(functions);
    why = fmt::format("'{}' has no '{}'", file.string(), kFileFunctions);
  }
  return failure(fmt::format("traces need HDF5: {}", why));
}

/// Tried again where it failed, for instance because there was too little memory.
Expected<const FileFunctions*> functions() {
  static std::mutex& mutex = *new std::mutex;
  static const FileFunctions* known = nullptr;
  const std::lock_guard lock(mutex);
  if (known != nullptr) return known;
  Expected<const FileFunctions*> found = opened();
  if (found) known = *found;
  return found;
}

} // namespace

Expected<std::unique_ptr<File>> File::create(const std::filesystem::path& path, std::string_view creator,
                                             const std::optional<PartId>& part) {
  const Expected<const FileFunctions*> library = functions();
  if (!library) return failure(library.error());
  return (*library)->create(path, creator, part);
}

Expected<void> File::join(const std::filesystem::path& path, std::string_view creator, const Joined& joined) {
  const Expected<const FileFunctions*> library = functions();
  if (!library) return failure(library.error());
  return (*library)->join(path, creator, joined);
}

Expected<std::unique_ptr<File>> File::open(const std::filesystem::path& path) {
  const Expected<const FileFunctions*> library = functions();
  if (!library) return failure(library.error());
  return (*library)->open(path);
}

Expected<std::uint64_t> File::append(Table table, std::span<const std::byte> rows) {
  const Rows one{table, rows};
  const Expected<std::vector<std::uint64_t>> first = append(std::span(&one, 1));
  if (!first) return failure(first.error());
  return first->front();
}

} // namespace warplens::analyzers::trace
