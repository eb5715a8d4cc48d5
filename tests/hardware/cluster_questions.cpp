// SPDX-License-Identifier: Apache-2.0
#include "tests/hardware/cluster_questions.hpp"

#include <algorithm>
#include <iterator>

namespace warplens::tests {

namespace {

const char* const kQuestions[] = {
    "mov.u32 %v, %own;",
    "mov.u64 %g, word; cvt.u32.u64 %v, %g;",
    "cvta.to.shared.u64 %g, %gown; cvt.u32.u64 %v, %g;",
    "mov.u32 %v, %smid; mov.u32 %v, %cluster_ctarank;",
    "mapa.shared::cluster.u32 %v, %own, 0;",
    "mapa.shared::cluster.u32 %v, %own, 1;",
    "mapa.shared::cluster.u32 %v, %plain, 1;",
    "mapa.shared::cluster.u32 %v, %peer, %rank;",
    "mapa.shared::cluster.u32 %v, %own, %blocks;",
    "mapa.shared::cluster.u32 %v, %own, 255;",
    "mapa.shared::cluster.u32 %v, %own, 256;",
    "mapa.shared::cluster.u32 %v, word, 1;",
    "mapa.u64 %g, %gown, 1; sub.u64 %g, %g, %gown; cvt.u32.u64 %v, %g;",
    "mapa.u64 %g, %gown, %rank; sub.u64 %g, %g, %gown; cvt.u32.u64 %v, %g;",
    "getctarank.shared::cluster.u32 %v, %own;",
    "getctarank.shared::cluster.u32 %v, %plain;",
    "getctarank.shared::cluster.u32 %v, %peer;",
    "getctarank.shared::cluster.u32 %v, %beyond;",
    "getctarank.u64 %v, %gown;",
    "getctarank.u64 %v, %gplain;",
    "isspacep.shared::cta %p, %gown; selp.u32 %v, 1, 0, %p;",
    "isspacep.shared::cta %p, %gplain; selp.u32 %v, 1, 0, %p;",
    "isspacep.shared::cta %p, %gpeer; selp.u32 %v, 1, 0, %p;",
    "isspacep.shared::cluster %p, %gown; selp.u32 %v, 1, 0, %p;",
    "isspacep.shared::cluster %p, %gpeer; selp.u32 %v, 1, 0, %p;",
    "isspacep.shared::cluster %p, %gbeyond; selp.u32 %v, 1, 0, %p;",
    "isspacep.global %p, %gbeyond; selp.u32 %v, 1, 0, %p;",
    "ld.shared.u32 %v, [%own];",
    "ld.shared.u32 %v, [%plain];",
    "ld.shared.u32 %v, [%peer];",
    "ld.shared.u32 %v, [%beyond];",
    "ld.shared.u32 %v, [%own+16777216];",
    "ld.shared::cluster.u32 %v, [%own];",
    "ld.shared::cluster.u32 %v, [%plain];",
    "ld.shared::cluster.u32 %v, [%peer];",
    "ld.shared::cluster.u32 %v, [%beyond];",
    "ld.u32 %v, [%gown];",
    "ld.u32 %v, [%gplain];",
    "ld.u32 %v, [%gpeer];",
    "ld.u32 %v, [%gbeyond];",
    "st.shared.u32 [%plain], %new; see",
    "st.shared.u32 [%peer], %new; see",
    "st.shared.u32 [%beyond], %new; see",
    "st.shared::cluster.u32 [%plain], %new; see",
    "st.shared::cluster.u32 [%peer], %new; see",
    "atom.shared.add.u32 %v, [%plain], 16; see",
    "atom.shared.add.u32 %v, [%peer], 16; see",
    "atom.shared::cluster.add.u32 %v, [%peer], 16; see",
    "red.shared.add.u32 [%peer], 16; see",
    "cp.async.ca.shared.global [%plain], [%in], 4; cp.async.wait_all; see",
    "cp.async.ca.shared.global [%peer], [%in], 4; cp.async.wait_all; see",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%v}, [%plain];",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%v}, [%peer];",
    "mbarrier.arrive.shared::cta.b64 %s, [%bar_plain]; phase",
    "mbarrier.arrive.shared::cta.b64 %s, [%bar_peer]; phase",
    "mbarrier.arrive.shared::cluster.b64 _, [%bar_plain]; phase",
    "mbarrier.arrive.shared::cluster.b64 _, [%bar_peer]; phase",
    "mbarrier.test_wait.parity.shared::cta.b64 %p, [%bar_plain], 1; selp.u32 %v, 1, 0, %p;",
    "mbarrier.test_wait.parity.shared::cta.b64 %p, [%bar_peer], 1; selp.u32 %v, 1, 0, %p;",
    "copy [%plain], [%bar_plain]; see",
    "copy [%own], [%bar_plain]; see",
    "copy [%plain], [%bar_own]; see",
    "copy [%peer], [%bar_peer]; see",
    "copy [%peer], [%bar_own]; see",
    "cp.async.bulk.global.shared::cta.bulk_group [%out_block], [%plain], 16; back",
    "cp.async.bulk.global.shared::cta.bulk_group [%out_block], [%peer], 16; back",
};

constexpr const char* kMeet = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

// The words that are not PTX.
std::string expanded(std::string text) {
  const std::string later = "mov.u32 %n, 20000; nanosleep.u32 %n;\n" + std::string(kMeet);
  text = replaced(text, "; see", ";\n" + later + "ld.shared.u32 %v, [word];");
  text = replaced(text, "; phase",
                  ";\n" + later + "mbarrier.test_wait.parity.shared::cta.b64 %p, [bar], 0; selp.u32 %v, 1, 0, %p;");
  text = replaced(text, "; back",
                  "; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nld.global.u32 %v, [%out_block];");
  if (text.starts_with("copy ")) {
    const std::size_t comma = text.find(", "), end = text.find("; ");
    text = "fence.proxy.async; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes " +
           text.substr(5, comma - 5) + ", [%in], 16, " + text.substr(comma + 2, end - comma - 2) + ";" +
           text.substr(end + 1);
  }
  return text;
}

constexpr const char* kPrologue = R"( {
.shared .align 128 .b8 before[128]; .shared .align 16 .b32 word[64]; .shared .align 8 .b64 bar;
.reg .b32 %own, %plain, %peer, %beyond, %bar_own, %bar_plain, %bar_peer, %rank, %blocks, %next, %new, %v, %n, %t;
.reg .b64 %g, %gown, %gplain, %gpeer, %gbeyond, %in, %out, %out_block, %place, %s; .reg .pred %p, %first;
mov.u32 %t, %tid.x; setp.eq.u32 %first, %t, 0;
mov.u32 %rank, %cluster_ctarank; mov.u32 %blocks, %cluster_nctarank;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
mad.wide.u32 %place, %rank, 4, %out; mad.wide.u32 %out_block, %rank, 16, %out; add.u64 %out_block, %out_block, 1024;
mov.u32 %v, before; st.shared.u32 [before], %v; mov.u32 %v, 3735928559;
add.u32 %n, %rank, 100; add.u32 %new, %rank, 200;
@%first st.shared.u32 [word], %n; mov.u32 %n, 1; @%first mbarrier.init.shared.b64 [bar], %n;
@%first fence.mbarrier_init.release.cluster;
mov.u32 %own, word; and.b32 %plain, %own, 16777215;
add.u32 %next, %rank, 1; setp.eq.u32 %p, %next, %blocks; selp.u32 %next, 0, %next, %p;
mad.lo.u32 %peer, %next, 16777216, %plain; mad.lo.u32 %beyond, %blocks, 16777216, %plain;
mov.u32 %bar_own, bar; and.b32 %bar_plain, %bar_own, 16777215; mad.lo.u32 %bar_peer, %next, 16777216, %bar_plain;
cvt.u64.u32 %gown, %own; cvta.shared.u64 %gown, %gown; cvt.u64.u32 %gplain, %plain; cvta.shared.u64 %gplain, %gplain;
cvt.u64.u32 %gpeer, %peer; cvta.shared.u64 %gpeer, %gpeer;
cvt.u64.u32 %gbeyond, %beyond; cvta.shared.u64 %gbeyond, %gbeyond;
bar.sync 0;
)";

