// SPDX-License-Identifier: Apache-2.0
// Which multiplications with tensor memory are legal: ptxas 13.0 takes and refuses the same.
#include "tests/ir/complaint.hpp"

#include <gtest/gtest.h>

namespace warplens::ir {
namespace check_tensor_multiply_test {

constexpr const char* kTaken[] = {
    "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;",
    "tcgen05.mma.cta_group::1.kind::f16 [%r1], [%r3], %rd2, %r2, %p1;",
    "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, 5, %p1;",
    "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, 7, %r2, %p1;",
    "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, !%p1;",
    "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, 1;",
    "tcgen05.mma.cta_group::1.kind::f16 [%r1+4], %rd1, %rd2, %r2, %p1;",
    "tcgen05.mma.cta_group::1.kind::f16 [%r1], [%r3+16], %rd2, %r2, %p1;",
    "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, {%r3,%r4,%r5,%r6}, %p1;",
    "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, {%r3,%r4,%r5,0}, %p1;",
    "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, {%r3,%r4,%r5,%r6}, %p1, 3;",
    "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1, 3;",
    "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1, 15;",
    "tcgen05.mma.cta_group::1.kind::tf32 [%r1], %rd1, %rd2, %r2, %p1, 3;",
    "tcgen05.mma.cta_group::1.kind::f8f6f4 [%r1], %rd1, %rd2, %r2, %p1;",
    "tcgen05.mma.cta_group::1.kind::f8f6f4 [%r1], %rd1, %rd2, %r2, {%r3,%r4,%r5,%r6}, %p1;",
    "tcgen05.mma.cta_group::1.kind::i8 [%r1], %rd1, %rd2, %r2, {%r3,%r4,%r5,%r6}, %p1;",
    "tcgen05.mma.cta_group::1.kind::i8 [%r1], %rd1, %rd2, %r2, %p1;",
    "tcgen05.mma.cta_group::2.kind::f16 [%r1], %rd1, %rd2, %r2, {%r3,%r4,%r5,%r6,%r3,%r4,%r5,%r6}, %p1;",
    "tcgen05.mma.cta_group::2.kind::f16 [%r1], %rd1, %rd2, %r2, {%r3,%r4,%r5,%r6,%r3,%r4,%r5,%r6}, %p1, 2;",
    "tcgen05.mma.cta_group::1.kind::f16.collector::a::fill [%r1], %rd1, %rd2, %r2, %p1;",
    "tcgen05.mma.cta_group::1.kind::f16.collector::a::fill [%r1], [%r3], %rd2, %r2, %p1, 2;",
    "tcgen05.mma.cta_group::1.kind::f16.ashift [%r1], [%r3], %rd2, %r2, %p1;",
    "tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::lastuse [%r1], [%r3], %rd2, %r2, %p1;",
    "tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::discard [%r1], [%r3], %rd2, %r2, %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32 [%r1], [%r5], %rd2, %r2, [%r3], [%r4+4], %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf4.block_scale [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block32 [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::2X [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X.collector::a::fill [%r1], %rd1, %rd2, %r2, "
    "[%r3], [%r4], %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block32 [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
    "tcgen05.mma.sp.cta_group::1.kind::f16 [%r1], %rd1, %rd2, [%r3], %r2, %p1;",
    "tcgen05.mma.sp.cta_group::1.kind::f16.ashift [%r1], [%r5], %rd2, [%r3], %r2, {%r3,%r4,%r5,%r6}, %p1, 4;",
    "tcgen05.mma.sp.cta_group::2.kind::mxf4.block_scale.collector::a::use [%r1], %rd1, %rd2, [%r3], %r2, [%r3], [%r4], "
    "%p1;",
    "tcgen05.mma.ws.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;",
    "tcgen05.mma.ws.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1, %rd3;",
    "tcgen05.mma.ws.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1, 3;",
    "tcgen05.mma.ws.cta_group::1.kind::f16.collector::b3::lastuse [%r1], [%r3], %rd2, %r2, %p1, %rd3;",
    "tcgen05.mma.ws.sp.cta_group::1.kind::i8 [%r1], %rd1, %rd2, [%r3], %r2, %p1, %rd3;",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%rd1];",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%r1];",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%rd1];",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1];",
    "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r1], %h1;",
    "tcgen05.commit.cta_group::2.mbarrier::arrive::one.multicast::cluster.b64 [%rd1], %h1;",
};
constexpr const char* kRefused[] = {
    "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1, 16;",
    "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1, %r3;",
    "tcgen05.mma.cta_group::1.kind::f8f6f4 [%r1], %rd1, %rd2, %r2, %p1, 3;",
    "tcgen05.mma.cta_group::2.kind::f16 [%r1], %rd1, %rd2, %r2, {%r3,%r4,%r5,%r6}, %p1;",
    "tcgen05.mma.cta_group::1.kind::f16.collector::b0::fill [%r1], %rd1, %rd2, %r2, %p1;",
    "tcgen05.mma.cta_group::1.kind::f16.ashift [%r1], %rd1, %rd2, %r2, %p1;",
    "tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::use [%r1], [%r3], %rd2, %r2, %p1;",
    "tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::fill [%r1], [%r3], %rd2, %r2, %p1;",
    "tcgen05.mma.cta_group::1.kind::f16.collector::a::use.ashift [%r1], [%r3], %rd2, %r2, %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf8f6f4 [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::2X [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block16 [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::4X [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block16 [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::1X [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.ashift [%r1], [%r5], %rd2, %r2, [%r3], [%r4], %p1;",
    "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r1], %rd1, %rd2, %r2, [%r3], [%r4], {%r3,%r4,%r5,%r6}, %p1;",
    "tcgen05.mma.ws.cta_group::2.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;",
    "tcgen05.mma.ws.cta_group::1.kind::f16.collector::a::lastuse [%r1], [%r3], %rd2, %r2, %p1, %rd3;",
    "tcgen05.mma.ws.cta_group::1.kind::f16.ashift [%r1], [%r3], %rd2, %r2, %p1;",
    "tcgen05.mma.ws.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, {%r3,%r4,%r5,%r6}, %p1;",
    "tcgen05.mma.ws.cta_group::1.kind::mxf8f6f4.block_scale [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cta.b64 [%r1];",
    "tcgen05.commit.cta_group::2.mbarrier::arrive::one.multicast::cluster.b64 [%rd1];",
    "tcgen05.commit.cta_group::2.mbarrier::arrive::one.multicast::cluster.b64 [%rd1], 3;",
    "tcgen05.commit.cta_group::2.mbarrier::arrive::one.b64 [%rd1], %h1;",
    "tcgen05.commit.mbarrier::arrive::one.b64 [%rd1];",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one [%rd1];",
};

