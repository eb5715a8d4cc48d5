// Asks a driver which tensor maps it makes, of what arguments, and what is in them: writes tensor_maps.jsonl.
//
//   g++ -std=c++20 -O1 -I. -o ask_tensor_maps tests/data/hardware/ask/tensor_maps.cpp -ldl
//   ./ask_tensor_maps > tests/data/hardware/tensor_maps.jsonl
//
// A line per call: its arguments in their order, the CUresult as `result` (-1: the driver crashed), and as `map` the
// 64-bit words of the map in hexadecimal, those of 0 as "". A field that is missing is that of the line before. Of
// `strides`, `lower`, `upper`, a null pointer is null. `map_at` is the map's address modulo 64.
#include "tests/programs/hopper/gpu.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <map>

namespace {

using List = std::vector<long long>;

struct Call {
  std::string function = "tiled"; ///< tiled, im2col, wide
  long long map_at = 0, type = 7, rank = 3, address = 0x10000000;
  List sizes{64, 32, 16, 8, 4}, strides{256, 8192, 131072, 1048576}, box{16, 8, 4, 2, 2}, steps{1, 1, 1, 1, 1};
  List lower{-1, -1, -1}, upper{1, 1, 1};
  long long channels = 16, pixels = 32, mode = 0, interleave = 0, swizzle = 0, promotion = 0, fill = 0;
  std::string null; ///< a pointer that is null
};

template <class T> std::vector<T> as(const List& list) { return {list.begin(), list.end()}; }

int encode(const Call& c, unsigned char* memory) {
  const auto sizes = as<std::uint64_t>(c.sizes), strides = as<std::uint64_t>(c.strides);
  const auto box = as<std::uint32_t>(c.box), steps = as<std::uint32_t>(c.steps);
  const auto lower = as<int>(c.lower), upper = as<int>(c.upper);
  const auto pointer = [&](const char* name, const void* p) { return c.null == name ? nullptr : p; };
  void* const map = c.null == "map" ? nullptr : memory + c.map_at;
  const auto rank = static_cast<std::uint32_t>(c.rank);
  const auto i = [](long long x) { return static_cast<int>(x); };
  void* const address = reinterpret_cast<void*>(c.address);
  const void *const n = pointer("sizes", sizes.data()), *const s = pointer("strides", strides.data());
  const void* const e = pointer("steps", steps.data());
  const auto u = [](long long x) { return static_cast<std::uint32_t>(x); };
  if (c.function == "tiled")
    return gpu::call("cuTensorMapEncodeTiled", map, i(c.type), rank, address, n, s, pointer("box", box.data()), e,
                     i(c.interleave), i(c.swizzle), i(c.promotion), i(c.fill));
  if (c.function == "im2col")
    return gpu::call("cuTensorMapEncodeIm2col", map, i(c.type), rank, address, n, s, pointer("lower", lower.data()),
                     pointer("upper", upper.data()), u(c.channels), u(c.pixels), e, i(c.interleave), i(c.swizzle),
                     i(c.promotion), i(c.fill));
  return gpu::call("cuTensorMapEncodeIm2colWide", map, i(c.type), rank, address, n, s, i(c.lower[0]), i(c.upper[0]),
                   u(c.channels), u(c.pixels), e, i(c.interleave), i(c.mode), i(c.swizzle), i(c.promotion), i(c.fill));
}

std::string text(const List& list) {
  std::string t = "[";
  for (std::size_t i = 0; i < list.size(); ++i) t += (i == 0 ? "" : ", ") + std::to_string(list[i]);
  return t + "]";
}

// A crash ends a child, whose calls so far are written; another one continues after it.
class Table {
public:
  void ask(const Call& c) { calls_.push_back(c); }
  void write() {
    for (std::size_t next = 0; next < calls_.size();) {
      int pipes[2];
      if (pipe(pipes) != 0) return;
      std::fflush(stdout);
      if (const pid_t child = fork(); child == 0) {
        gpu::Gpu::make_context();
        for (std::size_t i = next; i < calls_.size(); ++i) answer(i, pipes[1]);
        std::_Exit(0);
      } else {
        close(pipes[1]);
        std::string line, all;
        char buffer[4096];
        for (ssize_t n; (n = read(pipes[0], buffer, sizeof buffer)) > 0;)
          all.append(buffer, static_cast<std::size_t>(n));
        close(pipes[0]);
        int status = 0;
        waitpid(child, &status, 0);
        for (std::size_t from = 0, end; (end = all.find('\n', from)) != std::string::npos; from = end + 1)
          print(next++, all.substr(from, end - from));
        if (next < calls_.size()) print(next++, "\"result\": -1");
      }
    }
  }

private:
  void answer(std::size_t i, int to) const {
    alignas(64) unsigned char memory[256];
    std::memset(memory, 0, sizeof memory);
    const int result = encode(calls_[i], memory);
    std::string line = "\"result\": " + std::to_string(result);
    if (result == 0) {
      line += ", \"map\": \"";
      for (int w = 0; w < 16; ++w) {
        unsigned long long word = 0;
        std::memcpy(&word, memory + calls_[i].map_at + 8 * w, 8);
        char digits[20];
        std::snprintf(digits, sizeof digits, "%llx", word);
        line += std::string(w == 0 ? "" : " ") + (word == 0 ? "-" : digits);
      }
      line += "\"";
    }
    line += "\n";
    if (write_all(to, line)) return;
    std::_Exit(1);
  }
  static bool write_all(int to, const std::string& line) {
    return ::write(to, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  }
  void print(std::size_t i, const std::string& result) {
    const Call& c = calls_[i];
    std::vector<std::pair<std::string, std::string>> fields = {{"function", "\"" + c.function + "\""},
                                                               {"map_at", std::to_string(c.map_at)},
                                                               {"type", std::to_string(c.type)},
                                                               {"rank", std::to_string(c.rank)},
                                                               {"address", std::to_string(c.address)},
                                                               {"sizes", text(c.sizes)},
                                                               {"strides", text(c.strides)}};
    if (c.function == "tiled") {
      fields.push_back({"box", text(c.box)});
    } else {
      fields.push_back({"lower", text(c.lower)});
      fields.push_back({"upper", text(c.upper)});
      fields.push_back({"channels", std::to_string(c.channels)});
      fields.push_back({"pixels", std::to_string(c.pixels)});
    }
    fields.push_back({"steps", text(c.steps)});
    for (const auto& [name, value] : {std::pair{"interleave", c.interleave},
                                      {"mode", c.mode},
                                      {"swizzle", c.swizzle},
                                      {"promotion", c.promotion},
                                      {"fill", c.fill}})
      fields.push_back({name, std::to_string(value)});
    fields.push_back({"null", "\"" + c.null + "\""});
    std::printf("{");
    for (const auto& [name, value] : fields) {
      std::string& before = last_[name];
      if (before != value) std::printf("\"%s\": %s, ", name.c_str(), value.c_str());
      before = value;
    }
    std::printf("%s}\n", result.c_str());
  }

  std::vector<Call> calls_;
  std::map<std::string, std::string> last_;
};

using Change = std::function<void(Call&)>;

constexpr long long kMany = 1LL << 32;
const List kCounts = {0, 1, 2, 3, 15, 16, 17, 32, 33, 64, 128, 256, 257, 1024, 1025};

void ask_common(Table& table, const Call& base) {
  const auto with = [&](const Change& change) {
    Call c = base;
    change(c);
    table.ask(c);
  };
  with([](Call&) {});
  for (int type = -1; type < 18; ++type)
    for (int fill = 0; fill < 3; ++fill)
      with([&](Call& c) {
        c.type = type;
        c.fill = fill;
      });
  for (int rank = 0; rank < 7; ++rank) with([&](Call& c) { c.rank = rank; });
  for (const int at : {8, 16, 32}) with([&](Call& c) { c.map_at = at; });
  for (const char* null : {"map", "sizes", "strides", "box", "steps", "lower", "upper"})
    with([&](Call& c) { c.null = null; });
  for (const long long a : {0LL, 1LL, 8LL, 16LL, 0x10000001LL, 0x10000008LL, 0x10000010LL, 0x10000020LL,
                            0x7ffffffffff0LL, (1LL << 48), (1LL << 56) + 16, (1LL << 57), (1LL << 60)})
    for (int interleave = 0; interleave < 3; ++interleave)
      with([&](Call& c) {
        c.address = a;
        c.interleave = interleave;
        c.swizzle = interleave == 2;
        c.box[0] = c.channels = 8;
      });
  for (std::size_t d = 0; d < 5; ++d)
    for (const long long n : {0LL, 1LL, 3LL, 65LL, 65536LL, kMany - 1, kMany, kMany + 1})
      with([&](Call& c) {
        c.rank = 5;
        c.sizes[d] = n;
      });
  for (std::size_t d = 0; d < 4; ++d)
    for (const long long n : {0LL, 1LL, 8LL, 16LL, 24LL, 32LL, 48LL, 240LL, 256LL, 272LL, 8176LL, (1LL << 36),
                              (1LL << 40) - 16, (1LL << 40), (1LL << 40) + 16})
      for (const int interleave : {0, 2})
        with([&](Call& c) {
          c.rank = 5;
          c.strides[d] = n;
          c.interleave = interleave;
          c.swizzle = interleave == 2;
          c.box[0] = c.channels = 8;
        });
  for (std::size_t d = 0; d < 5; ++d)
    for (const int n : {0, 1, 2, 3, 7, 8, 9})
      with([&](Call& c) {
        c.rank = 5;
        c.steps[d] = n;
      });
  for (int interleave = -1; interleave < 4; ++interleave)
    for (int swizzle = -1; swizzle < 8; ++swizzle)
      for (const int bytes : {16, 32, 64, 128, 144, 256})
        with([&](Call& c) {
          c.interleave = interleave;
          c.swizzle = swizzle;
          c.box[0] = c.channels = bytes / 4;
        });
  for (int promotion = -1; promotion < 5; ++promotion) with([&](Call& c) { c.promotion = promotion; });
  for (int rank = 1; rank < 6; ++rank)
    for (int interleave = 1; interleave < 3; ++interleave)
      with([&](Call& c) {
        c.rank = rank;
        c.interleave = interleave;
        c.swizzle = interleave == 2;
        c.box[0] = c.channels = 8;
      });
  for (int type = 13; type < 16; ++type) // packed: of 4 and 6 bits
    for (const int n : {64, 96, 128, 256})
      for (const int swizzle : {0, 3, 4})
        with([&](Call& c) {
          c.type = type;
          c.box[0] = c.channels = n;
          c.sizes[0] = 2LL * n;
          c.swizzle = swizzle;
          c.address = 0x10000020 * (n == 96 ? 1 : 0) + 0x20000000 * (n != 96 ? 1 : 0);
        });
  for (int type = 0; type < 13; ++type) // of whole rows, by type
    for (const long long n : {1, 2, 3, 4, 8, 12, 16, 32})
      with([&](Call& c) {
        c.type = type;
        c.box[0] = c.channels = n;
      });
}

void ask_tiled(Table& table) {
  const Call base;
  ask_common(table, base);
  for (std::size_t d = 0; d < 5; ++d)
    for (const long long n : kCounts) {
      Call c = base;
      c.rank = 5;
      c.box[d] = n;
      table.ask(c);
      c.type = 0;
      c.sizes[0] = 300;
      c.strides[0] = 320;
      table.ask(c);
      c.steps[d] = 4;
      table.ask(c);
    }
  for (const long long n : {64, 128, 256}) { // more than shared memory has
    Call c = base;
    c.box = {64, n, 32, 1, 1};
    table.ask(c);
    c.box = {256, n, 256, 1, 1};
    c.type = 8;
    table.ask(c);
  }
}

void ask_pixels(Table& table, const std::string& function) {
  for (int rank = 3; rank < 6; ++rank) {
    Call base;
    base.function = function;
    base.rank = rank;
    base.steps = {1, 1, 1, 1, 1};
    if (rank == 4) ask_common(table, base);
    for (int d = 0; d < rank - 2; ++d)
      for (const long long n :
           {-32769, -32768, -129, -128, -127, -17, -16, -15, -1, 0, 1, 14, 15, 16, 127, 128, 32767, 32768})
        for (const bool low : {false, true}) {
          Call c = base;
          (low ? c.lower : c.upper)[static_cast<std::size_t>(d)] = n;
          table.ask(c);
        }
    for (const long long n : kCounts) {
      Call c = base;
      c.channels = n;
      table.ask(c);
      c.channels = 16;
      c.pixels = n;
      table.ask(c);
    }
  }
  for (int mode = -1; mode < 3 && function == "wide"; ++mode)
    for (int swizzle = 0; swizzle < 7; ++swizzle) {
      Call c;
      c.function = function;
      c.mode = mode;
      c.swizzle = swizzle;
      table.ask(c);
    }
}

} // namespace

int main() {
  Table table;
  ask_tiled(table);
  ask_pixels(table, "im2col");
  ask_pixels(table, "wide");
  table.write();
}
