// SPDX-License-Identifier: Apache-2.0
// Tests run --trace, analyze, inspect and convert as users run them.
#include "tests/tools/program.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <sstream>

namespace warplens::testing {
namespace trace_test {

using Json = nlohmann::json;

const std::string kTranspose = WARPLENS_SOURCE_DIR "/samples/transpose/launch.toml";

Output need(const std::vector<std::string>& arguments) {
  Output o = run_program(arguments);
  if (o.status != 0) throw std::runtime_error(o.err);
  return o;
}

/// A trace of the transposes, recorded once.
const std::string& transposes() {
  static const Folder folder;
  static const std::string file = [] {
    std::string path = (folder.path() / "t.h5").string();
    need({"run", kTranspose, "--trace", path});
    return path;
  }();
  return file;
}

std::vector<Json> lines_of_json(const std::string& text) {
  std::vector<Json> list;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) list.push_back(Json::parse(line));
  return list;
}

TEST(TraceCommands, SamplesGiveTheSameReportFromTheirTraces) {
  const Folder folder;
  const std::string trace = (folder.path() / "t.h5").string(), live = (folder.path() / "live.json").string(),
                    replayed = (folder.path() / "replayed.json").string();
  for (const char* sample : {"transpose/launch", "saxpy/launch", "vector_add/launch", "texture_blur/launch",
                             "cluster_histogram/launch", "async_copy/launch"}) {
    const std::string launch = std::string(WARPLENS_SOURCE_DIR "/samples/") + sample + ".toml";
    for (const char* threads : {"1", "3"}) {
      need({"run", launch, "--trace", trace, "--json", live, "--threads", threads, "--rule", "1.2", "--analyzers",
            "all"});
      need({"analyze", trace, "--json", replayed, "--rule", "1.2", "--analyzers", "all"});
      EXPECT_EQ(read_text(live), read_text(replayed)) << sample << ", threads: " << threads;
    }
  }
}

// Local memory, which lies where blocks run: in the order of the blocks, not of the workers.
TEST(TraceCommands, CachesOfLocalMemoryAreTheSameToo) {
  const Folder folder;
  const std::string trace = (folder.path() / "t.h5").string(), live = (folder.path() / "live.json").string(),
                    replayed = (folder.path() / "replayed.json").string();
  for (const char* device : {"gtx480", "gtx980", "h200"})
    for (const char* threads : {"1", "3"}) {
      need({"run",         WARPLENS_SOURCE_DIR "/tests/data/hardware/local.ptx",
            "--kernel",    "reuse",
            "--grid",      "300",
            "--block",     "96",
            "--arg",       "out:u32[96]",
            "--arg",       "u32=40",
            "--trace",     trace,
            "--json",      live,
            "--threads",   threads,
            "--device",    device,
            "--analyzers", "caches"});
      need({"analyze", trace, "--json", replayed, "--device", device, "--analyzers", "caches"});
      EXPECT_EQ(read_text(live), read_text(replayed)) << device << ", threads: " << threads;
    }
  const Json metrics = Json::parse(read_text(live))["launches"][0]["metrics"];
  EXPECT_GT(metrics["l1_local_store_hit"], 0);
}

TEST(TraceCommands, AnotherDeviceIsAsIfItHadRunThere) {
  const Folder folder;
  const std::string live = (folder.path() / "live.json").string(),
                    replayed = (folder.path() / "replayed.json").string();
  need({"run", kTranspose, "--device", "c1060", "--json", live});
  need({"analyze", transposes(), "--device", "c1060", "--json", replayed});
  EXPECT_EQ(read_text(live), read_text(replayed));
}

TEST(TraceCommands, TextIsTheSameToo) {
  // Without the CUDA source, whose lines only the run quotes: a trace may name any file.
  const Folder folder;
  for (const char* file : {"launch.toml", "transpose.ptx", "transposed.npy"})
    std::filesystem::copy_file(std::filesystem::path(kTranspose).parent_path() / file, folder.path() / file);
  const std::string launch = (folder.path() / "launch.toml").string(), trace = (folder.path() / "t.h5").string();
  const std::string live = need({"run", launch, "--details", "all", "--trace", trace}).out,
                    replayed = need({"analyze", trace, "--details", "all"}).out;
  ASSERT_GT(replayed.size(), 1000u);
  EXPECT_EQ(replayed.find("__global__"), replayed.npos);
  EXPECT_EQ(live.substr(0, replayed.size()), replayed); // then the run says that the buffers are as expected
}

// Bytes of a matrix of 128 x 128 floats in rows of 512 bytes: the column that a warp writes lies in 32 sectors.
TEST(TraceCommands, InspectShowsWhatAnAccessBecame) {
  const std::string text = need({"inspect", transposes(), "--blocks", "0", "--warps", "0", "--accesses-only"}).out;
  EXPECT_NE(text.find("transactions by rule 6.0, passes by rule 5.x+"), text.npos) << text;
  EXPECT_NE(text.find("global store, 4 bytes per lane, lanes ffffffff: 0x50014100 + 512 * lane\n"
                      "    ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef  32 of 32 bytes\n"),
            text.npos)
      << text;
  EXPECT_EQ(text.find("bra "), text.npos) << text;
  const std::string by_rule =
      need({"inspect", transposes(), "--blocks", "0", "--warps", "0", "--accesses-only", "--rule", "1.2"}).out;
  EXPECT_NE(by_rule.find("    AAAAAAAAAAAAAAAABBBBBBBBBBBBBBBB  2 of 64 bytes\n"), by_rule.npos) << by_rule;
}

// Half-warps of 1.x make transactions of their own, also of the same bytes; lanes that are not coalesced each make one.
TEST(TraceCommands, InspectDrawsTheTransactionThatServesALane) {
  const auto drawn = [](const char* rule) {
    return need({"inspect", transposes(), "--launch", "1", "--blocks", "0", "--warps", "0", "--accesses-only", "--rule",
                 rule})
        .out;
  };
  EXPECT_NE(drawn("1.2").find("    ABCDEFGHABCDEFGHIJKLMNOPIJKLMNOP  16 of 32 bytes\n"), std::string::npos)
      << drawn("1.2");
  EXPECT_NE(drawn("1.0").find("    ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef  32 of 32 bytes\n"), std::string::npos)
      << drawn("1.0");
}

// Of every space; what no rule describes, too.
TEST(TraceCommands, InspectShowsLocalMemoryAndConstants) {
  const Folder folder;
  const std::string ptx = folder.write("spaces.ptx", R"(.version 7.0
.target sm_70
.address_size 64
.const .align 4 .b8 c[16];
.visible .entry k(.param .align 4 .b8 p[8]) {
  .reg .b32 %r<4>; .reg .b64 %rd<8>;
  .local .align 4 .b8 a[4];
  mov.u32 %r1, %laneid;
  mov.u64 %rd1, a;
  st.local.u32 [%rd1], %r1;
  and.b32 %r2, %r1, 1;
  mul.wide.u32 %rd2, %r2, 4;
  mov.u64 %rd3, c;
  add.s64 %rd3, %rd3, %rd2;
  ld.const.u32 %r3, [%rd3];
  mov.u64 %rd4, p;
  add.s64 %rd4, %rd4, %rd2;
  ld.param.u32 %r3, [%rd4];
  bar.sync 3;
  ret;
}
)");
  const std::string trace = (folder.path() / "t.h5").string();
  need({"run", ptx, "--kernel", "k", "--grid", "1", "--block", "32", "--arg", "b64=0", "--trace", trace});
  const auto events = lines_of_json(need({"inspect", trace, "--format", "jsonl"}).out);
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0]["sectors"], 4);
  EXPECT_EQ(events[1]["passes"], 2);
  EXPECT_EQ(events[2]["passes"], 2);
  const std::string old = need({"inspect", trace, "--rule", "1.x"}).out; // half-warps
  EXPECT_NE(old.find("4 sectors of 32 bytes"), old.npos) << old;
  EXPECT_NE(old.find("    4 passes\n"), old.npos) << old;
  const std::string table = need({"inspect", trace, "--format", "csv"}).out;
  EXPECT_NE(table.find(",store,local,4,ffffffff,,0,0,4,128,,,,\n"), table.npos) << table;
  EXPECT_NE(table.find(",barrier,,,ffffffff,,,,,,,,3,\n"), table.npos) << table;
}

