// SPDX-License-Identifier: Apache-2.0
// What limits the kernel, how long it takes, its worst lines, what to improve; and all kernels, if there are several.
import { Fragment, h } from '../dom.js';
import { Figure, ShareBar } from '../chart.jsx';
import { Table } from '../table.jsx';
import * as data from '../data.js';
import { bytes, count, digits, extent, list, percent, plural, time } from '../format.js';

function Tile({ title, value, note, share }) {
  return <div class="tile"><dt>{title}</dt><dd class={value.length > 10 ? 'value long' : 'value'}>{value}</dd>{share !== undefined && <ShareBar share={share} />}<dd class="note">{note}</dd></div>;
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
/** "overhead of the launch" is "Overhead of the launch". */
const limiter = (bound) => (!bound ? '–' : bound === 'compute' ? 'Computation' : capital(bound));
const sentence = (text) => capital(text) + (/[.!?]$/.test(text) ? '' : '.');

const isBound = (launch, prediction) => (launch.lower_bounds ?? []).includes(prediction?.model);

function timeNote(launch, prediction) {
  if (!prediction) return 'no model has parameters for this device';
  const range = !isBound(launch, prediction) && data.expectedRange(prediction);
  return `${range ? `typically ${time(range[0])} to ${time(range[1])}, ` : ''}predicted by ${prediction.model}${data.errorUnknown(prediction) ? ', whose error on this device is not known' : ''}`;
}

const absent = new Set(['bank conflicts', 'divergence', 'barriers']);
/** What would save most, by the model of the findings: "2.16 % less time without bank conflicts". */
function savingNote(prediction) {
  const [largest] = [...prediction?.benefits ?? []].sort((a, b) => b.milliseconds - a.milliseconds);
  if (!largest || largest.milliseconds < 0.01 * prediction.milliseconds) return '';
  return `${percent(largest.milliseconds / prediction.milliseconds)} less time ${absent.has(largest.of) ? 'without' : 'with ideal'} ${largest.of}`;
}

/** How much of what moves is needed, in the unit of the device. */
function Moved({ report, counts }) {
  const { unit, taken, ideal, bytes: moved, transactions } = data.globalCost(report, counts);
  if (!(taken > 0)) return null;
  const [title, note] = {
    sectors: ['Sectors used', `${count(taken)} sectors requested (${bytes(moved)}); ${count(ideal)} are enough`],
    bytes: ['Bytes moved that are needed', `${plural(transactions, 'transaction')} ${transactions === 1 ? 'moves' : 'move'} ${bytes(taken)}; ${bytes(ideal)} are enough`],
    transactions: ['Transactions needed', `${plural(taken, 'transaction')} (${bytes(moved)}); ${count(ideal)} are enough`],
  }[unit];
  return <Tile title={title} value={percent(ideal / taken)} share={ideal / taken} note={note} />;
}

function Tiles({ report, launch }) {
  const prediction = data.trusted(launch);
  const m = data.counts(launch);
  const active = m[data.names.activeLanes];
  const o = launch.occupancy;
  const passes = data.passes(m);
  return <dl class="tiles">
    <Tile title="Predicted time" value={`${isBound(launch, prediction) ? 'at least ' : ''}${time(prediction?.milliseconds)}`} note={timeNote(launch, prediction)} />
    <Tile title="Limited by" value={limiter(prediction?.bound)} note={launch.savings_known === false ? '' : savingNote(data.ofChanges(launch))} />
    <Tile title="Launch" value={plural(launch.grid.reduce((a, b) => a * b), 'block')} note={`grid of ${extent(launch.grid)}, blocks of ${extent(launch.block)} threads`} />
    {o && <Tile title="Occupancy" value={percent(o.ratio)} share={o.ratio}
      note={`${o.warps} warps in ${plural(o.blocks, 'block')} per multiprocessor, limited by ${list(o.bound_by)}`} />}
    {active !== undefined && <Tile title="Active threads per warp" value={`${digits(active)} of 32`} share={active / 32}
      note={plural(data.metric(m, data.names.instructions), 'warp instruction')} />}
    <Moved report={report} counts={m} />
    {passes > 0 && <Tile title="Shared memory without conflicts" value={percent(1 - data.conflicts(m) / passes)}
      share={1 - data.conflicts(m) / passes} note={`${count(data.conflicts(m))} of ${count(passes)} passes are conflicts`} />}
  </dl>;
}

/** On a phone, the code is below its place and share. The style takes the roles of a table from it, so that they are
 * written here. */
function WorstLines({ report, launch, app }) {
  const { of, lines } = launch.costly_lines ?? { lines: [] };
  if (lines.length === 0) return null;
  const place = (line) => (line.file ? `${data.baseName(line.file)}:${line.line}` : `PTX line ${line.line}`);
  const ptx = (line) => launch.instructions.find((one) => one.line === line.ptx_line);
  return <section aria-labelledby="worst">
    <h2 id="worst">Most expensive lines, by their share of {of}</h2>
    <table class="plain lines" aria-labelledby="worst" role="table"><thead role="rowgroup"><tr role="row">
      <th scope="col" role="columnheader">Line</th><th scope="col" role="columnheader" class="number">Share</th><th scope="col" role="columnheader">Code</th></tr></thead>
      <tbody role="rowgroup">{lines.map((line) => <tr role="row">
        <th scope="row" role="rowheader"><a href={app.address({ page: 'source', line: line.ptx_line })}>{place(line)}</a></th>
        <td class="number" role="cell">{percent(line.share)}<ShareBar share={line.share} /></td>
        <td role="cell"><code>{(line.file && data.lineOf(report, line)) || ptx(line)?.ptx}</code>
          {line.cost && <p class="note">{line.cost}{ptx(line)?.pattern && `, ${ptx(line).pattern}`}</p>}</td></tr>)}</tbody></table>
  </section>;
}

/** Of other units, such as idle multiprocessors, the message says it better. */
const isCost = (unit) => unit !== 'multiprocessors' && unit !== 'warps';

export function Finding({ report, finding, app }) {
  const gain = data.savesLittle(report, finding) ? null : finding.speedup; // null where the report has no estimate
  const line = finding.lines[0];
  return <li class={`finding ${finding.severity}`}>
    <h3><span class="severity">{finding.severity}</span> {finding.rule}
      {' '}{gain !== null && <span class="gain">{digits(gain)} times as fast if fixed</span>}</h3>
    <p>{line !== undefined && <Fragment><a href={app.address({ page: 'source', line })}>{finding.source
      ? data.baseName(finding.source) : `PTX line ${line}`}</a>{': '}</Fragment>}{finding.message}</p>
    {finding.remedy && <p>{sentence(finding.remedy)}</p>}
    {finding.advice && finding.advice !== finding.remedy && <p class="advice">{sentence(finding.advice)}</p>}
    {finding.excess > 0 && isCost(finding.unit) && <p class="note">{finding.unit === 'bytes' ? bytes(finding.excess) : `${count(finding.excess)} ${finding.unit}`} more than necessary</p>}
    {finding.page && <p class="note">More: <code>warplens explain {finding.rule}</code>, or docs/{finding.page}</p>}
  </li>;
}

/** Where the speedups are not by the model of the predicted time. */
function otherModel(launch) {
  const [time, changes] = [data.trusted(launch), data.ofChanges(launch)];
  return time && time !== changes && <p class="note">Speedups are estimates by {changes.model}, because {time.model}, which predicts the time, knows only the code that ran.</p>;
}

function Findings({ report, launch, app }) {
  const all = data.topFindings(report, launch);
  const little = all.filter((finding) => data.savesLittle(report, finding)), list = all.filter((finding) => !little.includes(finding));
  const items = (findings) => <ol class="findings">{findings.map((finding) => <Finding report={report} finding={finding} app={app} />)}</ol>;
  return <section aria-labelledby="findings">
    <h2 id="findings">Findings</h2>
    {list.some((finding) => finding.speedup) && otherModel(launch)}
    {all.length === 0 && <p>Nothing to improve was found.</p>}
    {list.length > 0 && items(list)}
    {little.length > 0 && <details class="section" open={list.length === 0}><summary>{plural(little.length, 'note')} would save less than {percent(report.worthwhile - 1)}</summary>{items(little)}</details>}
  </section>;
}

function Kernels({ report, app }) {
  const groups = data.byKernel(report.launches);
  const worst = (group) => {
    const [first] = data.topFindings(report, report.launches[group.longest]);
    return first && !data.savesLittle(report, first) ? first.rule : '';
  };
  const table = new Table({
    label: 'Kernels',
    rows: groups,
    height: Math.min(320, 26 * groups.length + 32),
    onOpen: (group) => app.go({ launch: group.longest, page: 'summary' }),
    columns: [
      { title: 'Kernel', value: (g) => g.name, cell: (g) => <code>{g.name}</code>, className: 'grow' },
      { title: 'Launches', value: (g) => g.launches.length, cell: (g) => count(g.launches.length), numeric: true, descending: true },
      { title: 'Time', value: (g) => g.milliseconds, cell: (g) => time(g.milliseconds), numeric: true, descending: true },
      { title: 'Share', value: (g) => g.share, cell: (g) => <Fragment>{percent(g.share)}<ShareBar share={g.share} /></Fragment>, numeric: true, descending: true },
      { title: 'Limited by', value: (g) => data.trusted(report.launches[g.longest])?.bound ?? '', cell: (g) => data.trusted(report.launches[g.longest])?.bound ?? '' },
      { title: 'Main finding', value: worst, cell: worst },
    ],
  });
  return <section aria-labelledby="kernels"><h2 id="kernels">{plural(groups.length, 'kernel')}, {plural(report.launches.length, 'launch')}</h2>{table.element}</section>;
}

function Launches({ report, place, app }) {
  const rows = report.launches.map((launch, index) => ({ launch, index }));
  const table = new Table({
    label: 'Launches',
    rows,
    height: Math.min(320, 26 * rows.length + 32),
    onOpen: ({ index }) => app.go({ launch: index, page: 'summary' }),
    classOf: ({ index }) => (index === place.launch ? 'chosen' : null),
    columns: [
      { title: '#', value: (r) => r.index, cell: (r) => String(r.index + 1), numeric: true },
      { title: 'Kernel', value: (r) => data.kernelName(r.launch), cell: (r) => <code>{data.kernelName(r.launch)}</code>, className: 'grow' },
      { title: 'Grid', value: (r) => r.launch.grid.reduce((a, b) => a * b), cell: (r) => extent(r.launch.grid), numeric: true, descending: true },
      { title: 'Block', value: (r) => r.launch.block.reduce((a, b) => a * b), cell: (r) => extent(r.launch.block), numeric: true, descending: true },
      { title: 'Time', value: (r) => data.launchTime(r.launch), cell: (r) => time(data.launchTime(r.launch)), numeric: true, descending: true },
      { title: 'Findings', value: (r) => r.launch.findings.length, cell: (r) => String(r.launch.findings.length), numeric: true, descending: true },
    ],
  });
  return <details class="section"><summary>All {plural(rows.length, 'launch')}</summary>{table.element}</details>;
}

export const summary = {
  id: 'summary',
  title: 'Summary',
  draw({ report, launch, place, app }) {
    if (!launch) return <p>No launch was analysed.</p>;
    const stopped = data.trap(launch);
    const several = report.launches.length > 1 && <Fragment><Kernels report={report} app={app} /><Launches report={report} place={place} app={app} />
      <h2>Launch {place.launch + 1}: <code>{data.kernelName(launch)}</code></h2></Fragment>;
    if (stopped) return <Fragment>{several}<p class="failure" role="alert">The kernel trapped: {stopped.message}</p>{stopped.advice && <p>{stopped.advice}</p>}</Fragment>;
    return <Fragment>
      {several}
      <Tiles report={report} launch={launch} />
      <WorstLines report={report} launch={launch} app={app} />
      <Findings report={report} launch={launch} app={app} />
      {(launch.remarks ?? []).map((remark) => <p class="note">{sentence(remark)}</p>)}
      {launch.printed && <Figure title="Printed by the kernel"><pre tabindex="0">{launch.printed}</pre></Figure>}
    </Fragment>;
  },
};
