// SPDX-License-Identifier: Apache-2.0
// Three of the models, so that sliders can recompute them: the counterparts of model/hong_kim.cpp, model/volkov.cpp and
// model/throughput_latency.cpp, from the same fields. A test compares them with the predictions of the report; where
// they differ, the page does not offer the sliders.
const { ceil, max, min } = Math;

const transactions = (s) => s.transactions_32 + s.transactions_64 + s.transactions_128;
const transactionBytes = (s) => 32 * s.transactions_32 + 64 * s.transactions_64 + 128 * s.transactions_128;
const warpsPerBlock = (s) => ceil(s.threads_per_block / 32);
const totalWarps = (s) => warpsPerBlock(s) * s.blocks;

function residency(s, device) {
  const multiprocessors = min(device.multiprocessors, s.blocks);
  const share = s.blocks / multiprocessors;
  const blocks = min(s.resident_blocks, share);
  return { multiprocessors, blocks, warps: blocks * warpsPerBlock(s), repetitions: share / blocks };
}

/** Hong & Kim, equations (5) to (27). */
function hongKim(s, device) {
  const r = residency(s, device);
  const p = device.hong_kim;
  const requests = s.coalesced_requests + s.uncoalesced_requests;
  const compute = device.issue_cycles.basic * s.instructions;
  let [mwp, cwp, latency, memory, departure, mwpBound] = [r.warps, 0, 0, 0, 0, 'warps'];
  if (requests > 0) {
    const perRequest = s.uncoalesced_transactions ?? p.uncoalesced_transactions;
    const uncoalesced = s.uncoalesced_requests / requests;
    const slow = p.memory_latency + (perRequest - 1) * p.uncoalesced_delay;
    latency = slow * uncoalesced + p.memory_latency * (1 - uncoalesced);
    departure = p.uncoalesced_delay * perRequest * uncoalesced + p.coalesced_delay * (1 - uncoalesced);
    memory = slow * s.uncoalesced_requests + p.memory_latency * s.coalesced_requests;
    const perWarp = device.clock_ghz * s.bytes_per_request / latency;
    const limits = { warps: r.warps, departure: latency / departure, bandwidth: device.bandwidth_gb_s / (perWarp * r.multiprocessors) };
    mwp = min(...Object.values(limits));
    mwpBound = Object.keys(limits).find((name) => limits[name] === mwp);
    cwp = min((memory + compute) / compute, r.warps);
  }
  const perRequest = compute / max(requests, 1);
  const others = max(mwp - 1, 0);
  let [cycles, bound] = [latency + compute * r.warps, 'compute'];
  if (requests > 0 && mwp >= r.warps && cwp >= r.warps) [cycles, bound] = [memory + compute + perRequest * others, 'latency'];
  else if (requests > 0 && (cwp >= mwp || compute > memory)) [cycles, bound] = [memory * r.warps / mwp + perRequest * others, cwp >= mwp ? 'memory' : 'compute'];
  cycles = cycles * r.repetitions + departure * others * (s.synchronizations ?? 0) * r.blocks * r.repetitions;
  return { milliseconds: cycles / (device.clock_ghz * 1e6), bound, mwp, cwp, mwpBound };
}

function cacheHits(s) {
  const all = (s.load_transactions ?? 0) + (s.store_transactions ?? 0) + (s.atomic_transactions ?? 0);
  const loads = s.load_transactions !== undefined && all > 0 ? s.load_transactions / all : 1;
  const [l1, l2] = [s.l1_hit_ratio ?? 0, s.l2_hit_ratio ?? 0];
  return { l1: loads * l1, l2: loads * (1 - l1) * l2, memory: 1 - loads * (1 - (1 - l1) * (1 - l2)) };
}

/** Cycles in which a multiprocessor that runs `warps` reads constants at different addresses. */
const constantCycles = (s, device, warps) => (device.throughput?.constant_passes ? warps * (s.constant_passes ?? 0) / device.throughput.constant_passes : 0);

function volkov(s, device) {
  const r = residency(s, device);
  const requests = s.global_requests;
  const warps = totalWarps(s) / r.multiprocessors;
  const ilp = s.instruction_parallelism ?? 1;
  const cores = device.cores_per_multiprocessor / 32;
  const rate = { compute: cores, issue: device.throughput?.issue ?? cores, latency: r.warps * ilp / device.latency.arithmetic, memory: Infinity };
  let work = s.instructions;
  if (requests > 0) {
    const alpha = max(s.instructions - requests, 0) / requests;
    const hits = cacheHits(s);
    const full = device.latency.memory;
    const latency = hits.l1 * (device.latency.l1 ?? full) + hits.l2 * (device.latency.l2 ?? full) + hits.memory * full;
    const bytes = hits.memory * transactionBytes(s) / requests;
    rate.latency = r.warps * (s.independent_loads ?? 1) / (latency + alpha * device.latency.arithmetic / ilp);
    if (alpha > 0) rate.compute /= alpha;
    rate.issue /= alpha + 1;
    if (bytes > 0) rate.memory = device.bandwidth_gb_s / (device.clock_ghz * r.multiprocessors) / bytes;
    work = requests;
  }
  const least = min(...Object.values(rate));
  const constants = constantCycles(s, device, warps);
  if (constants > work * warps / least) return { milliseconds: constants / (device.clock_ghz * 1e6), bound: 'constant memory' };
  const bound = least === rate.latency ? 'latency' : least === rate.memory ? 'memory' : 'compute';
  return { milliseconds: work * warps / least / (device.clock_ghz * 1e6), bound };
}