TEST(TraceCommands, InspectFindsBankConflicts) {
  const std::string text =
      need({"inspect", transposes(), "--launch", "2", "--blocks", "0", "--warps", "0", "--accesses-only"}).out;
  EXPECT_NE(text.find("32 passes over the banks, 32-way"), text.npos) << text; // a column of a tile of 32 x 32 floats
}

TEST(TraceCommands, InspectPrintsLinesOfJson) {
  const auto events =
      lines_of_json(need({"inspect", transposes(), "--format", "jsonl", "--blocks", "2-3", "--limit", "0"}).out);
  ASSERT_FALSE(events.empty());
  bool access = false, branch = false;
  for (const Json& e : events) {
    EXPECT_TRUE(e["block"] == 2 || e["block"] == 3);
    if (e["event"] == "branch") branch = true;
    if (e["event"] != "load") continue;
    access = true;
    EXPECT_EQ(e["addresses"].size(), 32u);
    EXPECT_EQ(e["transactions"].size(), 4u);
    EXPECT_EQ(e["addresses"][0], e["transactions"][0]["address"]);
  }
  EXPECT_TRUE(access && branch);
  EXPECT_TRUE(std::is_sorted(events.begin(), events.end(), [](const Json& a, const Json& b) {
    return a["block"].get<int>() < b["block"].get<int>();
  }));
}

