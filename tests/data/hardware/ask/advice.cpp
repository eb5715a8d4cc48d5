// Asks a GPU how long the launches of tests/api/advice_pairs.cpp take: those with a problem, and those with the remedy.
//
//   g++ -std=c++20 -O2 -I. -o ask_advice tests/data/hardware/ask/advice.cpp tests/api/advice_pairs.cpp -ldl
//   ./ask_advice > tests/data/hardware/advice.jsonl
//
// It runs in the root of the source tree, needs no CUDA toolkit, and takes less than a minute. A line per pair:
// `pair`: name_of() it; `before` and `after`: of each launch
//   cold      the median of 20 times between two events around the launch, in µs, after 256 MiB were written so that
//             the caches have nothing of it
//   low, high the shortest and the longest of these
//   warm      the time of 50 launches, one after the other, in µs, divided by 50: the median of 5
//   sums      weighted_sum() of each buffer after the first launch, by name
// The first line is an empty kernel's, "empty": what events and the launch add to every `cold`.
//
// With --once, it starts each launch once instead, without events, for a profiler:
//   ncu --csv --page raw --print-units base --clock-control none --metrics gpu__time_duration.sum ./ask_advice --once
#include "tests/api/advice_pairs.hpp"
#include "tests/programs/hopper/gpu.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

using namespace warplens::tests;

namespace {

constexpr int kRepeats = 20, kBatches = 5, kBatch = 50;
constexpr std::size_t kFlushedWords = std::size_t{64} << 20;
void* const kStream = nullptr;

constexpr const char* kEmpty = R"(
.version 6.5
.target sm_75
.address_size 64
.visible .entry empty() { ret; }
)";

std::string text_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!text.empty()) return text;
  std::fprintf(stderr, "cannot read %s: run in the root of the source tree\n", file.c_str());
  std::exit(1);
}

/// A launch on buffers of its own.
class Timed {
public:
  Timed(const std::string& module, const std::vector<PairBuffer>& buffers, const PairLaunch& launch)
      : launch_(launch), buffers_(buffers) {
    gpu::must("cuModuleLoadData", &module_, static_cast<const void*>(module.c_str()));
    gpu::must("cuModuleGetFunction", &function_, module_, launch.kernel.c_str());
    for (const PairBuffer& b : buffers) pointers_[b.name] = gpu::Gpu::copied(content(b));
    for (const PairArgument& a : launch.arguments) {
      std::uint64_t bits = 0;
      if (const auto* name = std::get_if<std::string>(&a)) bits = pointers_.at(*name);
      if (const auto* number = std::get_if<int>(&a)) std::memcpy(&bits, number, sizeof *number);
      if (const auto* number = std::get_if<float>(&a)) std::memcpy(&bits, number, sizeof *number);
      values_.push_back(bits);
    }
    for (std::uint64_t& value : values_) arguments_.push_back(&value);
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() {
    for (const auto& [name, pointer] : pointers_) gpu::Gpu::release(pointer);
    gpu::must("cuModuleUnload", module_);
  }

  void start() {
    gpu::must("cuLaunchKernel", function_, launch_.grid[0], launch_.grid[1], launch_.grid[2], launch_.block[0],
              launch_.block[1], launch_.block[2], 0u, kStream, arguments_.data(), static_cast<void**>(nullptr));
  }
  std::string sums() {
    std::string text;
    for (const PairBuffer& b : buffers_) {
      char number[64];
      std::snprintf(number, sizeof number, "%.9g",
                    weighted_sum(b, gpu::Gpu::back<std::uint32_t>(pointers_.at(b.name), b.count)));
      text += (text.empty() ? "\"" : ", \"") + b.name + "\": " + number;
    }
    return "{" + text + "}";
  }

private:
  const PairLaunch& launch_;
  const std::vector<PairBuffer>& buffers_;
  void *module_ = nullptr, *function_ = nullptr;
  std::map<std::string, gpu::Pointer> pointers_;
  std::vector<std::uint64_t> values_;
  std::vector<void*> arguments_;
};

class Clock {
public:
  Clock() : flushed_(gpu::Gpu::zeros(4 * kFlushedWords)) {
    gpu::must("cuEventCreate", &begin_, 0u);
    gpu::must("cuEventCreate", &end_, 0u);
  }
  void flush() { gpu::must("cuMemsetD32Async", flushed_, ++fill_, kFlushedWords, kStream); }
  /// µs of `count` launches.
  double time(Timed& timed, int count) {
    gpu::must("cuEventRecord", begin_, kStream);
    for (int i = 0; i < count; ++i) timed.start();
    gpu::must("cuEventRecord", end_, kStream);
    gpu::must("cuEventSynchronize", end_);
    float milliseconds = 0;
    gpu::must("cuEventElapsedTime", &milliseconds, begin_, end_);
    return 1000 * static_cast<double>(milliseconds);
  }

private:
  void *begin_ = nullptr, *end_ = nullptr;
  gpu::Pointer flushed_;
  unsigned fill_ = 0;
};

double median(std::vector<double>& times) {
  std::sort(times.begin(), times.end());
  return (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2;
}

std::string answer(Timed& timed, Clock& clock) {
  timed.start();
  gpu::must("cuCtxSynchronize");
  const std::string sums = timed.sums();
  std::vector<double> cold, warm;
  for (int i = 0; i < kRepeats; ++i) {
    clock.flush(); // so long that all of what follows is queued when it ends
    cold.push_back(clock.time(timed, 1));
  }
  for (int i = 0; i < kBatches; ++i) warm.push_back(clock.time(timed, kBatch) / kBatch);
  const double middle = median(cold);
  char text[200];
  std::snprintf(text, sizeof text, "{\"cold\": %.3f, \"low\": %.3f, \"high\": %.3f, \"warm\": %.3f, \"sums\": ", middle,
                cold.front(), cold.back(), median(warm));
  return text + sums + "}";
}

std::vector<AdvicePair> asked() {
  std::vector<AdvicePair> list = advice_pairs();
  for (AdvicePair& pair : close_calls()) list.push_back(std::move(pair));
  for (AdvicePair& pair : pairs_without_speedup()) list.push_back(std::move(pair));
  std::erase_if(list, [](const AdvicePair& pair) { return pair.device != "h200"; });
  return list;
}

void once() {
  for (const AdvicePair& pair : asked()) {
    const std::string module = text_of(pair.module);
    for (const PairLaunch* one : {&pair.before, &pair.after}) {
      Timed(module, pair.buffers, *one).start();
      gpu::must("cuCtxSynchronize");
    }
  }
}

void all() {
  Clock clock;
  const std::vector<PairBuffer> none;
  const PairLaunch empty{"empty", {1, 1, 1}, {32, 1, 1}, {}};
  Timed nothing(kEmpty, none, empty);
  std::printf("{\"pair\": \"empty\", \"empty\": %s}\n", answer(nothing, clock).c_str());
  for (const AdvicePair& pair : asked()) {
    const std::string module = text_of(pair.module);
    std::string answers[2];
    for (int i = 0; i < 2; ++i) {
      Timed timed(module, pair.buffers, i == 0 ? pair.before : pair.after);
      answers[i] = answer(timed, clock);
    }
    std::printf("{\"pair\": \"%s\", \"before\": %s, \"after\": %s}\n", name_of(pair).c_str(), answers[0].c_str(),
                answers[1].c_str());
    std::fflush(stdout);
  }
}

} // namespace

int main(int count, char** arguments) {
  gpu::Gpu::make_context();
  if (count > 1 && std::string_view(arguments[1]) == "--once")
    once();
  else
    all();
  return 0;
}
