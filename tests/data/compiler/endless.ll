; LLVM 19 selects instructions for this for ever: of two vectors of truth values, only halves are used, and the or of both.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

define ptr @body(ptr %rows, i32 %a, i32 %b, <32 x i1> %on, <16 x i1> %low, <8 x i1> %lowest, <16 x i32> %x, <16 x i32> %y, <32 x i16> %z) {
  %as = bitcast i32 %a to <32 x i1>
  %a_high = shufflevector <32 x i1> %as, <32 x i1> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %x_a = select <16 x i1> %a_high, <16 x i32> %x, <16 x i32> zeroinitializer
  %bs = bitcast i32 %b to <32 x i1>
  %b_low = shufflevector <32 x i1> %bs, <32 x i1> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %y_b = select <16 x i1> %b_low, <16 x i32> %y, <16 x i32> zeroinitializer
  %wide = shufflevector <16 x i32> %y_b, <16 x i32> zeroinitializer, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %longs = zext <32 x i32> %wide to <32 x i64>
  %first = shufflevector <32 x i64> %longs, <32 x i64> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %either = or i32 %a, %b
  %eithers = bitcast i32 %either to <32 x i1>
  %both = select <32 x i1> %on, <32 x i1> %eithers, <32 x i1> zeroinitializer
  %z_both = select <32 x i1> %both, <32 x i16> %z, <32 x i16> zeroinitializer
  store <32 x i16> %z_both, ptr %rows, align 16
  %row = getelementptr i8, ptr %rows, i64 256
  %old = load <16 x i32>, ptr %row, align 16
  %new = select <16 x i1> %low, <16 x i32> %x_a, <16 x i32> %old
  store <16 x i32> %new, ptr %row, align 16
  %next = getelementptr i8, ptr %rows, i64 512
  %some = select <8 x i1> %lowest, <8 x i64> %first, <8 x i64> zeroinitializer
  store <8 x i64> %some, ptr %next, align 16
  ret ptr null
}