TEST(CheckTensorMultiply, Taken) {
  for (const char* const statement : kTaken) EXPECT_EQ(complaint(statement, "sm_100a", "9.0"), "") << statement;
}
TEST(CheckTensorMultiply, Refused) {
  for (const char* const statement : kRefused) EXPECT_NE(complaint(statement, "sm_100a", "9.0"), "") << statement;
}

struct Place {
  const char *target, *version;
  bool taken;
};
void expect(const std::string& statement, std::initializer_list<Place> places) {
  for (const Place& p : places)
    EXPECT_EQ(complaint(statement, p.target, p.version).empty(), p.taken)
        << statement << " " << p.target << " " << p.version;
}

TEST(CheckTensorMultiply, VersionsAndTargets) {
  expect("tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;", {{"sm_100a", "8.6", true},
                                                                             {"sm_100f", "8.8", true},
                                                                             {"sm_103f", "9.0", true},
                                                                             {"sm_110f", "9.0", true},
                                                                             {"sm_120a", "9.0", false}});
  expect("tcgen05.mma.cta_group::1.kind::tf32 [%r1], %rd1, %rd2, %r2, %p1, 3;",
         {{"sm_100f", "9.0", true}, {"sm_103a", "9.0", true}, {"sm_110a", "9.0", false}});
  expect("tcgen05.mma.cta_group::1.kind::i8 [%r1], %rd1, %rd2, %r2, %p1;",
         {{"sm_100a", "9.0", true}, {"sm_100f", "9.0", false}, {"sm_103a", "9.0", false}, {"sm_110a", "9.0", true}});
  expect("tcgen05.mma.cta_group::1.kind::mxf4.block_scale [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
         {{"sm_100a", "8.7", false}, {"sm_100f", "8.8", true}});
  expect("tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
         {{"sm_100a", "8.6", true}, {"sm_100f", "8.8", false}, {"sm_103a", "9.0", true}});
  expect("tcgen05.mma.sp.cta_group::1.kind::mxf4.block_scale [%r1], %rd1, %rd2, [%r3], %r2, [%r3], [%r4], %p1;",
         {{"sm_100f", "9.0", false}, {"sm_103a", "9.0", true}});
  expect("tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%rd1];",
         {{"sm_100a", "8.6", true}, {"sm_110f", "9.0", true}, {"sm_120a", "9.0", false}});
}

} // namespace check_tensor_multiply_test
} // namespace warplens::ir
