// SPDX-License-Identifier: Apache-2.0
// Tests warplens exec, and the other commands with files that are not PTX text. The program is
// runtime/programs/launches.cpp, which uses the driver API.
#include "tests/tools/terminal.hpp"

#include <nlohmann/json.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <thread>

namespace warplens::testing {
namespace exec_test {

using Json = nlohmann::json;

const std::string kData = WARPLENS_SOURCE_DIR "/tests/data/fatbin/";

TEST(Exec, RunsAProgramAndEndsWithItsStatus) {
  const Output o = run_program({"exec", "--", WARPLENS_LAUNCHES, "2", "exit", "7"});
  EXPECT_EQ(o.status, 7) << o.err;
  EXPECT_EQ(o.out, "4 4\n"); // each launch doubles
  EXPECT_EQ(o.err, "");
}

TEST(Exec, StaticObjectsMayUseTheDeviceToTheEnd) {
  const Output o = run_program({"exec", "--", WARPLENS_LAUNCHES, "1", "late"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.out, "2 2\nfreed: 0\n");
}

TEST(Exec, SetsTheDevice) {
  EXPECT_EQ(run_program({"exec", "--device", "c1060", "--", WARPLENS_LAUNCHES, "0", "device"}).out, "Tesla C1060\n");
  const Output o = run_program({"exec", "--device", "c10", "--", WARPLENS_LAUNCHES, "0"});
  EXPECT_EQ(o.status, 2);
  EXPECT_NE(o.err.find("error: unknown device 'c10'"), o.err.npos) << o.err;
  EXPECT_EQ(o.err.find("error:"), o.err.rfind("error:")) << o.err;
}

// Without a compiler, it says why.
TEST(Exec, ExplainsWhatWasCompiled) {
  const Output o = run_program({"exec", "--compile", "always", "--explain-compiled", "--", WARPLENS_LAUNCHES, "2"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_TRUE(o.err.starts_with("scale: ")) << o.err;
  EXPECT_EQ(run_program({"exec", "--explain-compiled", "--compile", "off", "--", WARPLENS_LAUNCHES, "2"}).err, "");
}

TEST(Exec, ReportsAreShownAtExit) {
  const Output o = run_program({"exec", "--analyze", "--", WARPLENS_LAUNCHES, "2"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_NE(o.err.find("2 launches of 1 kernel on NVIDIA H200"), o.err.npos) << o.err;
  EXPECT_NE(o.err.find("launches 1, 2, identical\nscale on NVIDIA H200"), o.err.npos) << o.err;
  EXPECT_EQ(o.err.find("\033"), o.err.npos) << "colours or progress without a terminal";
  EXPECT_EQ(run_program({"exec", "--", WARPLENS_LAUNCHES, "2"}).err, "");
}

TEST(Exec, LaunchesMayHaveALimitOfInstructions) {
  EXPECT_EQ(run_program({"exec", "--", WARPLENS_LAUNCHES, "1", "count"}).status, 0);
  EXPECT_EQ(run_program({"exec", "--max-steps", "10000000", "--", WARPLENS_LAUNCHES, "1", "count"}).status, 0);
  const Output o = run_program({"exec", "--max-steps", "100000", "--", WARPLENS_LAUNCHES, "1", "count"});
  EXPECT_EQ(o.status, 1);
  EXPECT_NE(o.out.find("cuCtxSynchronize(): 7"), o.out.npos) << o.out; // the context is lost, as with a trap
  EXPECT_NE(o.err.find("more than 100000 warp instructions"), o.err.npos) << o.err;
}

// A launch of four seconds: the line appears after two, is replaced every second, and is erased at the end.
TEST(Exec, ATerminalShowsProgress) {
  const Output o = run_on_a_terminal({"exec", "--", WARPLENS_LAUNCHES, "1", "wait"});
  EXPECT_EQ(o.status, 0) << o.out;
  const std::regex line("\r\033\\[Klaunch 2: wait: ([0-9]+) %, [2-9] s, about [1-9] s left");
  std::vector<int> shares;
  for (std::sregex_iterator i(o.out.begin(), o.out.end(), line), end; i != end; ++i)
    shares.push_back(std::stoi((*i)[1]));
  ASSERT_FALSE(shares.empty()) << o.out;
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end())) << o.out;
  EXPECT_GE(shares.front(), 40) << o.out;
  EXPECT_LT(shares.back(), 100) << o.out;
  EXPECT_TRUE(o.out.ends_with("\r\033[K")) << o.out;
  EXPECT_EQ(run_program({"exec", "--", WARPLENS_LAUNCHES, "1", "wait"}).err, "");
}

std::vector<std::string> kernels_in(const std::filesystem::path& file) {
  std::vector<std::string> names;
  const Json report = Json::parse(read_text(file));
  for (const Json& launch : report.at("launches")) names.push_back(launch.at("kernel"));
  return names;
}

TEST(Exec, JsonReplacesRegularFilesOnly) {
  const auto exec = [](const std::string& file) {
    return run_program({"exec", "--json", file, "--", WARPLENS_LAUNCHES, "1"});
  };
  const Output device = exec("/dev/null");
  EXPECT_EQ(device.status, 2);
  EXPECT_NE(device.err.find("cannot write '/dev/null': not a regular file"), device.err.npos) << device.err;
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));

  const Output stream = exec("/dev/stdout");
  EXPECT_EQ(stream.status, 0) << stream.err;
  EXPECT_NE(stream.out.find("\"launches\""), stream.out.npos) << stream.out;

  const Folder folder;
  const std::string file = (folder.path() / "r.json").string(), link = (folder.path() / "link.json").string();
  std::ofstream(file) << "old";
  std::filesystem::create_symlink("r.json", link);
  EXPECT_EQ(exec(link).status, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(kernels_in(file).size(), 1u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2) << "nothing is left over";
}

Json launches_of(const std::string& file) {
  Json launches = Json::parse(read_text(file)).at("launches");
  for (Json& launch : launches)
    for (const char* of_run : {"operation", "stream"}) launch.erase(of_run);
  return launches;
}

// The trace has what `warplens run --trace` records: its analysis is the report of the run.
TEST(Exec, TracesAreAnalysedAsTheRunWas) {
  const Folder folder;
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  const Output o =
      run_program({"exec", "--trace", file("t.h5"), "--json", file("run.json"), "--", WARPLENS_LAUNCHES, "3"});
  ASSERT_EQ(o.status, 0) << o.err;
  const Output replayed = run_program({"analyze", file("t.h5"), "--json", file("trace.json")});
  ASSERT_EQ(replayed.status, 0) << replayed.err;
  EXPECT_EQ(launches_of(file("run.json")).size(), 3u);
  EXPECT_EQ(launches_of(file("run.json")), launches_of(file("trace.json")));
  const Output other = run_program({"analyze", file("t.h5"), "--device", "c1060"});
  EXPECT_NE(other.out.find("scale on Tesla C1060"), other.out.npos) << other.out;
  const Output access = run_program({"inspect", file("t.h5"), "--launch", "2", "--warps", "0"});
  EXPECT_NE(access.out.find("st.global.u32"), access.out.npos) << access.out;
}

TEST(Exec, TracesOfSelectedLaunches) {
  const Folder folder;
  const std::string file = (folder.path() / "t.h5").string();
  EXPECT_EQ(run_program({"exec", "--trace", file, "--launch-skip", "1", "--launch-count", "2", "--trace-lines", "15",
                         "--", WARPLENS_LAUNCHES, "5"})
                .status,
            0);
  const Output o = run_program({"analyze", file});
  EXPECT_NE(o.out.find("2 launches of 1 kernel"), o.out.npos) << o.out;
  EXPECT_NE(o.out.find("the trace contains only lines 15"), o.out.npos) << o.out;
  for (const auto& [options, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--trace-every", "2"}, "--trace-every needs --trace FILE.h5"},
           {{"--trace", "/nowhere/t.h5"}, "/nowhere/t.h5"},
           {{"--trace", "-"}, "expected a file, got '-'"},
           {{"--trace", file, "--trace-blocks", "x"}, "expected a number or a range"}}) {
    std::vector<std::string> words = {"exec"};
    words.insert(words.end(), options.begin(), options.end());
    for (const char* word : {"--", WARPLENS_LAUNCHES, "1"}) words.emplace_back(word);
    const Output refused = run_program(words);
    EXPECT_EQ(refused.status, 2) << message;
    EXPECT_NE(refused.err.find(message), refused.err.npos) << refused.err;
  }
}

// Each process that launches something has a trace of its own.
TEST(Exec, TracesOfChildren) {
  const Folder folder;
  const std::string file = (folder.path() / "t.h5").string();
  EXPECT_EQ(run_program({"exec", "--trace", file, "--", WARPLENS_LAUNCHES, "3", "fork"}).status, 0);
  std::set<std::size_t> launches;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    const Output o = run_program({"analyze", entry.path().string(), "--json", "-"});
    ASSERT_EQ(o.status, 0) << entry.path() << o.err;
    launches.insert(Json::parse(o.out).at("launches").size());
  }
  EXPECT_EQ(launches, (std::set<std::size_t>{1, 2, 3}));
}

TEST(Exec, ProgramsHaveTheirEnvironment) {
  ASSERT_EQ(setenv("OWN_VARIABLE", "kept", 1), 0);
  const Output o = run_program({"exec", "--device", "t4", "--", WARPLENS_LAUNCHES, "0", "variable"});
  EXPECT_EQ(o.out, "kept\n") << o.err;
#ifdef WARPLENS_STATIC_PROGRAM
  const Output s = run_program({"exec", "--device", "t4", "--", WARPLENS_STATIC_PROGRAM});
  EXPECT_EQ(s.out, "served by runtime 13: hello, 42, device of 7, variable kept, static_runtime_13\n") << s.err;
#endif
}

#ifdef WARPLENS_STRIPPED_PROGRAM
TEST(Exec, AStrippedProgramWithTheStaticRuntimeGetsAnErrorAndAReason) {
  const Output o = run_program({"exec", "--analyze", "--", WARPLENS_STRIPPED_PROGRAM});
  EXPECT_EQ(o.status, 1) << "the program's own status: it ends by itself";
  EXPECT_EQ(o.out.find("refused by runtime 0: nothing, 42, "), 0u) << o.out;
  EXPECT_NE(o.out.find("\nerror 801\n"), o.out.npos) << o.out; // cudaErrorNotSupported
  // The message is that of docs/runtime.md, once, with the name of the program.
  const std::string page = read_text(WARPLENS_SOURCE_DIR "/docs/runtime.md");
  const std::size_t begin = page.find("    warplens: ./app contains NVIDIA's CUDA runtime");
  ASSERT_NE(begin, page.npos);
  std::string message = page.substr(begin + 4, page.find('\n', begin) - begin - 4);
  message.replace(message.find("./app"), 5, WARPLENS_STRIPPED_PROGRAM);
  EXPECT_EQ(o.err, message + "\n");
}

TEST(Exec, ReplacesTheRuntimeOfLibrariesThatAreLoadedLater) {
  ASSERT_EQ(setenv("OWN_VARIABLE", "kept", 1), 0);
  const Output o = run_program({"exec", "--device", "t4", "--", WARPLENS_LOADS_PLUGIN, WARPLENS_PLUGIN});
  const std::string once = "loaded\nserved by runtime 12: hello, 42, device of 7, variable kept, loads_plugin\n";
  EXPECT_EQ(o.out, once + once) << o.err;
  EXPECT_EQ(o.err, "");
}

TEST(Exec, DoesNotReplaceItsOwnRuntime) {
  const std::string link = ::testing::TempDir() + "own_runtime_by_another_path";
  std::filesystem::remove(link);
  std::filesystem::create_directory_symlink(WARPLENS_CUDA_DIRECTORY, link);
  const Output o = run_program({"exec", "--", WARPLENS_LOADS_PLUGIN, link + "/libcudart.so.13", "cudaGetDeviceCount"});
  EXPECT_EQ(o.out, "loaded\n0\nloaded\n0\n");
  EXPECT_EQ(o.err, "");
}

TEST(Exec, SaysThatALibraryIsStrippedWhenItIsLoaded) {
  const Output o = run_program({"exec", "--", WARPLENS_LOADS_PLUGIN, WARPLENS_STRIPPED_PLUGIN});
  EXPECT_EQ(o.status, 1);
  EXPECT_NE(o.out.find("\nerror 801\n"), o.out.npos) << o.out; // cudaErrorNotSupported
  const std::string told =
      "warplens: " WARPLENS_STRIPPED_PLUGIN " contains NVIDIA's CUDA runtime, without the symbols ";
  EXPECT_EQ(o.err.find(told), 0u) << o.err;
}
#endif

TEST(Exec, JsonHasTheLaunchesThatWereChosen) {
  const Folder folder;
  const std::string file = (folder.path() / "r.json").string();
  std::string told;
  const auto chosen = [&](std::vector<std::string> options) {
    std::vector<std::string> words{"exec", "--json", file};
    words.insert(words.end(), options.begin(), options.end());
    for (const char* word : {"--", WARPLENS_LAUNCHES, "5"}) words.emplace_back(word);
    const Output o = run_program(words);
    EXPECT_EQ(o.status, 0) << o.err;
    told = o.err;
    return kernels_in(file).size();
  };
  EXPECT_EQ(chosen({}), 5u);
  EXPECT_EQ(chosen({"--launch-skip", "2"}), 3u);
  EXPECT_EQ(chosen({"--launch-skip=1", "--launch-count", "2"}), 2u);
  EXPECT_EQ(chosen({"--kernel-name", "^sc"}), 5u);
  EXPECT_EQ(told, "");
  EXPECT_EQ(chosen({"--kernel-name", "^other$"}), 0u);
  EXPECT_EQ(told, "warplens: --kernel-name: no kernel matches '^other$'; the program launched 'scale'\n");
}

TEST(Exec, ReportsSurviveExitAndAKernelThatFails) {
  const Folder folder;
  const std::string file = (folder.path() / "r.json").string();
  EXPECT_EQ(run_program({"exec", "--json", file, "--", WARPLENS_LAUNCHES, "1", "exit", "0"}).status, 0);
  EXPECT_EQ(kernels_in(file).size(), 1u);
  const Output o = run_program({"exec", "--json", file, "--", WARPLENS_LAUNCHES, "2", "abort"});
  EXPECT_EQ(o.status, 128 + 6) << o.err;
  EXPECT_NE(o.err.find("invalid __global__ read"), o.err.npos) << o.err;
  EXPECT_EQ(kernels_in(file).size(), 3u);
}

// Nobody reads the pipe until the program could have ended: it does not see the fault before its report is written.
TEST(Exec, AProgramThatFailsEndsAfterItsReportIsWritten) {
  const Folder folder;
  const std::string pipe = (folder.path() / "pipe").string(), file = (folder.path() / "r.json").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::thread reader(
      [&] { EXPECT_EQ(std::system(("sleep 1; timeout 20 cat '" + pipe + "' >'" + file + "'").c_str()), 0); });
  const Output o = run_program({"exec", "--json", pipe, "--", WARPLENS_LAUNCHES, "2", "abort"});
  reader.join();
  EXPECT_EQ(o.status, 128 + 6) << o.err;
  EXPECT_EQ(kernels_in(file).size(), 3u);
}

// A failed assertion, or a limit: the tools have found something all the same.
TEST(Exec, MessagesOfToolsSurviveAbortAndLimits) {
  const Folder folder;
  const std::string file = (folder.path() / "m.json").string();
  const Output o = run_program({"exec", "--tool", "racecheck", "--save", file, "--", WARPLENS_LAUNCHES, "2", "abort"});
  EXPECT_EQ(o.status, 128 + 6) << o.err;
  EXPECT_NE(o.err.find("Kernel stopped"), o.err.npos) << o.err;
  EXPECT_NE(read_text(file).find("stopped"), std::string::npos);
  const Output limited =
      run_program({"exec", "--tool", "all", "--time-limit", "0.5", "--", WARPLENS_LAUNCHES, "1000000000"});
  EXPECT_EQ(limited.status, 1) << limited.err;
  EXPECT_NE(limited.err.find("ERROR SUMMARY"), limited.err.npos) << limited.err;
}

TEST(Exec, EachProcessHasAFileOfItsOwn) {
  const Folder folder;
  const std::string file = (folder.path() / "r.json").string();
  const Output o = run_program({"exec", "--json", file, "--", WARPLENS_LAUNCHES, "3", "fork"});
  EXPECT_EQ(o.status, 0) << o.err;
  std::multiset<std::size_t> launches;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    launches.insert(kernels_in(entry.path()).size());
  EXPECT_EQ(kernels_in(file).size(), 3u);
  EXPECT_EQ(launches, (std::multiset<std::size_t>{1, 2, 3})); // the parent 3, its children 1 and 2
}

TEST(Exec, AChildThatLaunchesNothingLeavesNoReport) {
  const Folder folder;
  const std::string file = (folder.path() / "r.json").string();
  EXPECT_EQ(run_program({"exec", "--json", file, "--", WARPLENS_LAUNCHES, "1", "fork-after"}).status, 0);
  EXPECT_EQ(kernels_in(file).size(), 1u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Exec, AShellStartsPrograms) {
  const Output o = run_program({"exec", "--", "sh", "-c", "'" WARPLENS_LAUNCHES "' 1; '" WARPLENS_LAUNCHES "' 2"});
  EXPECT_EQ(o.out, "2 2\n4 4\n") << o.err;
}

TEST(Exec, BadUsage) {
  const Folder folder;
  const std::string text = folder.write("notes.txt", "hello");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"exec"}, "no program"},
      {{"exec", "--analyze", "--"}, "no program"},
      {{"exec", "--", "no-such-program"}, "no such program: 'no-such-program'"},
      {{"exec", "--", "./no-such-program"}, "no such program: './no-such-program'"},
      {{"exec", "--", text}, "is not an executable"},
      {{"exec", "--", folder.path().string()}, "is not an executable"},
      {{"exec", "--launch-skip", "-1", "--", "true"}, "--launch-skip: expected a number, got '-1'"},
      {{"exec", "--kernel-name", "(", "--", "true"}, "is not a regular expression"},
      {{"exec", "--json", "/no/such/folder/r.json", "--", "true"}, "cannot write"},
      {{"exec", "--what", "--", "true"}, "--what"},
      {{"exec", "--analyse", "--", "true"}, "did you mean '--analyze'?"},
      {{"exec", folder.path().string() + "/none.cu"}, "none.cu': No such file or directory"},
      {{"exec", "--details", "memry", "--", "true"}, "did you mean 'memory'?"},
      {{"exec", "--fail-on", "finding>0", "--", "true"}, "did you mean 'findings'?"},
      {{"exec", "--fail-on", "reuse_again>0", "--", "true"}, "only with --analyzers reuse_distance"},
      {{"exec", "--analyzers", "cache", "--", "true"}, "did you mean 'caches'?"},
      {{"exec", "--rule", "nosuch", "--", "true"}, "nosuch"},
      {{"exec", "--sarif", "/no/such/folder/r", "--", "true"}, "cannot write"},
      {{"exec", "--csv", "-", "--", "true"}, "/dev/stdout"},
  };
  for (const auto& [words, message] : cases) {
    const Output o = run_program(words);
    EXPECT_EQ(o.status, 2) << message;
    EXPECT_NE(o.err.find(message), o.err.npos) << o.err;
  }
}

TEST(OtherFiles, CheckListsTheKernelsInThem) {
  for (const char* file : {"zstd.fatbin", "object.elf"}) {
    const Output o = run_program({"check", kData + file});
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_NE(o.out.find(": PTX 9.0 for sm_90, 1 kernel\n  scale(.u64 "), o.out.npos) << o.out;
  }
  const Output none = run_program({"check", kData + "machine_code.fatbin"});
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.err.find("-gencode arch=compute_"), none.err.npos) << none.err;
  const Output host = run_program({"check", "/proc/self/exe"});
  EXPECT_EQ(host.status, 2);
  EXPECT_NE(host.err.find("no device code in this file"), host.err.npos) << host.err;
}