TEST(TraceCommands, InspectPrintsATable) {
  const std::string text = need({"inspect", transposes(), "--format", "csv", "--limit", "5"}).out;
  std::istringstream in(text);
  std::string head;
  std::getline(in, head);
  const auto commas = std::count(head.begin(), head.end(), ',');
  int rows = 0;
  for (std::string line; std::getline(in, line); ++rows) EXPECT_EQ(std::count(line.begin(), line.end(), ','), commas);
  EXPECT_EQ(rows, 5);
}

// Which worker ran a block does not show.
TEST(TraceCommands, ATraceIsTheSameWithAnyNumberOfThreads) {
  const Folder folder;
  std::vector<std::string> shown;
  for (const char* threads : {"1", "2", "7"}) {
    const std::string trace = (folder.path() / "t.h5").string();
    need({"run", kTranspose, "--trace", trace, "--threads", threads, "--no-analyze"});
    shown.push_back(need({"inspect", trace, "--format", "jsonl", "--limit", "0"}).out);
    EXPECT_EQ(shown.back(), shown.front()) << threads;
  }
}

TEST(TraceCommands, FiltersKeepWhatTheyName) {
  const Folder folder;
  const std::string trace = (folder.path() / "t.h5").string();
  need({"run", kTranspose, "--trace", trace, "--trace-kernel", "transpose_1d", "--trace-blocks", "2-9", "--trace-every",
        "3", "--trace-lines", "50"});
  const auto events = lines_of_json(need({"inspect", trace, "--format", "jsonl", "--limit", "0"}).out);
  ASSERT_FALSE(events.empty());
  for (const Json& e : events) {
    EXPECT_EQ(e["line"], 50);
    const int block = e["block"].get<int>();
    EXPECT_TRUE(block == 2 || block == 5 || block == 8) << block;
  }
  const std::string report = need({"analyze", trace}).out;
  EXPECT_NE(report.find("the trace contains only blocks 2 to 9, one block in 3, lines 50"), report.npos) << report;
}

TEST(TraceCommands, BadUsageIsRefused) {
  const Folder folder;
  const std::string trace = (folder.path() / "t.h5").string();
  const std::vector<std::pair<std::vector<std::string>, std::string>> table = {
      {{"analyze"}, "expected one trace, got 0"},
      {{"analyze", "/no/such.h5"}, "cannot read the trace '/no/such.h5'"},
      {{"analyze", kTranspose}, "is not a trace, or is damaged"},
      {{"analyze", transposes(), "--launch", "99"}, "counted from 0"},
      {{"analyze", transposes(), "--device", "c9999"}, "c9999"},
      {{"analyze", transposes(), "--rule", "none"}, "there is no rule 'none'"},
      {{"inspect", kTranspose}, "is not a trace, or is damaged"},
      {{"inspect", transposes(), "--launch", "99"}, "launch 99 does not exist"},
      {{"inspect", transposes(), "--blocks", "4-2"}, "--blocks: expected a number or a range"},
      {{"inspect", transposes(), "--lines", "a"}, "--lines: expected a number or a range"},
      {{"inspect", transposes(), "--format", "xml"}, "expected text, jsonl or csv"},
      {{"run", kTranspose, "--trace-every", "2"}, "--trace-every needs --trace"},
      {{"run", kTranspose, "--trace", trace, "--trace-every", "0"}, "expected 1 or more"},
      {{"run", kTranspose, "--trace", trace, "--trace-lines", "1"}, "none of the lines"},
      {{"run", kTranspose, "--trace", "/no/such/folder/t.h5"}, "cannot write '/no/such/folder/t.h5'"},
      {{"convert", transposes()}, "expected two files, got 1"},
      {{"convert", kTranspose, trace}, "is not an Accel-Sim trace"},
  };
  for (const auto& [arguments, message] : table) {
    const Output o = run_program(arguments);
    EXPECT_EQ(o.status, 2) << message << "\n" << o.err;
    EXPECT_NE(o.err.find(message), o.err.npos) << "'" << message << "' is not in:\n" << o.err;
  }
}

