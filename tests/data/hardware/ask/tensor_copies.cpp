// Asks a GPU of compute capability 9.0 how it copies by tensor map: writes tensor_copies.jsonl.
//
//   g++ -std=c++20 -O1 -I. -o ask_tensor_copies tests/data/hardware/ask/tensor_copies.cpp
//   tests/hardware/tensor_questions.cpp tests/hardware/matrix_inputs.cpp -ldl
//   ./ask_tensor_copies WORKERS > tests/data/hardware/tensor_copies.jsonl
//   ./ask_tensor_copies --print FOLDER   writes the kernels instead, for ptxas to check; that needs no GPU
//   ./ask_tensor_copies WORKERS FILE     also writes the images themselves, each after its number
//   ./ask_tensor_copies WORKERS FILE FIRST   asks from this question on, counted from 0
//
// A line per copy: what was asked; `encode`: the driver's error if it made no map; `error`: the CUresult of a kernel
// that failed; or `complete`: for each block, whether its mbarrier was
// told of tensor_bytes(), `shared`: 64-bit FNV-1a of the words of shared
// memory of each block, `global`: of global memory. They are missing where nothing changed.
#include "tests/hardware/matrix_inputs.hpp"
#include "tests/hardware/tensor_questions.hpp"

#include <sys/wait.h>
#include <unistd.h>

using namespace warplens::tests;
using Words = std::vector<std::uint32_t>;