// The statements of one thread; all meet.
std::string asked_by_one(const std::string& statements) {
  const std::size_t meet = std::min(statements.find(kMeet), statements.size());
  return "@!%first bra asked;\n" + statements.substr(0, meet) + "\nasked:\n" + statements.substr(meet);
}

} // namespace

std::string cluster_kernel(const ClusterShape& shape, const std::string& question) {
  std::string text = ".version 9.0\n.target sm_90a\n.address_size 64\n"
                     ".visible .entry k(.param .u64 out, .param .u64 in)";
  if (shape.name != "none")
    text += " .reqntid 32 .explicitcluster .reqnctapercluster " + std::to_string(shape.x) + "," +
            std::to_string(shape.y) + "," + std::to_string(shape.z);
  const std::string statements = expanded(question);
  text += std::string(kPrologue) + kMeet + (question.starts_with("ldmatrix") ? statements : asked_by_one(statements));
  return text + "\n@%first st.global.u32 [%place], %v;\n" + kMeet + "ret;\n}\n";
}

std::vector<ClusterShape> cluster_shapes() {
  return {{"none", 1, 1, 1}, {"2", 2, 1, 1}, {"2x2", 2, 2, 1}, {"1x2x2", 1, 2, 2}, {"8", 8, 1, 1}};
}

std::vector<std::string> cluster_questions() { return {std::begin(kQuestions), std::end(kQuestions)}; }

} // namespace warplens::tests
