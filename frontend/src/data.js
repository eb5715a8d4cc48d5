// SPDX-License-Identifier: Apache-2.0
// The document of the page: a report of `run` or `exec`, a sweep, or a comparison, in JSON.

/** Launches refer to equal members of earlier launches: api/report/json_page.cpp. */
function resolved(report) {
  for (const launch of report.launches ?? [])
    for (const [member, value] of Object.entries(launch)) if (value?.same_as !== undefined) launch[member] = report.launches[value.same_as][member];
  return report;
}

/** Unpacks what api/html/page.cpp packed: JSON, in zlib's format, in base64. */
export async function readDocument(text) {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  return resolved(JSON.parse(await new Response(stream).text()));
}

export const metric = (holder, name) => holder[name] ?? 0;

// Names are made once: a kernel of thousands of lines is asked many times.
const byOperation = (pattern) => ['ld', 'st', 'atom', 'red'].map((operation) => pattern.replace('*', operation));
const counter = (pattern) => {
  const list = byOperation(pattern);
  return (holder) => {
    let total = 0;
    for (const name of list) total += holder[name] ?? 0;
    return total;
  };
};

export const names = {
  instructions: 'smsp__inst_executed.sum',
  threads: 'smsp__thread_inst_executed.sum',
  activeLanes: 'smsp__thread_inst_executed_per_inst_executed.ratio',
  sectors: 'memory_l2_theoretical_sectors_global',
  sectorsIdeal: 'memory_l2_theoretical_sectors_global_ideal',
  branches: 'smsp__sass_branch_targets.sum',
};

/** Requests to global memory, of a launch's metrics or of an instruction. */
export const requests = counter('l1tex__t_requests_pipe_lsu_mem_global_op_*.sum');
export const sectors = counter('l1tex__t_sectors_pipe_lsu_mem_global_op_*.sum');
export const sharedRequests = counter('smsp__inst_executed_op_shared_*.sum');
const wavefronts = counter('l1tex__data_pipe_lsu_wavefronts_mem_shared_op_*.sum');
const bankConflicts = counter('l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_*.sum');

/** Counters of a launch, with those under the rules of the device. An instruction has both. */
export const counts = (launch) => ({ ...launch.metrics, ...launch.device_costs });
/** Passes over the banks of the device. */
export const passes = (holder) => holder.bank_passes ?? wavefronts(holder);
export const conflicts = (holder) => holder.bank_conflicts ?? bankConflicts(holder);

const globalNames = {
  sectors: [names.sectors, names.sectorsIdeal],
  bytes: ['transaction_bytes', 'ideal_bytes'],
  transactions: ['transactions', 'ideal_transactions'],
};
/** What accesses to global memory cost and would cost if they were perfect, in the unit in which the device moves data:
 * sectors; bytes, in transactions of several sizes; or transactions. */
export function globalCost(report, holder) {
  const unit = Object.hasOwn(globalNames, report.device.global_unit) ? report.device.global_unit : 'sectors';
  const [taken, ideal] = globalNames[unit].map((name) => metric(holder, name));
  return { unit, taken, ideal, bytes: unit === 'sectors' ? 32 * taken : metric(holder, 'transaction_bytes'), transactions: metric(holder, 'transactions') };
}

/** The name of a kernel as in the source, where the report has it. */
export const kernelName = (launch) => launch.name ?? launch.kernel;

export const trap = (launch) => launch.findings.find((finding) => finding.rule === 'Trap');

/** The prediction to show first, or undefined. */
export function trusted(launch) {
  const list = launch.predictions ?? [];
  return list.find((p) => p.trusted) ?? list[0];
}

/** The prediction whose model says what changes would save; of reports that do not name it, that of the model to trust. */
export const ofChanges = (launch) => launch.predictions?.find((p) => p.model === launch.speedup_model) ?? trusted(launch);

/** The times in milliseconds between which the launch typically is: api/report/expectations.hpp. Undefined: not known. */
export function expectedRange(prediction) {
  const error = prediction?.expected_error;
  const percent = error?.median_percent ?? error?.mean_percent;
  const value = percent == null ? NaN : percent / 100;
  return value < 1 ? [prediction.milliseconds / (1 + value), prediction.milliseconds / (1 - value)] : undefined;
}

/** Whether the trusted model was evaluated on other GPUs only. */
export const errorUnknown = (prediction) => !!prediction?.expected_error && (prediction.expected_error.median_percent ?? prediction.expected_error.mean_percent) == null;

const severities = ['error', 'warning', 'note'];
/** Whether a remedy is predicted to save so little that no speedup is told. */
export const savesLittle = (report, finding) => finding.speedup !== null && finding.speedup < (report.worthwhile ?? 1);

/** In the order of the text report: by severity, those that save little last, then by the estimated speedup. */
export const topFindings = (report, launch) => [...launch.findings].sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity)
  || savesLittle(report, a) - savesLittle(report, b) || (b.speedup ?? 1) - (a.speedup ?? 1));

export const launchTime = (launch) => trusted(launch)?.milliseconds ?? NaN;

const positions = new Map();
/** "file:12" as { file, line }; null without a position. */
export function position(source) {
  if (!source) return null;
  if (!positions.has(source)) {
    const match = /^(.*):(\d+)$/s.exec(source);
    positions.set(source, match && { file: match[1], line: Number(match[2]) });
  }
  return positions.get(source);
}
export const baseName = (file) => file.slice(file.lastIndexOf('/') + 1);

/** What limits a launch decides by which metric its lines are shown first. */
export function limitingMetric(launch) {
  if (trusted(launch)?.bound === 'compute') return names.instructions;
  const all = counts(launch);
  const ofDevice = Object.hasOwn(launch.device_costs ?? {}, 'transactions') ? 'transactions' : names.sectors;
  const banks = Object.hasOwn(launch.device_costs ?? {}, 'bank_passes') ? ['bank_passes'] : byOperation('l1tex__data_pipe_lsu_wavefronts_mem_shared_op_*.sum');
  const most = [ofDevice, ...banks].reduce((best, name) => (metric(all, name) > metric(all, best) ? name : best));
  return metric(all, most) > 0 ? most : names.instructions;
}

const splitTexts = new Map();
/** The lines of a source file in the page; undefined if it is not there. */
export function sourceLines(report, file) {
  if (!Object.hasOwn(report.sources ?? {}, file)) return undefined;
  if (!splitTexts.has(file)) splitTexts.set(file, report.sources[file].split('\n'));
  return splitTexts.get(file);
}
export const lineOf = (report, at) => sourceLines(report, at.file)?.[at.line - 1]?.trim() ?? '';

/** The index of the longest launch of the kernel with the most time: what the page shows first, as the text report does. */
export function mainLaunch(launches) {
  return byKernel(launches)[0]?.longest ?? 0;
}

/** Launches by kernel, the one with the most time first; `longest` of them stands for the others, as in the text report. */
export function byKernel(launches) {
  const groups = new Map();
  const length = (index) => launchTime(launches[index]) || 0;
  launches.forEach((launch, index) => {
    const name = kernelName(launch);
    if (!groups.has(name)) groups.set(name, { name, launches: [], milliseconds: 0, longest: index });
    const group = groups.get(name);
    group.launches.push(index);
    group.milliseconds += length(index);
    if (length(index) > length(group.longest)) group.longest = index;
  });
  const list = [...groups.values()].sort((a, b) => b.milliseconds - a.milliseconds);
  const total = list.reduce((all, group) => all + group.milliseconds, 0);
  for (const group of list) group.share = total > 0 ? group.milliseconds / total : NaN;
  return list;
}
