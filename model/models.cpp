#include "model/models.hpp"

#include "model/amaris.hpp"
#include "model/benefits.hpp"
#include "model/bounds.hpp"
#include "model/dasgupta.hpp"
#include "model/hong_kim.hpp"
#include "model/karan_kumar.hpp"
#include "model/roofline.hpp"
#include "model/sim.hpp"
#include "model/throughput_latency.hpp"
#include "model/volkov.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::model {
namespace {

Diagnostics no_parameters(const Device& device, const Model& model) {
  std::vector<std::string_view> able;
  for (const Device& d : built_in_devices())
    if (model.knows(d)) able.push_back(d.id);
  Diagnostics errors;
  errors.error({}, fmt::format("device '{}' has no parameters for model {}", device.name, model.id),
               fmt::format("devices that have: {}", fmt::join(able, ", ")));
  return errors;
}

// The limits of a device that was made by hand may be missing.
void check_launch(const KernelStatistics& s, const Device& device, Diagnostics& errors) {
  if (!s.threads_per_block || device.limits.warps == 0) return;
  if (*s.threads_per_block > device.limits.threads_per_block)
    errors.error({}, fmt::format("a block of {} threads: '{}' allows at most {}", *s.threads_per_block, device.name,
                                 device.limits.threads_per_block));
  if (!s.resident_blocks) return;
  if (const double warps = warps_per_block(s) * *s.resident_blocks; warps > device.limits.warps)
    errors.error({},
                 fmt::format("{} resident blocks of {} warps: a multiprocessor of '{}' holds at most {} warps",
                             *s.resident_blocks, warps_per_block(s), device.name, device.limits.warps),
                 "warplens occupancy says how many blocks fit");
  if (*s.resident_blocks > device.limits.blocks)
    errors.error({}, fmt::format("{} resident blocks: a multiprocessor of '{}' holds at most {}", *s.resident_blocks,
                                 device.name, device.limits.blocks));
}

} // namespace

const std::vector<Model>& models() {
  static constexpr auto any = [](const Device&) { return true; };
  // Never destroyed: a program may ask while it ends.
  static const std::vector<Model>& list = *new std::vector<Model>{
      {kHongKim, "memory and computation warp parallelism, from coalesced and uncoalesced requests",
       "S. Hong, H. Kim, An Analytical Model for a GPU Architecture, ISCA 2009", kSaysTime,
       [](const Device& device) { return device.hong_kim && device.issue_cycles; }, hong_kim},
      {kDasgupta, "the same, from transactions by size, with merging, vector requests and slow instructions",
       "A. Dasgupta, CUDA Performance Analyzer, Georgia Institute of Technology 2011", kSaysTime,
       [](const Device& device) { return device.dasgupta && device.issue_cycles; }, dasgupta},
      {kSim, "computation, memory and their overlap, with caches, parallelism of instructions and serialisation",
       "J. Sim, A. Dasgupta, H. Kim, R. Vuduc, A Performance Analysis Framework for GPGPU Applications, PPoPP 2012",
       kSaysTime, [](const Device& device) { return device.sim && device.latency.arithmetic && device.latency.memory; },
       sim},
      {kAmaris, "cycles of a thread times threads, over all cores", "M. Amaris et al., a bulk-synchronous model, 2015",
       kSaysTimeOnceCalibrated, any, amaris},
      {kKaranKumar, "the same with occupancy",
       "Karan Kumar G, Analytical Model for Kernel Performance Prediction, New York University 2023",
       kSaysTimeOnceCalibrated, any, karan_kumar},
      {kBounds, "bandwidth of memory, and of the units that load and store",
       "E. Darve, CME 213, Stanford University 2019", kSaysBound, any, bounds},
      {kVolkov, "latency bound by occupancy, and throughput of memory, arithmetic and issue",
       "V. Volkov, Understanding Latency Hiding on GPUs, University of California at Berkeley 2016", kSaysTime,
       [](const Device& device) { return device.latency.arithmetic && device.latency.memory; }, volkov},
      {kRoofline, "peak arithmetic and peak bandwidth",
       "S. Williams, A. Waterman, D. Patterson, Roofline, Communications of the ACM 2009", kSaysBound, any, roofline},
      {kThroughputLatency, "what each unit needs, and what a warp waits for, joined; fitted to measured launches",
       "of this program; see docs/models.md", kSaysTime,
       [](const Device& device) { return device.throughput_latency.has_value(); }, throughput_latency},
  };
  return list;
}

const Model* find_model(std::string_view id) {
  const auto found = std::find_if(models().begin(), models().end(), [&](const Model& m) { return m.id == id; });
  return found == models().end() ? nullptr : &*found;
}

Expected<Prediction> predict(std::string_view id, const KernelStatistics& statistics, const Device& device,
                             const ModelOptions& options) {
  if (const Model* model = find_model(id)) {
    Expected<Prediction> prediction = model->predict(statistics, device, options);
    if (prediction && model->says != kSaysBound)
      prediction->benefits = potential_benefits(*model, *prediction, statistics, device, options);
    return prediction;
  }
  std::vector<std::string_view> ids;
  for (const Model& model : models()) ids.push_back(model.id);
  const std::string near = closest(id, ids);
  return failure(fmt::format("unknown model '{}'", id), near.empty() ? fmt::format("models: {}", fmt::join(ids, ", "))
                                                                     : fmt::format("did you mean '{}'?", near));
}

Diagnostics check_inputs(std::string_view model_id, const KernelStatistics& statistics, const Device& device) {
  if (const Model* model = find_model(model_id); model != nullptr && !model->knows(device))
    return no_parameters(device, *model);
  Diagnostics errors = check_statistics(statistics, model_id);
  if (!errors.has_errors()) check_launch(statistics, device, errors);
  return errors;
}

} // namespace warplens::model
