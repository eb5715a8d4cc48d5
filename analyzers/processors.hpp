// Marks functions whose speed depends on the processor: compiled for the oldest and for those with AVX2, the better one
// is chosen when the program is loaded. What such a function calls is compiled along with it where it is inlined.
//
//   WARPLENS_PER_PROCESSOR int count_bits(const Masks& masks) { … std::popcount(…) … }
#pragma once

// The thread sanitizer is not ready yet when the choice is made.
#if defined(__x86_64__) && defined(__ELF__) && !defined(__SANITIZE_THREAD__)
#define WARPLENS_PER_PROCESSOR [[gnu::target_clones("default", "arch=x86-64-v3")]]
#else
#define WARPLENS_PER_PROCESSOR
#endif
