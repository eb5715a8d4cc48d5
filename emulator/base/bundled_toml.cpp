// SPDX-License-Identifier: Apache-2.0
// toml++ for the bundle: Debian has only the shared library, but the header contains the code.
#define TOML_IMPLEMENTATION
#include "emulator/base/toml.hpp"
