// SPDX-License-Identifier: Apache-2.0
// What libwarplens_audit.so calls in libwarplens_static.so.
#pragma once

#include <cstdint>

/// Replaces the functions of NVIDIA's runtime in a library that was mapped at this address, and not initialized.
extern "C" __attribute__((visibility("default"))) void warplens_replace_late(const char* path, std::uint64_t base);
