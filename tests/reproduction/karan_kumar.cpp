// SPDX-License-Identifier: Apache-2.0
// Karan Kumar G, Analytical Model for Kernel Performance Prediction, 2023: Tables 2 and 4 to 8.
#include "model/calibration.hpp"
#include "model/models.hpp"
#include "tests/reproduction/page.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <sstream>

namespace warplens::reproduction {
namespace {

using namespace model;

struct PrintedRow {
  double n = 0, measured = 0, predicted = 0, ratio = 0;
  std::string predicted_text;
};

std::vector<PrintedRow> read_table(const std::string& name) {
  std::ifstream in(WARPLENS_SOURCE_DIR "/tests/data/papers/karan_kumar_" + name + ".csv");
  std::vector<PrintedRow> rows;
  for (std::string line; std::getline(in, line);) {
    PrintedRow row;
    char comma = 0;
    std::istringstream cells(line);
    if (!(cells >> row.n >> comma >> row.measured >> comma)) continue; // the heads
    std::getline(cells, row.predicted_text, ',');
    row.predicted = std::stod(row.predicted_text);
    if (cells >> row.ratio) rows.push_back(row);
  }
  return rows;
}

// Table 3, in blocks of 64 threads, of which 32 fill a multiprocessor: O = 1, so that the weight is O * w.
constexpr double kBlock = 64;
KernelStatistics kernel(double threads, double computations, double global, double shared) {
  KernelStatistics s;
  s.threads_per_block = kBlock;
  s.blocks = threads / kBlock;
  s.resident_blocks = 32;
  s.thread_cycles = computations;
  s.global_requests = global;
  s.shared_requests = shared;
  s.instructions = computations + global + shared; // not used
  return s;
}

struct Table {
  int number;
  const char* name;
  const char* file;
  KernelStatistics (*statistics)(double n);
  const char *mean_absolute, *root_mean_square, *percent; ///< Table 8
};
const Table kTables[] = {
    {4, "matrix-vector product", "matrix_vector", [](double n) { return kernel(n, 2 * n, 2 * n + 1, 0); }, "16.37",
     "24.92", "3.51"},
    {5, "dot product", "dot_product", [](double n) { return kernel(n, 96, 2 + kBlock / n, 2 * std::log2(kBlock)); },
     "58.18", "78.09", "8.74"},
    {6, "vector addition", "vector_addition", [](double n) { return kernel(n, 24, 3, 0); }, "8.28", "11.96", "5.03"},
    {7, "matrix addition", "matrix_addition", [](double n) { return kernel(n * n, 24, 3, 0); }, "6.96", "8.73", "10.3"},
};

double milliseconds_of(const KernelStatistics& s, const Device& d) {
  const Expected<Prediction> p = predict(kKaranKumar, s, d);
  return p ? p->milliseconds : -1;
}

// The weight is no better known than the row that it is from.
bool in_the_last_digit(const PrintedRow& row, double ours) {
  constexpr double kOfWeight = 1e-9;
  return !as_printed(row.predicted_text, ours) && std::abs(ours / row.predicted - 1) < kOfWeight;
}

void table(Page& page, const Table& t, const Device& d) {
  const std::vector<PrintedRow> rows = read_table(t.file);
  std::vector<double> ours, measured;
  std::vector<MeasuredRun> runs;
  double weight = 0;
  page.text(fmt::format("Table {}, {}.", t.number, t.name));
  for (const PrintedRow& row : rows) {
    KernelStatistics s = t.statistics(row.n);
    s.adjusting_weight = 1;
    if (weight == 0) weight = milliseconds_of(s, d) / row.predicted;
    s.adjusting_weight = weight;
    ours.push_back(milliseconds_of(s, d));
    measured.push_back(row.measured);
    runs.push_back({"", s, row.measured});
    const std::string what = fmt::format("N = {:.0f}", row.n);
    if (runs.size() == 1)
      page.fitted(what, "ms", row.predicted_text, ours.back(), fmt::format("fitted to the weight, {:.8g}", weight));
    else
      page.computed(what, "ms", row.predicted_text, ours.back(),
                    in_the_last_digit(row, ours.back())
                        ? "in the last of ten digits, with a weight from the ten digits of the first row"
                        : "");
  }
  const ErrorMetrics errors = error_metrics(ours, measured);
  page.computed("mean absolute error (Table 8)", "ms", t.mean_absolute, errors.mean_absolute);
  page.computed("root of the mean square (Table 8)", "ms", t.root_mean_square, errors.root_mean_square);
  page.computed("mean deviation (Table 8)", "%", t.percent, 100 * errors.mean_relative);
  if (t.number == 5)
    page.computed("mean absolute error, in the text", "ms", "58.719", errors.mean_absolute,
                  "the paper contradicts itself: text and Table 8");
  double largest = 0;
  for (const PrintedRow& row : rows) largest = std::max(largest, std::abs(row.predicted / row.measured - row.ratio));
  page.claim(Kind::arithmetic, "the column is a ratio of actual to predicted", "actual / predicted",
             "predicted / actual", largest > 1e-8, "its numbers are the inverse ratio");
  // Whether the weight is that of one run, as the text says, or of all.
  double nearest = 1;
  for (const MeasuredRun& run : runs) {
    const Expected<FittedWeight> one = fit_weight(kKaranKumar, d, std::vector{run}, WeightFit::first);
    if (one) nearest = std::min(nearest, std::abs(one->weight / weight - 1));
  }
  page.claim(Kind::computed, "the weight was fitted to one run of the table", "one run",
             fmt::format("no run has this weight within {:.2g} %; predicted / actual is {:.3f} on average",
                         100 * nearest, errors.mean_ratio),
             nearest < 1e-6, "the weight is not that of any run");
}

} // namespace

void karan_kumar(Page& page) {
  page.section(
      "Karan Kumar 2023",
      "Tables 4 to 7: equation 4 on a Titan V with the parameters of Table 3. Occupancy and weight cannot be "
      "separated; their product is one number for each table, taken from its first row, and the other rows test it. "
      "The block size of the dot product is not printed; only 64 fits.");
  const Expected<Device> d = find_device("titanv");
  if (!d) return page.claim(Kind::computed, "device titanv", "built in", "missing", false);
  for (const Table& t : kTables) table(page, t, *d);
  page.text("Numbers elsewhere in the text.");
  page.arithmetic("mean of the four deviations", "%", "6.9", (3.51 + 8.74 + 5.03 + 10.3) / 4);
  page.arithmetic("divergence example: both sides", "cycles", "575", (5 * 5 + 3 * 100) + (10 * 5 + 2 * 100));
  OccupancyQuery query;
  query.capability = {8, 6};
  query.threads = 320;
  query.registers = 10;
  query.shared_bytes = 1024;
  const Expected<Occupancy> o = model::occupancy(query);
  page.computed("Table 2: warps of a multiprocessor", "", "40", o ? o->warps : 0);
  page.computed("Table 2: blocks", "", "4", o ? o->blocks : 0);
  page.computed("Table 2: occupancy", "", "0.8333333333", o ? o->ratio : 0);
}

} // namespace warplens::reproduction