TEST(TraceCommands, ADamagedTraceIsRefused) {
  const Folder folder;
  std::string bytes = read_text(transposes());
  for (std::size_t i = bytes.size() / 3; i < bytes.size(); i += 97) bytes[i] = static_cast<char>(bytes[i] + 1);
  const std::string damaged = folder.write("damaged.h5", bytes);
  for (const char* command : {"analyze", "inspect"}) {
    const Output o = run_program({command, damaged});
    EXPECT_EQ(o.status, 2) << o.err;
    EXPECT_NE(o.err.find("damaged"), o.err.npos) << o.err;
  }
}

// ---- Accel-Sim

// A kernel of 2 blocks of 2 warps; all three ways to write addresses, an opcode that nobody knows.
constexpr std::string_view kAccelSim = R"(-kernel name = _Z4copyPfS_
-kernel id = 1
-grid dim = (2,1,1)
-block dim = (64,1,1)
-shmem = 512
-nregs = 16
-binary version = 70
-cuda stream id = 0
-shmem base_addr = 0x00007f0000000000
-local mem base_addr = 0x00007f0002000000
-nvbit version = 1.5
-accelsim tracer version = 3

#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]

#BEGIN_TB

thread block = 0,0,0

warp = 0
insts = 6
0000 ffffffff 1 R1 IMAD.MOV.U32 2 R255 R255 0
0010 ffffffff 1 R2 LDG.E.SYS 1 R4 4 1 0x10000 4
0020 0000000f 1 R2 LDG.E.64.SYS 1 R4 8 2 0x20000 8 8 1000
0030 ffffffff 1 R2 FROBNICATE 1 R4 0
0040 00000005 0 STS 2 R4 R2 4 0 0x10 0x90
0050 ffffffff 0 EXIT 0 0

warp = 1
insts = 2
0010 ffffffff 1 R2 LDG.E.SYS 1 R4 4 1 0x10080 4
0050 ffffffff 0 EXIT 0 0

#END_TB
#BEGIN_TB
thread block = 1,0,0
warp = 0
insts = 1
0060 00000003 1 R2 LD.E 1 R4 4 0 0x7f0000000040 0x30000
#END_TB
)";

