// SPDX-License-Identifier: Apache-2.0
#include "emulator/base/own_folder.hpp"

#include <dlfcn.h>
#include <link.h>

namespace warplens {

std::filesystem::path own_folder() {
  static const int here = 0;
  Dl_info info{};
  void* map = nullptr;
  if (dladdr1(&here, &info, &map, RTLD_DL_LINKMAP) == 0 || map == nullptr) return {};
  // The name of a program is as it was called, which may be without a folder; its map has none.
  const char* const name = static_cast<const link_map*>(map)->l_name;
  std::error_code unknown;
  const std::filesystem::path file = std::filesystem::canonical(*name == '\0' ? "/proc/self/exe" : name, unknown);
  return unknown ? std::filesystem::path() : file.parent_path();
}

} // namespace warplens
