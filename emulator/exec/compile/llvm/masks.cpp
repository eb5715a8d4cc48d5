// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/llvm/masks.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include <optional>

namespace warplens::exec::compile {

namespace {

using namespace llvm::PatternMatch;

/// The bits of lanes that follow one another in the mask, the first at `shift`.
struct Bits {
  llvm::Value* truths = nullptr;
  bool inverted = false;
  unsigned shift = 0;
};

// The shift of <1 << s, 1 << (s + 1), …>.
std::optional<unsigned> shift_of(llvm::Value* value) {
  auto* const vector = llvm::dyn_cast<llvm::ConstantDataVector>(value);
  if (vector == nullptr) return std::nullopt;
  const llvm::APInt first = vector->getElementAsAPInt(0);
  if (!first.isPowerOf2()) return std::nullopt;
  const unsigned shift = first.logBase2();
  for (unsigned i = 0; i < vector->getNumElements(); ++i)
    if (vector->getElementAsAPInt(i) != llvm::APInt::getOneBitSet(first.getBitWidth(), shift + i)) return std::nullopt;
  return shift;
}

bool collect(llvm::Value* value, llvm::SmallVectorImpl<Bits>& parts) {
  llvm::Value *a = nullptr, *b = nullptr, *truths = nullptr;
  if (match(value, m_Or(m_Value(a), m_Value(b)))) return collect(a, parts) && collect(b, parts);
  if (!match(value, m_Select(m_Value(truths), m_Value(a), m_Value(b))) || !truths->getType()->isVectorTy())
    return false;
  const bool inverted = match(a, m_Zero());
  if (!inverted && !match(b, m_Zero())) return false;
  const auto count = llvm::cast<llvm::FixedVectorType>(truths->getType())->getNumElements();
  if (const auto shift = shift_of(inverted ? b : a); shift && *shift + count <= 32) {
    parts.push_back({truths, inverted, *shift});
    return true;
  }
  return false;
}

} // namespace

void use_compare_masks(llvm::Function& function) {
  for (llvm::Instruction& i : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* const reduction = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    if (reduction == nullptr || reduction->getIntrinsicID() != llvm::Intrinsic::vector_reduce_or ||
        !reduction->getType()->isIntegerTy(32))
      continue;
    llvm::SmallVector<Bits, 8> parts;
    if (!collect(reduction->getArgOperand(0), parts)) continue;
    llvm::IRBuilder<> b(reduction);
    llvm::Value* mask = b.getInt32(0);
    for (const Bits& part : parts) {
      const auto count = llvm::cast<llvm::FixedVectorType>(part.truths->getType())->getNumElements();
      llvm::Value* bits = b.CreateBitCast(part.truths, b.getIntNTy(count));
      if (part.inverted) bits = b.CreateNot(bits);
      mask = b.CreateOr(mask, b.CreateShl(b.CreateZExt(bits, b.getInt32Ty()), part.shift));
    }
    reduction->replaceAllUsesWith(mask);
    reduction->eraseFromParent();
  }
}

} // namespace warplens::exec::compile
