// SPDX-License-Identifier: Apache-2.0
// Documents that are too large, or too hostile, for a launch in a test: they have the form of the JSON report.
import { readFileSync, writeFileSync } from 'node:fs';
import { deflateSync, inflateSync } from 'node:zlib';

const data = /(<script type="application\/octet-stream" id="data">)([^<]*)/;

export function documentOf(page) {
  const document = JSON.parse(inflateSync(Buffer.from(data.exec(readFileSync(page, 'utf8'))[2], 'base64')));
  for (const launch of document.launches ?? [])
    for (const [member, value] of Object.entries(launch)) if (value?.same_as !== undefined) launch[member] = document.launches[value.same_as][member];
  return document;
}

/** As api/report/json_page.cpp does. */
function sharing(document) {
  if (!Array.isArray(document.launches)) return document;
  const first = new Map();
  const launches = document.launches.map((launch, i) => Object.fromEntries(Object.entries(launch).map(([member, value]) => {
    if (value === null || typeof value !== 'object') return [member, value];
    const text = member + JSON.stringify(value);
    if (text.length > 60 && first.has(text)) return [member, { same_as: first.get(text) }];
    first.set(text, i);
    return [member, value];
  })));
  return { ...document, launches };
}

/** Writes the page `to` with the page `from`'s script and style, and with another document. */
export function writePage(from, to, document) {
  const packed = deflateSync(JSON.stringify(sharing(document))).toString('base64');
  writeFileSync(to, readFileSync(from, 'utf8').replace(data, (_, before) => before + packed));
}

/** A launch like `launch` whose kernel has this many instructions, five for each line of CUDA. */
export function longKernel(launch, instructions) {
  const row = (i) => ({ ...launch.instructions[i % launch.instructions.length], line: 20 + i, source: `long.cu:${1 + Math.floor(i / 5)}` });
  const control_flow = Array.from({ length: instructions / 10 }, (_, i) => ({
    first_line: 20 + 10 * i, last_line: 29 + 10 * i, successors: i + 1 < instructions / 10 ? [i + 1] : [], reconverges_at: null,
    exits: i + 1 === instructions / 10, warps: 100, threads: 3200 - (i % 32) * 100,
  }));
  return { ...launch, kernel: 'long_kernel', name: 'long_kernel', module: 'long.ptx', control_flow, instructions: Array.from({ length: instructions }, (_, i) => row(i)) };
}

/** The report with one launch whose kernel has many instructions, with the texts of its sources. */
export function longReport(report, instructions) {
  const launch = longKernel(report.launches[0], instructions);
  const ptx = ['.version 8.0', ...Array(16).fill(''), '.visible .entry long_kernel(', ') {', ...launch.instructions.map((one) => `  ${one.ptx}`), '}'];
  const cuda = Array.from({ length: instructions / 5 }, (_, i) => `  out[${i}] = in[${i}] + ${i}; // line ${i + 1}`);
  const timeline = { milliseconds: 0, sum: 0, operations: [] };
  return { ...report, launches: [launch], timeline, sources: { 'long.ptx': ptx.join('\n'), 'long.cu': cuda.join('\n') } };
}

/** A report of many launches of several kernels. */
export function manyLaunches(report, launches) {
  const one = report.launches[0];
  const list = Array.from({ length: launches }, (_, i) => ({
    ...one,
    kernel: `kernel_${i % 17}`,
    name: `kernel_${i % 17}`,
    grid: [1 + i, 1, 1],
    predictions: one.predictions.map((p) => ({ ...p, milliseconds: p.milliseconds * (1 + (i * 7919) % 100) })),
  }));
  let at = 0;
  const operations = list.map((launch, i) => {
    const { milliseconds } = launch.predictions.find((p) => p.trusted);
    at += milliseconds;
    return { kind: 'launch', stream: 0, start: at - milliseconds, milliseconds, launches: [i] };
  });
  return { ...report, launches: list, timeline: { milliseconds: at, sum: at, operations } };
}

const attacks = ['</script><img src=x onerror="document.title=\'owned\'">', '<svg onload=alert(1)>', '"><b>bold</b>', '${1}{{1}}', '\u202egnp.exe'];

/** Replaces every text of the document by one that would act if it were markup. */
export function hostile(value, i = { n: 0 }) {
  if (typeof value === 'string') return `${attacks[i.n++ % attacks.length]}${value}`;
  if (Array.isArray(value)) return value.map((one) => hostile(one, i));
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, hostile(one, i)]));
  return value;
}
