// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/llvm/nans.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

namespace warplens::exec::compile {

namespace {

using namespace llvm::PatternMatch;

bool tests_for_nan(const llvm::FCmpInst* compare, const llvm::Value* x) {
  if (compare->getPredicate() != llvm::CmpInst::FCMP_ORD && compare->getPredicate() != llvm::CmpInst::FCMP_UNO)
    return false;
  const auto is = [&](const llvm::Value* v) { return v == x || match(v, m_AnyZeroFP()); };
  return is(compare->getOperand(0)) && is(compare->getOperand(1));
}

// If `value` is `x` with each NaN made canonical, returns x.
llvm::Value* before_canonical(llvm::Value* value) {
  auto* const select = llvm::dyn_cast<llvm::SelectInst>(value);
  if (select == nullptr || !value->getType()->getScalarType()->isFloatTy()) return nullptr;
  auto* const compare = llvm::dyn_cast<llvm::FCmpInst>(select->getCondition());
  if (compare == nullptr) return nullptr;
  const bool ordered = compare->getPredicate() == llvm::CmpInst::FCMP_ORD;
  llvm::Value* const x = ordered ? select->getTrueValue() : select->getFalseValue();
  return tests_for_nan(compare, x) && match(ordered ? select->getFalseValue() : select->getTrueValue(), m_NaN())
             ? x
             : nullptr;
}

// Whether the only use of a result is to make its NaNs canonical.
bool becomes_canonical(llvm::Instruction& i) {
  if (i.use_empty()) return false;
  const auto canonical = [&](llvm::User* u) { return before_canonical(u) == &i; };
  for (llvm::User* const user : i.users()) {
    if (canonical(user)) continue;
    auto* const compare = llvm::dyn_cast<llvm::FCmpInst>(user);
    if (compare == nullptr || !tests_for_nan(compare, &i)) return false;
    for (llvm::User* const of_test : compare->users())
      if (!canonical(of_test)) return false;
  }
  return true;
}

// Operations that give a NaN wherever an operand is one.
bool passes_nans_on(const llvm::Instruction& i) {
  switch (i.getOpcode()) {
  case llvm::Instruction::FAdd:
  case llvm::Instruction::FSub:
  case llvm::Instruction::FMul:
  case llvm::Instruction::FDiv: return true;
  default: break;
  }
  const auto* const call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
  return call != nullptr &&
         (call->getIntrinsicID() == llvm::Intrinsic::fma || call->getIntrinsicID() == llvm::Intrinsic::sqrt);
}

} // namespace

void make_nans_canonical_once(llvm::Function& function) {
  for (llvm::Instruction& i : llvm::instructions(function)) {
    if (!i.getType()->getScalarType()->isFloatTy() || !passes_nans_on(i) || !becomes_canonical(i)) continue;
    for (llvm::Use& operand : i.operands())
      if (llvm::Value* const raw = before_canonical(operand)) operand.set(raw);
  }
}

} // namespace warplens::exec::compile