TEST(OtherFiles, RunTakesAFatBinary) {
  const Output o = run_program({"run", kData + "targets.fatbin", "--kernel", "scale", "--grid", "1", "--block", "32",
                                "--arg", "x:f32[32]=fill:3", "--arg", "f32=2", "--arg", "s32=32", "--print", "x:1"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_NE(o.out.find("x: f32[32]\n  6 …"), o.out.npos) << o.out;
}

// Without a GPU, there is nothing to run machine code.
TEST(Exec, NvccWritesPtxWhereAProgramRequestsMachineCode) {
  const Folder folder;
  const std::string nvcc = folder.write("nvcc", "#!/bin/sh\nprintf '%s|' \"$@\"\n");
  std::filesystem::permissions(nvcc, std::filesystem::perms::owner_all);
  const std::pair<const char*, const char*> table[] = {
      {"nvcc --cubin -arch sm_90 -I 'a b' k.cu", "-ptx|-arch|sm_90|-I|a b|k.cu|-o|k.cubin|"},
      {"nvcc -cubin -odir out dir/k.cu", "-ptx|-odir|out|dir/k.cu|-o|out/k.cubin|"},
      {"nvcc k.cu -cubin -o 'my file'", "k.cu|-ptx|-o|my file|"},
      {"nvcc -ptx k.cu", "-ptx|k.cu|"},
      {"nvcc", "|"},
  };
  const std::string path = "PATH=" + folder.path().string() + ":" + std::getenv("PATH");
  for (const auto& [command, words] : table) {
    const Output o = run_command({"env", path, WARPLENS_PROGRAM, "exec", "--", "sh", "-c", command});
    EXPECT_EQ(o.out, words) << command << "\n" << o.err;
  }
}

} // namespace exec_test
} // namespace warplens::testing