TEST(AccelSim, TracesAreRead) {
  const Folder folder;
  (void)folder.write("kernel-1.traceg", kAccelSim);
  const std::string list = folder.write("kernelslist.g", "MemcpyHtoD,0x00007f,64\nkernel-1.traceg\n"),
                    trace = (folder.path() / "t.h5").string();
  const Output converted = run_program({"convert", list, trace});
  ASSERT_EQ(converted.status, 0) << converted.err;
  EXPECT_NE(converted.err.find("FROBNICATE are ignored"), converted.err.npos) << converted.err;
  const auto events = lines_of_json(need({"inspect", trace, "--format", "jsonl"}).out);
  ASSERT_EQ(events.size(), 6u); // the lanes of LD go to two spaces
  EXPECT_EQ(events[0]["addresses"][31], 0x10000 + 31 * 4);
  EXPECT_EQ(events[0]["transactions"].size(), 4u);
  EXPECT_EQ(events[1]["mask"], "0000000f");
  EXPECT_EQ(events[1]["lane_bytes"], 8);
  EXPECT_EQ(events[1]["addresses"], Json({0x20000, 0x20008, 0x20010, 0x20010 + 1000}));
  EXPECT_EQ(events[2]["space"], "shared");
  EXPECT_EQ(events[2]["addresses"], Json({0x10, 0x90}));
  EXPECT_EQ(events[2]["passes"], 2); // the same bank
  EXPECT_EQ(events[3]["warp"], 1);
  EXPECT_EQ(events[4]["addresses"], Json({0x30000}));
  EXPECT_EQ(events[5]["space"], "shared");
  EXPECT_EQ(events[5]["addresses"], Json({0x40}));
  const Json report = Json::parse(need({"analyze", trace, "--json", "-"}).out);
  const Json& metrics = report["launches"][0]["metrics"];
  EXPECT_EQ(report["launches"][0]["kernel"], "_Z4copyPfS_");
  EXPECT_EQ(converted.err.find("thread blocks"), converted.err.npos); // all are there
  (void)folder.write("kernel-1.traceg", std::string(kAccelSim).replace(kAccelSim.find("(2,1,1)"), 7, "(9,1,1)"));
  EXPECT_NE(run_program({"convert", list, trace}).err.find("2 of the 9 thread blocks"), std::string::npos);
  EXPECT_EQ(metrics["smsp__inst_executed.sum"], 8); // all but the unknown one
  EXPECT_EQ(metrics["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], 4);
}

// Ours, written and read again: the same accesses.
TEST(AccelSim, TracesAreWritten) {
  const Folder folder;
  const std::string out = (folder.path() / "out").string(), again = (folder.path() / "again.h5").string();
  need({"convert", transposes(), out});
  EXPECT_NE(read_text(out + "/kernelslist.g").find("kernel-1.traceg\nkernel-2.traceg\n"), std::string::npos);
  EXPECT_NE(read_text(out + "/kernel-1.traceg").find("LDG.E 1 R4 4 1 0x50000000 4\n"), std::string::npos);
  need({"convert", out + "/kernelslist.g", again});
  const auto accesses = [&](const std::string& trace) {
    std::map<std::string, int> counts;
    for (const char* launch : {"0", "1"})
      for (const Json& e : lines_of_json(
               need({"inspect", trace, "--accesses-only", "--format", "jsonl", "--limit", "0", "--launch", launch})
                   .out))
        ++counts[launch + e["block"].dump() + "/" + e["warp"].dump() + e["event"].dump() + e["space"].dump() +
                 e["lane_bytes"].dump() + e["mask"].dump() + e["addresses"].dump()];
    return counts;
  };
  const auto ours = accesses(transposes());
  ASSERT_FALSE(ours.empty());
  EXPECT_TRUE(accesses(again) == ours);
}

// An asynchronous copy is a load of global and a store to shared memory, and one load at generic addresses may go to
// shared memory first and to global memory then: a PC of the machine has one opcode, so each gets a PC of its own.
TEST(AccelSim, AnInstructionOfSeveralAccessesIsSeveral) {
  const Folder folder;
  const std::string ptx = folder.write("copy.ptx", R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 x) {
  .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<4>;
  .shared .align 16 .b8 tile[1024];
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, tile;
  add.u32 %r4, %r3, %r2;
  cp.async.ca.shared.global [%r4], [%rd3], 4;
  cp.async.wait_all;
  cvt.u64.u32 %rd4, %r4;
  cvta.shared.u64 %rd4, %rd4;
L:
  ld.u32 %r5, [%rd4];
  setp.ne.s64 %p1, %rd4, %rd3;
  mov.b64 %rd4, %rd3;
  @%p1 bra L;
  ret;
}
)");
  const std::string trace = (folder.path() / "t.h5").string(), out = (folder.path() / "out").string(),
                    again = (folder.path() / "again.h5").string();
  const Json live = Json::parse(need({"run", ptx, "--kernel", "copy", "--grid", "2", "--block", "40", "--arg",
                                      "x:u32[64]", "--trace", trace, "--json", "-"})
                                    .out)["launches"][0]["metrics"];
  need({"convert", trace, out});
  EXPECT_NE(read_text(out + "/kernel-1.traceg").find("-shmem = 1024\n"), std::string::npos);
  EXPECT_NE(read_text(out + "/kernel-1.traceg").find(" 000000ff 0 EXIT"),
            std::string::npos); // 8 lanes of the last warp
  need({"convert", out + "/kernelslist.g", again});
  const Json back = Json::parse(need({"analyze", again, "--json", "-"}).out)["launches"][0]["metrics"];
  EXPECT_EQ(live["smsp__inst_executed_op_shared_st.sum"], 4);
  EXPECT_EQ(live["smsp__inst_executed_op_shared_ld.sum"], 4);
  EXPECT_EQ(live["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], 8);
  for (const char* name :
       {"smsp__inst_executed_op_shared_st.sum", "smsp__inst_executed_op_shared_ld.sum",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "launch__occupancy_limit_shared_mem"})
    EXPECT_EQ(back[name], live[name]) << name;
}

TEST(AccelSim, BadFilesAreRefused) {
  const Folder folder;
  const std::string trace = (folder.path() / "t.h5").string();
  const auto refused = [&](std::string_view from, std::string_view to, const std::string& message) {
    std::string text(kAccelSim);
    text.replace(text.find(from), from.size(), to);
    const Output o = run_program({"convert", folder.write("kernel-1.traceg", text), trace});
    EXPECT_EQ(o.status, 2) << message << o.err;
    EXPECT_NE(o.err.find(message), o.err.npos) << "'" << message << "' is not in:\n" << o.err;
  };
  refused("(2,1,1)", "(2,x,1)", "kernel-1.traceg:3:1: error: invalid header line");
  refused("(64,1,1)", "(64,0,1)", "the grid or the block is empty");
  refused("thread block = 1,0,0", "thread block = 2,0,0", "the thread block is outside the grid");
  refused("thread block = 1,0,0", "thread block = 0,0,0", "the thread block occurs twice");
  refused("warp = 1", "warp = 2", "kernel-1.traceg:31:1: error: the warp is outside the block");
  refused("4 1 0x10000 4", "4 3 0x10000 4", "kernel-1.traceg:23:1: error: expected an instruction");
  refused("2 0x20000 8 8 1000", "2 0x20000 8 8", "kernel-1.traceg:24:1: error: expected an instruction");
  refused("STS 2 R4 R2", "STS 9 R4 R2", "expected an instruction");
  refused("4 1 0x10000 4", "65536 1 0x10000 4", "kernel-1.traceg:23:1: error: expected an instruction");
  refused("insts = 6", "insts = 7", "kernel-1.traceg:29:1: error: warp 0 is missing 1 of its instructions");
  refused("insts = 6", "insts = 5", "kernel-1.traceg:27:1: error: warp 0 has more instructions than 'insts'");
  refused("insts = 6", "insts = six", "expected 'insts = number'");
  refused("-kernel name = ", "+kernel name = ", "is not an Accel-Sim trace");
  for (const std::string_view where : {"warp = 1", "0050 ffffffff", "warp = 0\ninsts = 1\n", "#END_TB\n#BEGIN_TB"})
    refused(kAccelSim.substr(kAccelSim.find(where)), "", "the file is truncated: it ends inside a thread block");
}

// HDF5 and the libraries that it needs take longer to load than a small launch takes.
TEST(Hdf5, IsLoadedOnlyForTraces) {
  const Folder folder;
  const std::string list = (folder.path() / "libraries").string(), program = WARPLENS_PROGRAM;
  ASSERT_EQ(std::system(("ldd '" + program + "' >'" + list + "'").c_str()), 0);
  EXPECT_NE(read_text(list).find("libc.so"), std::string::npos);
  EXPECT_EQ(read_text(list).find("hdf5"), std::string::npos) << read_text(list);
}

TEST(Hdf5, IsFoundFromAProgramOnThePath) {
  const Folder folder;
  const std::string bin = std::filesystem::path(WARPLENS_PROGRAM).parent_path().string();
  std::filesystem::create_symlink(WARPLENS_PROGRAM, folder.path() / "link");
  const Output path = run_command({"/usr/bin/env", "PATH=" + bin, "warplens", "analyze", transposes()});
  EXPECT_EQ(path.status, 0) << path.err;
  const Output link = run_command({(folder.path() / "link").string(), "analyze", transposes()});
  EXPECT_EQ(link.status, 0) << link.err;
}

TEST(Hdf5, AProgramWithoutItsLibrarySaysSo) {
  const Folder folder; // with a program alone
  const std::string program = (folder.path() / "warplens").string(), trace = (folder.path() / "t.h5").string();
  std::filesystem::copy_file(WARPLENS_PROGRAM, program);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{program, "analyze", transposes()}, {program, "run", kTranspose, "--trace", trace}}) {
    const Output o = run_command(command);
    EXPECT_EQ(o.status, 2);
    EXPECT_NE(o.err.find("traces need HDF5: cannot find libwarplens_hdf5.so"), o.err.npos) << o.err;
  }
  EXPECT_EQ(run_command({program, "run", kTranspose}).status, 0);
}

} // namespace trace_test
} // namespace warplens::testing
