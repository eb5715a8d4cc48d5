// SPDX-License-Identifier: Apache-2.0
#include "runtime/static_runtime/lazy.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace warplens::runtime {

extern "C" {

/// The first target of entries: saves the argument registers, calls find() to look up the function, and jumps to it.
/// The entry is in r11, or x17.
void warplens_find_and_go_on();

__attribute__((visibility("hidden"), used)) const void* warplens_find(Entry* entry) {
  // The handle is not kept: dlopen() counts references, and several threads can do this at the same time.
  void* const library = dlopen(entry->runtime->path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const void* const found = library != nullptr ? dlsym(library, entry->name.c_str()) : nullptr;
  if (found == nullptr) {
    const char* const why = dlerror();
    std::fprintf(stderr, "warplens: cannot replace NVIDIA's CUDA runtime in this program: %s\n",
                 why != nullptr ? why : entry->name.c_str());
    _exit(2);
  }
  __atomic_store_n(&entry->target, found, __ATOMIC_RELEASE);
  return found;
}
}

#if defined(__x86_64__)
// Integer arguments, the number of vector registers in rax, and vector registers. On entry, the stack is 8 bytes off a
// multiple of 16.
asm(R"(
  .pushsection .text
  .hidden warplens_find_and_go_on
  .globl warplens_find_and_go_on
  .type warplens_find_and_go_on, @function
warplens_find_and_go_on:
  push %rax
  push %rdi
  push %rsi
  push %rdx
  push %rcx
  push %r8
  push %r9
  sub $128, %rsp
  movups %xmm0, (%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp)
  movups %xmm5, 80(%rsp)
  movups %xmm6, 96(%rsp)
  movups %xmm7, 112(%rsp)
  mov %r11, %rdi
  call warplens_find
  mov %rax, %r11
  movups (%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4
  movups 80(%rsp), %xmm5
  movups 96(%rsp), %xmm6
  movups 112(%rsp), %xmm7
  add $128, %rsp
  pop %r9
  pop %r8
  pop %rcx
  pop %rdx
  pop %rsi
  pop %rdi
  pop %rax
  jmp *%r11
  .size warplens_find_and_go_on, . - warplens_find_and_go_on
  .popsection
)");

Jump jump_to(const Entry& entry) {
  const auto address = reinterpret_cast<std::uintptr_t>(&entry);
  Jump code{0x49, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0xff, 0x23};
  std::memcpy(&code[2], &address, sizeof address);
  return code;
}
#elif defined(__aarch64__)
// x0 to x7 and q0 to q7 hold arguments, x8 the address of a large result.
asm(R"(
  .pushsection .text
  .hidden warplens_find_and_go_on
  .globl warplens_find_and_go_on
  .type warplens_find_and_go_on, %function
warplens_find_and_go_on:
  stp x29, x30, [sp, #-224]!
  mov x29, sp
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  stp q0, q1, [sp, #96]
  stp q2, q3, [sp, #128]
  stp q4, q5, [sp, #160]
  stp q6, q7, [sp, #192]
  mov x0, x17
  bl warplens_find
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldr x8, [sp, #80]
  ldp q0, q1, [sp, #96]
  ldp q2, q3, [sp, #128]
  ldp q4, q5, [sp, #160]
  ldp q6, q7, [sp, #192]
  ldp x29, x30, [sp], #224
  br x16
  .size warplens_find_and_go_on, . - warplens_find_and_go_on
  .popsection
)");

Jump jump_to(const Entry& entry) {
  const auto address = reinterpret_cast<std::uintptr_t>(&entry);
  Jump code{0x71, 0, 0, 0x58, 0x30, 0x02, 0x40, 0xf9, 0, 0x02, 0x1f, 0xd6};
  std::memcpy(&code[12], &address, sizeof address);
  return code;
}
#endif

Entry& Runtime::entry(std::string_view name) {
  return entries.emplace_back(Entry{reinterpret_cast<const void*>(&warplens_find_and_go_on), this, std::string(name)});
}

} // namespace warplens::runtime
