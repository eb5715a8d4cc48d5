// SPDX-License-Identifier: Apache-2.0
// clusterlaunchcontrol (manual 9.7.13.17): a block cancels a cluster that has not started, to do its work.
//
// try_cancel is op[0], which addresses the response, and op[1], which addresses the mbarrier; `extra`: kMulticast
// (async_copy.hpp), or 0. query_cancel: src[0] a response, dst[0] a predicate, or a coordinate and `extra` which one.
//
// The manual leaves the 16 bytes of a response open. Here they are four words: the coordinates of the first block of
// the cluster, and 1 if it was cancelled.
#pragma once

#include "emulator/exec/state/warp.hpp"

namespace warplens::exec {

const Op* try_cancel(const Op*, Warp*);
const Op* query_canceled(const Op*, Warp*);
const Op* query_first_cta(const Op*, Warp*);

} // namespace warplens::exec
