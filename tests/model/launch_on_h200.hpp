// SPDX-License-Identifier: Apache-2.0
// A launch on an H200, for the tests of the models of current hardware: each test changes one count of it.
//
//   KernelStatistics s = launch_on_h200();
//   s.l1_hit_ratio = 0.25;
//   const Prediction p = predicted_on_h200(kCriticalPath, s);
#pragma once

#include "model/models.hpp"

#include <gtest/gtest.h>

namespace warplens::model {

inline Device h200() { return *find_device("h200"); }

/// 264 blocks of 8 warps, two on each multiprocessor: each warp loads 16 sectors and stores 8.
inline KernelStatistics launch_on_h200() {
  KernelStatistics s;
  s.threads_per_block = 256;
  s.blocks = 264;
  s.resident_blocks = 8;
  s.instructions = 100;
  s.global_requests = 6;
  s.transactions_32 = 24;
  s.transactions_64 = s.transactions_128 = 0;
  s.load_transactions = 16;
  s.store_transactions = 8;
  s.l1_wavefronts = 10;
  s.synchronizations = 3;
  s.load_waits = 2; // these two only throughput-latency needs
  s.issue_chain = 300;
  s.path_l2 = 1000; // and these only critical-path
  s.path_memory = 1600;
  return s;
}

inline Prediction predicted_on_h200(std::string_view model, const KernelStatistics& s, const Device& d = h200()) {
  const auto p = predict(model, s, d);
  EXPECT_TRUE(p) << (p ? "" : p.error().list().front().message);
  return p ? *p : Prediction{};
}

} // namespace warplens::model
