// SPDX-License-Identifier: Apache-2.0
#include "api/trace/accelsim_opcodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace warplens::api {

namespace {

using exec::AccessKind;
using isa::Space;

struct MemoryOpcode {
  std::string_view name;
  Space space;
  AccessKind kind;
};

// CUDA Binary Utilities, "Instruction Set Reference": load and store instructions of sm_50 to sm_120.
constexpr MemoryOpcode kMemory[] = {
    {"LD", Space::generic, AccessKind::load},       {"LDG", Space::global, AccessKind::load},
    {"LDS", Space::shared, AccessKind::load},       {"LDSM", Space::shared, AccessKind::load},
    {"LDL", Space::local, AccessKind::load},        {"LDC", Space::constant, AccessKind::load},
    {"ST", Space::generic, AccessKind::store},      {"STG", Space::global, AccessKind::store},
    {"STS", Space::shared, AccessKind::store},      {"STL", Space::local, AccessKind::store},
    {"ATOM", Space::generic, AccessKind::atomic},   {"ATOMG", Space::global, AccessKind::atomic},
    {"ATOMS", Space::shared, AccessKind::atomic},   {"RED", Space::generic, AccessKind::reduction},
    {"REDG", Space::global, AccessKind::reduction},
};

struct OtherOpcode {
  std::string_view names; ///< between spaces
  std::string_view ptx;
};

// By functional unit; the operation itself does not matter.
constexpr OtherOpcode kOther[] = {
    {" FADD FADD32I FMNMX FSEL FSET FSWZADD FRND FCHK ", "add.f32 %f1, %f2, %f3;"},
    {" FMUL FMUL32I ", "mul.f32 %f1, %f2, %f3;"},
    {" FFMA FFMA32I ", "fma.rn.f32 %f1, %f2, %f3, %f4;"},
    {" MUFU ", "rcp.approx.f32 %f1, %f2;"},
    {" DADD DSET DMNMX ", "add.f64 %fd1, %fd2, %fd3;"},
    {" DMUL ", "mul.f64 %fd1, %fd2, %fd3;"},
    {" DFMA ", "fma.rn.f64 %fd1, %fd2, %fd3, %fd4;"},
    {" FSETP DSETP HSETP2 ISETP ICMP PSETP PLOP3 CSETP P2R R2P PR ", "setp.ne.s32 %p1, %r1, %r2;"},
    {" HADD2 HMUL2 HFMA2 HADD2_32I HMUL2_32I HFMA2_32I HSET2 HMNMX2 ", "fma.rn.f16x2 %r1, %r2, %r3, %r4;"},
    {" IADD IADD2 IADD3 IADD32I VIADD IABS IMNMX VIMNMX ISCADD ISCADD32I LEA IDP UIADD3 ULEA VABSDIFF VABSDIFF4 ",
     "add.s32 %r1, %r2, %r3;"},
    {" IMUL IMUL32I XMAD IMAD IMAD32I UIMAD ", "mad.lo.s32 %r1, %r2, %r3, %r4;"},
    {" LOP LOP3 LOP32I ULOP ULOP3 ULOP32I BMSK UBMSK SGXT USGXT ", "and.b32 %r1, %r2, %r3;"},
    {" SHL SHR SHF USHF USHL USHR BFE BFI ", "shl.b32 %r1, %r2, %r3;"},
    {" POPC UPOPC ", "popc.b32 %r1, %r2;"},
    {" FLO UFLO BREV UBREV ", "clz.b32 %r1, %r2;"},
    {" PRMT UPRMT ", "prmt.b32 %r1, %r2, %r3, %r4;"},
    {" MOV MOV32I UMOV SEL USEL S2R S2UR CS2R R2UR R2B B2R ULDC UISETP UPLOP3 UP2UR UR2UP VOTEU GETLMEMBASE LEPC ",
     "mov.u32 %r1, %r2;"},
    {" F2F F2FP F2I I2F I2I I2IP F2IP I2FP ", "cvt.rn.f32.s32 %f1, %r1;"},
    {" SHFL ", "shfl.sync.idx.b32 %r1, %r2, %r3, 31, -1;"},
    {" VOTE MATCH REDUX ", "vote.sync.ballot.b32 %r1, %p1, -1;"},
    {" BAR ", "bar.sync 0;"},
    {" BRA BRX BRXU JMP JMX JMXU ", "@%p1 bra END;"},
    {" EXIT RET ", "@%p1 exit;"},
    {" NOP BSSY BSYNC BMOV BREAK WARPSYNC DEPBAR LDGDEPBAR ERRBAR CCTL CCTLL CCTLT YIELD NANOSLEEP KILL CALL SSY SYNC "
     "PBK BRK PCNT CONT PRET RTT BPT ACQBULK ",
     "mov.u32 %r1, %r2;"},
    {" MEMBAR FENCE ", "membar.gl;"},
};

std::string_view space_suffix(Space space) {
  switch (space) {
  case Space::global: return ".global";
  case Space::shared: return ".shared";
  case Space::local: return ".local";
  case Space::constant: return ".const";
  default: return "";
  }
}

std::optional<std::string> memory_statement(const MemoryOpcode& opcode, std::uint32_t width) {
  struct Form {
    std::uint32_t width;
    std::string_view type, registers;
  };
  constexpr Form forms[] = {{1, ".u8", "%r1"},
                            {2, ".u16", "%r1"},
                            {4, ".b32", "%r1"},
                            {8, ".v2.b32", "{%r1, %r2}"},
                            {16, ".v4.b32", "{%r1, %r2, %r3, %r4}"}};
  const auto* const form =
      std::find_if(std::begin(forms), std::end(forms), [&](const Form& f) { return f.width == width; });
  if (form == std::end(forms)) return std::nullopt;
  const std::string_view space = space_suffix(opcode.space);
  switch (opcode.kind) {
  case AccessKind::load: return fmt::format("ld{}{} {}, [%rd1];", space, form->type, form->registers);
  case AccessKind::store: return fmt::format("st{}{} [%rd1], {};", space, form->type, form->registers);
  case AccessKind::atomic:
    return width == 8 ? fmt::format("atom{}.add.u64 %rd2, [%rd1], %rd3;", space)
                      : fmt::format("atom{}.add.u32 %r1, [%rd1], %r2;", space);
  case AccessKind::reduction:
    return width == 8 ? fmt::format("red{}.add.u64 [%rd1], %rd3;", space)
                      : fmt::format("red{}.add.u32 [%rd1], %r2;", space);
  }
  return std::nullopt;
}

} // namespace

std::optional<StandIn> stand_in(std::string_view opcode, std::uint32_t width) {
  const std::string_view name = opcode.substr(0, opcode.find('.'));
  for (const MemoryOpcode& m : kMemory) {
    if (m.name != name) continue;
    std::optional<std::string> text = memory_statement(m, width == 0 ? 4 : width);
    if (!text) return std::nullopt;
    return StandIn{std::move(*text), m.space, m.kind};
  }
  const std::string word = fmt::format(" {} ", name);
  for (const OtherOpcode& o : kOther)
    if (o.names.find(word) != o.names.npos)
      return StandIn{std::string(o.ptx), Space::none, {}, o.ptx.find("bra ") != o.ptx.npos, o.ptx.starts_with("bar.")};
  return std::nullopt;
}

} // namespace warplens::api
