// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace warplens::api {

/// Keeps up to 64 MiB of freed memory in the process. The C library returns freed memory to the system at once where it
/// is more than 128 KiB, so each of many launches would get its pages anew; on virtual machines, this takes up to a
/// tenth of the time of a watched launch. It concerns the whole process, so the C API leaves it to its callers.
void keep_freed_memory();

} // namespace warplens::api