const specialClasses = ['reciprocal', 'reciprocal_square_root', 'square_root', 'divide', 'fast_divide', 'logarithm', 'exponential', 'sine_cosine'];

function throughputLatency(s, device) {
  const d = device.throughput_latency;
  const rounded = (s.divide ?? 0) + (s.square_root ?? 0);
  const special = specialClasses.reduce((all, name) => all + (s[name] ?? 0), 0);
  const machine = s.instructions + d.division_instructions * rounded + d.special_instructions * (special - rounded)
    + d.integer_division_instructions * (s.integer_divisions ?? 0);
  const warpsOfGrid = totalWarps(s);
  const all = transactions(s);
  const sectors = all > 0 ? transactionBytes(s) / (all * 32) : 0;
  const read = warpsOfGrid * sectors * s.load_transactions * (1 - (s.l1_hit_ratio ?? 0));
  const written = warpsOfGrid * (sectors * (s.merged_store_transactions ?? s.store_transactions) + (s.atomic_transactions ?? 0));
  const most = s.argument_bytes ?? 32 * (read + written);
  const missed = 32 * read * (1 - (s.l2_hit_ratio ?? 0));
  const bytesRead = s.l2_hit_ratio === undefined ? min(missed, most) : missed;
  const bytesWritten = max(0, min(32 * written, most) - d.kept_bytes);
  const blocks = ceil(s.blocks / device.multiprocessors);
  const warps = blocks * warpsPerBlock(s);
  const hits = s.l1_hit_ratio ?? 0;
  const cold = read > 0 ? min(1, bytesRead / (32 * read)) : 0;
  const wait = hits * d.l1_latency + (1 - hits) * (cold * d.memory_latency + (1 - cold) * d.l2_latency);
  const waits = s.load_waits ?? s.global_requests / (s.independent_loads ?? 1);
  const chain = s.issue_chain ?? s.instructions * 4 / (s.instruction_parallelism ?? 1);
  const alone = chain * d.issue_chain + waits * wait + (s.synchronizations ?? 0) * d.barrier_latency;
  const bounds = {
    issue: [warps * machine / d.issue, 'compute'],
    units: [warps * max((special + (s.wide_conversions ?? 0)) / d.special_functions, (s.double_precision ?? 0) / d.double_precision), 'compute'],
    wavefronts: [warps * s.l1_wavefronts / d.wavefronts, 'memory'],
    L2: [read / d.l2_read + written / d.l2_write, 'memory'],
    memory: [(bytesRead + bytesWritten) / d.memory_bytes, 'memory'],
    constants: [constantCycles(s, device, warps), 'constant memory'],
    launch: [s.blocks * d.block_cycles + warpsOfGrid * d.warp_cycles, 'launch of blocks'],
    latency: [max(1, blocks / s.resident_blocks) * alone, 'latency'],
    atomics: [max((s.half_line_updates ?? 0) * (d.atomic_half_line ?? 0), (s.word_float_updates ?? 0) * (d.float_atomic_word ?? 0),
      (s.kilobyte_updates ?? 0) * (d.atomic_kilobyte ?? 0)), 'contended atomics'],
    swaps: [max(1, blocks / s.resident_blocks) * (s.shared_word_swaps ?? 0) * (d.shared_swap ?? 0), 'contended atomics'],
  };
  const largest = Object.values(bounds).reduce((best, one) => (one[0] > best[0] ? one : best));
  const sum = Object.values(bounds).reduce((total, [cycles]) => total + (cycles / largest[0]) ** d.overlap, 0);
  const joined = largest[0] * sum ** (1 / d.overlap);
  return {
    milliseconds: (d.overhead + joined) / (d.clock_ghz * 1e6),
    bound: d.overhead > joined ? 'overhead of the launch' : largest[1],
    parts: Object.fromEntries(Object.entries(bounds).map(([name, [cycles]]) => [name, cycles / (d.clock_ghz * 1e6)])),
  };
}

const functions = { 'hong-kim': hongKim, volkov, 'throughput-latency': throughputLatency };

/** The prediction of a model by its id; undefined where the page cannot compute it. */
export function evaluate(model, statistics, device) {
  try {
    const result = functions[model]?.(statistics, device);
    return result && Number.isFinite(result.milliseconds) ? result : undefined;
  } catch {
    return undefined; // a parameter is missing
  }
}

/** Whether the page computes what the report says. */
export function reproduces(prediction, statistics, device) {
  const mine = evaluate(prediction.model, statistics, device);
  return mine !== undefined && Math.abs(mine.milliseconds - prediction.milliseconds) <= 1e-6 * prediction.milliseconds;
}
