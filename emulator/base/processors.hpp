// SPDX-License-Identifier: Apache-2.0
// Marks functions whose speed depends on the processor. They are compiled for the baseline and for AVX2; the loader
// chooses the faster version. Functions that they call are compiled for both only if they are inlined.
//
//   WARPLENS_PER_PROCESSOR int count_bits(const Masks& masks) { … std::popcount(…) … }
#pragma once

// The loader makes the choice before the thread sanitizer is initialised.
#if defined(__x86_64__) && defined(__ELF__) && !defined(__SANITIZE_THREAD__)
#define WARPLENS_PER_PROCESSOR [[gnu::target_clones("default", "arch=x86-64-v3")]]
#else
#define WARPLENS_PER_PROCESSOR
#endif
