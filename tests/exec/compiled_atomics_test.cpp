// SPDX-License-Identifier: Apache-2.0
// Atomic operations of compiled kernels.
#include "tests/exec/compiled_subject.hpp"

namespace warplens::tests {
namespace compiled_test {

// Enough registers that warps never run in pairs: then results of atomic operations may be used.
std::string many_registers(const std::string& body) {
  std::string text = ".reg .b32 %v<190>;\n", sum = "mov.u32 %v0, 0;\n";
  for (int i = 1; i < 190; ++i) {
    const std::string v = "%v" + std::to_string(i);
    text += "xor.b32 " + v + ", %r1, " + std::to_string(i) + ";\n";
    sum += "add.u32 %v0, %v0, " + v + ";\n";
  }
  return text + body + sum + "st.global.u32 [%rd2+14000], %v0; ret;";
}

TEST(Compiled, Atomics) {
  const std::string addresses =
      ".shared .align 8 .b8 s[512]; ld.param.u64 %rd1, [out]; mov.u32 %r9, s; mul.lo.u32 %r10, %r1, 5;\n"
      "and.b32 %r10, %r10, 15; shl.b32 %r11, %r10, 3; add.u32 %r12, %r9, %r11; cvt.u64.u32 %rd10, %r11;\n"
      "add.u64 %rd11, %rd1, %rd10; add.u64 %rd11, %rd11, 8192; setp.lt.u32 %p1, %r1, 41; mad.lo.u32 %r13, %r1, "
      "40503, %r3;\nmul.wide.u32 %rd12, %r13, 2654435; and.b32 %r17, %r1, 4; setp.eq.u32 %p2, %r17, 4; bar.sync 0;\n";
  const std::string end = "bar.sync 0; ld.shared.u32 %r16, [%r12]; xor.b32 %r15, %r15, %r16; shl.b32 %r16, %r15, 3;\n"
                          "add.u32 %r15, %r15, %r16; st.global.u32 [%rd2], %r15; st.global.u32 [%rd2+1024], %r14;\n";
  for (const bool used : {false, true}) {
    std::string body = addresses + "mov.u32 %r14, 5; mov.u32 %r15, 6; mov.u64 %rd13, 7;\n";
    int next = 0;
    for (const char* const operation :
         {"add.u32", "add.s32", "add.u64", "min.u32", "min.s32", "min.u64", "min.s64", "max.u32", "max.s64", "and.b32",
          "and.b64", "or.b32", "or.b64", "xor.b32", "xor.b64", "inc.u32", "dec.u32", "exch.b32", "exch.b64"}) {
      const std::string name = operation;
      const bool wide = name.ends_with("64");
      if (!used && (name.starts_with("inc") || name.starts_with("dec") || name.starts_with("exch"))) continue;
      const std::string result = used ? (wide ? "%rd13" : "%r14") : (wide ? "%rd14" : "%r18"),
                        value = wide ? "%rd12" : "%r13";
      const std::string guard = next % 3 == 0 ? "" : next % 3 == 1 ? "@%p1 " : "@!%p2 ";
      const std::string offset = std::to_string(8 * (next % 5) + (wide ? 0 : 4 * (next % 2)));
      body += guard + "atom.shared." + name + " " + result + ", [%r12+" + offset + "], " + value + ";\n";
      if (used) body += wide ? "cvt.u32.u64 %r16, %rd13; xor.b32 %r15, %r15, %r16;\n" : "add.u32 %r15, %r15, %r14;\n";
      body += guard + (used ? "atom" : "red") + ".global." + name + (used ? " " + result + "," : "") + " [%rd11+" +
              offset + "], " + value + ";\n";
      if (used) body += wide ? "cvt.u32.u64 %r16, %rd13; xor.b32 %r15, %r15, %r16;\n" : "xor.b32 %r15, %r15, %r14;\n";
      ++next;
    }
    if (used) // by their handlers
      body += "atom.shared.cas.b32 %r14, [%r12], %r15, %r13; xor.b32 %r15, %r15, %r14; mov.b32 %f1, %r1;\n"
              "atom.global.cas.b64 %rd13, [%rd11], %rd12, %rd10; cvt.u32.u64 %r16, %rd13; add.u32 %r15, %r15, %r16;\n"
              "red.global.add.f32 [%rd1+9000], %f1; atom.shared.add.f32 %f2, [%r9+256], %f1; mov.b32 %r16, %f2;\n"
              "add.u64 %rd14, %rd1, 9200; cvta.global.u64 %rd14, %rd14; atom.add.u32 %r14, [%rd14], 3;\n"
              "add.u32 %r15, %r15, %r16; xor.b32 %r15, %r15, %r14;\n";
    for (const std::uint32_t threads : {64u, 50u})
      words(used ? many_registers(body + end) : body + end + "ret;", threads).expect_same();
  }
}

TEST(Compiled, AtomicsThatTrap) {
  for (const std::string wrong : {"0x40000000", "2"})
    for (const std::string access : {"red.global.add.u32 [%rd10], %r1", "red.shared.add.u32 [%r12], %r1"}) {
      Subject s = words(".shared .align 4 .b8 s[512]; mov.u32 %r9, s; ld.param.u64 %rd1, [out];\n"
                        "setp.ne.u32 %p3, %r1, 11; mov.u32 %r14, 0; @!%p3 mov.u32 %r14, " +
                            wrong +
                            "; shl.b32 %r11, %r1, 2; add.u32 %r11, %r11, %r14; cvt.u64.u32 %rd10, %r11;\n"
                            "add.u64 %rd10, %rd10, %rd1; add.u32 %r12, %r9, %r11; st.global.u32 [%rd2+1024], %r12;\n" +
                            access + "; add.u32 %r14, %r14, %r11; st.global.u32 [%rd2+8192], %r14; ret;",
                        32);
      s.grid = {1, 1, 1};
      s.expect_same();
      EXPECT_NE(s.run(exec::CompileMode::always, false, nullptr).trap, "");
    }
}

} // namespace compiled_test
} // namespace warplens::tests