namespace {

constexpr std::size_t kOut = 16640; // bytes of a block

std::string hash(const std::uint32_t* words, std::size_t count) {
  WordHash h;
  for (std::size_t i = 0; i < count; ++i) h.take(words[i]);
  return h.text();
}

struct Answer {
  std::string text;
  Words images;
  bool fault = false;
};

void read_back(const TensorQuestion& q, const Words& out, const Words& memory, Answer& answer) {
  const Words before = shared_memory(q), start = tensor_memory(q);
  std::string barriers, images;
  for (std::size_t block = 0; block < static_cast<std::size_t>(q.blocks); ++block) {
    const std::uint32_t* const image = out.data() + block * kOut / 4;
    const bool same = std::equal(before.begin(), before.end(), image);
    barriers += (block == 0 ? "" : ", ") + std::to_string(static_cast<int>(image[kImage / 4]) - 1);
    images += (block == 0 ? "\"" : ", \"") + (same ? "" : hash(image, kImage / 4)) + "\"";
    answer.images.insert(answer.images.end(), image, image + kImage / 4);
  }
  answer.text += ", \"complete\": [" + barriers + "], \"shared\": [" + images + "]";
  if (memory != start) {
    answer.text += ", \"global\": \"" + hash(memory.data(), memory.size()) + "\"";
    answer.images = memory;
  }
}

Answer ask(const TensorQuestion& question) {
  TensorQuestion q = question;
  Answer answer;
  const gpu::Pointer memory = gpu::Gpu::copied(tensor_memory(q)), source = gpu::Gpu::copied(shared_memory(q));
  const gpu::Pointer out = gpu::Gpu::zeros(kOut * static_cast<std::size_t>(q.blocks));
  q.tensor.address += memory;
  gpu::TensorMap map{};
  const int encoded = q.im2col
                          ? gpu::encode_im2col(&map, q.tensor, q.lower.data(), q.upper.data(), q.channels, q.pixels)
                          : gpu::encode_tiled(&map, q.tensor, q.box.data());
  if (encoded != 0) {
    answer.text = ", \"encode\": " + std::to_string(encoded);
  } else {
    void *module = nullptr, *function = nullptr;
    const std::string text = tensor_kernel(q);
    gpu::must("cuModuleLoadData", &module, static_cast<const void*>(text.c_str()));
    gpu::must("cuModuleGetFunction", &function, module, "k");
    const void* arguments[] = {&map, &memory, &source, &out};
    int error =
        gpu::call("cuLaunchKernel", function, static_cast<unsigned>(q.blocks), 1u, 1u, 128u, 1u, 1u, 16400u,
                  static_cast<void*>(nullptr), static_cast<const void**>(arguments), static_cast<void**>(nullptr));
    if (error == 0) error = gpu::call("cuCtxSynchronize");
    if (error != 0) {
      answer.text = ", \"error\": " + std::to_string(error);
      answer.fault = true;
      return answer;
    }
    const std::size_t words = kOut / 4 * static_cast<std::size_t>(q.blocks);
    read_back(q, gpu::Gpu::back<std::uint32_t>(out, words), gpu::Gpu::back<std::uint32_t>(memory, kTensorMemory / 4),
              answer);
    gpu::must("cuModuleUnload", module);
  }
  for (const gpu::Pointer p : {memory, source, out}) gpu::Gpu::release(p);
  return answer;
}

// Every `workers`-th question from `first` on, until a fault. Lines go to one file, images to another.
void work(const std::vector<TensorQuestion>& questions, std::size_t first, std::size_t workers,
          const std::string& file) {
  gpu::Gpu::make_context();
  for (std::size_t i = first; i < questions.size(); i += workers) {
    const Answer answer = ask(questions[i]);
    std::ofstream(file, std::ios::app) << i << " {" << questions[i].text() << answer.text << "}\n";
    if (answer.fault) std::_Exit(0);
    std::ofstream images(file + ".images", std::ios::app | std::ios::binary);
    const std::uint32_t head[2] = {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(answer.images.size())};
    images.write(reinterpret_cast<const char*>(head), sizeof head);
    images.write(reinterpret_cast<const char*>(answer.images.data()),
                 static_cast<std::streamsize>(4 * answer.images.size()));
  }
  std::_Exit(0);
}

// The question after the last that was answered.
std::size_t next_of(const std::string& file, std::size_t first, std::size_t workers) {
  std::ifstream lines(file);
  std::size_t next = first;
  for (std::string line; std::getline(lines, line);) next += workers;
  return next;
}

void supervise(const std::vector<TensorQuestion>& questions, std::size_t worker, std::size_t workers,
               const std::string& file) {
  std::size_t next = worker;
  while (next < questions.size()) {
    const pid_t child = fork();
    if (child == 0) work(questions, next, workers, file);
    int status = 0;
    waitpid(child, &status, 0);
    const std::size_t after = next_of(file, worker, workers);
    if (after == next) { // it crashed
      std::ofstream(file, std::ios::app) << next << " {" << questions[next].text() << ", \"error\": -1}\n";
      next += workers;
    } else {
      next = after;
    }
  }
}

} // namespace

int main(int count, char** arguments) {
  const std::vector<TensorQuestion> questions = tensor_questions();
  const std::string first = count > 1 ? arguments[1] : "";
  if (first == "--print" && count > 2) {
    for (std::size_t i = 0; i < questions.size(); ++i)
      std::ofstream(std::string(arguments[2]) + "/" + std::to_string(i) + ".ptx") << tensor_kernel(questions[i]);
    return 0;
  }
  const std::size_t workers = first.empty() ? 1 : std::stoul(first);
  const std::string stem = count > 2 ? arguments[2] : "tensor_copies";
  const std::size_t from = count > 3 ? std::stoul(arguments[3]) : 0;
  for (std::size_t w = 0; w < workers; ++w)
    if (fork() == 0) {
      supervise(questions, from + w, workers, stem + "." + std::to_string(w));
      std::_Exit(0);
    }
  while (wait(nullptr) > 0) {
  }
  std::vector<std::string> lines(questions.size());
  for (std::size_t w = 0; w < workers; ++w) {
    std::ifstream file(stem + "." + std::to_string(w));
    for (std::string line; std::getline(file, line);) lines.at(std::stoul(line)) = line.substr(line.find(' ') + 1);
  }
  for (std::size_t i = from; i < lines.size(); ++i) std::puts(lines[i].c_str());
}
