// Karan Kumar G, Analytical Model for Kernel Performance Prediction, 2023: Tables 2 and 4 to 8.
#include "model/calibration.hpp"
#include "model/cornelis.hpp"
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
};

std::vector<PrintedRow> read_table(const std::string& name) {
  std::ifstream in(WARPLENS_SOURCE_DIR "/tests/data/papers/karan_kumar_" + name + ".csv");
  std::vector<PrintedRow> rows;
  for (std::string line; std::getline(in, line);) {
    PrintedRow row;
    char comma = 0;
    std::istringstream cells(line);
    if (cells >> row.n >> comma >> row.measured >> comma >> row.predicted >> comma >> row.ratio) rows.push_back(row);
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
  double mean_absolute, root_mean_square, percent; ///< Table 8
  int percent_digits;
};
const Table kTables[] = {
    {4, "matrix-vector product", "matrix_vector", [](double n) { return kernel(n, 2 * n, 2 * n + 1, 0); }, 16.37, 24.92,
     3.51, 2},
    {5, "dot product", "dot_product", [](double n) { return kernel(n, 96, 2 + kBlock / n, 2 * std::log2(kBlock)); },
     58.18, 78.09, 8.74, 2},
    {6, "vector addition", "vector_addition", [](double n) { return kernel(n, 24, 3, 0); }, 8.28, 11.96, 5.03, 2},
    {7, "matrix addition", "matrix_addition", [](double n) { return kernel(n * n, 24, 3, 0); }, 6.96, 8.73, 10.3, 1},
};

double predicted(const KernelStatistics& s, const Device& d) {
  const Expected<Prediction> p = predict(kKaranKumar, s, d);
  return p ? p->milliseconds : -1;
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
    if (weight == 0) weight = predicted(s, d) / row.predicted;
    s.adjusting_weight = weight;
    ours.push_back(predicted(s, d));
    measured.push_back(row.measured);
    runs.push_back({"", s, row.measured});
    const std::string what = fmt::format("N = {:.0f}", row.n);
    if (runs.size() == 1)
      page.fitted(what, "ms", row.predicted, ours.back(), fmt::format("the weight, {:.8g}", weight));
    else
      page.number(what, "ms", row.predicted, ours.back(), 5e-8);
  }
  const ErrorMetrics errors = error_metrics(ours, measured);
  page.printed("mean absolute error (Table 8)", "ms", t.mean_absolute, errors.mean_absolute, 2);
  page.printed("root of the mean square (Table 8)", "ms", t.root_mean_square, errors.root_mean_square, 2);
  page.printed("mean deviation (Table 8)", "%", t.percent, 100 * errors.mean_relative, t.percent_digits);
  if (t.number == 5)
    page.contradiction("mean absolute error, in the text", "ms", 58.719, errors.mean_absolute, 0.005,
                       "text and Table 8");
  double largest = 0;
  for (const PrintedRow& row : rows) largest = std::max(largest, std::abs(row.predicted / row.measured - row.ratio));
  page.refuted("the column is a ratio of actual to predicted", "actual / predicted", "predicted / actual",
               largest > 1e-8, "its numbers are the other way round");
  // Whether the weight is that of one run, as the text says, or of all.
  double nearest = 1;
  for (const MeasuredRun& run : runs) {
    const Expected<FittedWeight> one = fit_weight(kKaranKumar, d, std::vector{run}, WeightFit::first);
    if (one) nearest = std::min(nearest, std::abs(one->weight / weight - 1));
  }
  page.refuted("the weight was fitted to one run of the table", "one run",
               fmt::format("no run has it within {:.2g} %; predicted / actual is {:.3f} on average", 100 * nearest,
                           errors.mean_ratio),
               nearest < 1e-6, "the weight is none of theirs");
}

} // namespace

void karan_kumar(Page& page) {
  page.section(
      "Karan Kumar 2023",
      "Tables 4 to 7: equation 4 on a Titan V with the parameters of Table 3. Occupancy and weight cannot be told "
      "apart; their product is one number for each table, taken from its first row, and the other rows test it. The "
      "dot product's block size is not printed; only 64 fits.");
  const Expected<Device> d = find_device("titanv");
  if (!d) return page.claim("device titanv", "built in", "missing", false);
  for (const Table& t : kTables) table(page, t, *d);
  page.text("Elsewhere in the text.");
  page.number("mean of the four deviations", "%", 6.9, (3.51 + 8.74 + 5.03 + 10.3) / 4, 0.001);
  const Branch sides[] = {{0.5, 5 * 5 + 3 * 100}, {0.5, 10 * 5 + 2 * 100}};
  page.number("divergence example: both sides", "cycles", 575, branching_time(0, 2, sides), 0);
  OccupancyQuery query;
  query.capability = {8, 6};
  query.threads = 320;
  query.registers = 10;
  query.shared_bytes = 1024;
  const Expected<Occupancy> o = model::occupancy(query);
  page.number("Table 2: warps of a multiprocessor", "", 40, o ? o->warps : 0, 0);
  page.number("Table 2: blocks", "", 4, o ? o->blocks : 0, 0);
  page.number("Table 2: occupancy", "", 0.8333333333, o ? o->ratio : 0, 1e-9);
}

} // namespace warplens::reproduction
