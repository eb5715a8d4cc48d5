// SPDX-License-Identifier: Apache-2.0
// The user's cache folder, in which the emulator keeps compiled kernels and the command line compiled .cu files.
#pragma once

#include "emulator/base/entry_folder.hpp"
