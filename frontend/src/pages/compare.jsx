// SPDX-License-Identifier: Apache-2.0
// The pairs of `warplens compare`: times, what explains the change, metrics, lines and findings.
import { h, show } from '../dom.js';
import { Bars, Figure, ShareBar } from '../chart.jsx';
import { PlainTable, Table } from '../table.jsx';
import { baseName } from '../data.js';
import { count, digits, plural, time } from '../format.js';

const nameOf = (launch) => [launch.name ?? launch.kernel, ...Object.entries(launch.settings ?? {}).map(([key, value]) => `${key} ${value}`)].join(', ');
const speed = (ratio) => (Math.abs(ratio - 1) < 0.005 ? 'the same time' : ratio < 1 ? `${digits(1 / ratio)} times as fast` : `${digits(ratio)} times as slow`);

function Factors({ pair }) {
  const bars = [...pair.factors.map((one) => ({ what: one.what, ms: one.milliseconds })), ...(pair.unexplained ? [{ what: 'combined effect', ms: pair.unexplained }] : [])];
  if (bars.length === 0) return null;
  return <Figure title="Counts that explain the change" table={{ heads: ['Count', 'Change'], rows: bars.map((one) => [one.what, `${one.ms < 0 ? '−' : '+'}${time(Math.abs(one.ms))}`]) }}>
    <Bars label="Counts that explain the change" bars={bars.map((one) => ({ name: one.what, value: Math.abs(one.ms), text: `${one.ms < 0 ? '−' : '+'}${time(Math.abs(one.ms))}`, strong: true, colour: one.ms < 0 ? 'var(--s3)' : 'var(--s2)' }))} /></Figure>;
}

/** What changed of the counts that most people look for, in the units of the device; the full list is below. */
function MainCounts({ metrics }) {
  const rows = metrics.filter((one) => one.label);
  if (rows.length === 0) return null;
  const cell = (row, value) => (value === null ? 'none' : [count(value), <ShareBar share={value / Math.max(row.before ?? 0, row.after ?? 0)} />]);
  return <section><h3>Main counts that changed</h3><PlainTable label="Main counts that changed" heads={['Count', 'Before', 'After', 'Ratio']}
    rows={rows.map((row) => [row.label.charAt(0).toUpperCase() + row.label.slice(1), cell(row, row.before), cell(row, row.after), row.ratio === null ? '' : `× ${digits(row.ratio)}`])} /></section>;
}

const columns = (first) => [
  ...first,
  { title: 'Before', value: (c) => c.before ?? NaN, cell: (c) => (c.before === null ? '' : count(c.before)), numeric: true, descending: true },
  { title: 'After', value: (c) => c.after ?? NaN, cell: (c) => (c.after === null ? '' : count(c.after)), numeric: true, descending: true },
  { title: 'Ratio', value: (c) => c.ratio ?? NaN, cell: (c) => (c.ratio === null ? '' : digits(c.ratio)), numeric: true, descending: true },
];

function Changes({ label, rows, first }) {
  if (rows.length === 0) return null;
  return <details class="section" open={rows.length < 40}><summary>{label}: {rows.length}</summary>
    {new Table({ label, rows, height: Math.min(420, 26 * rows.length + 34), columns: columns(first) }).element}</details>;
}

function FindingList({ title, list }) {
  return list.length > 0 && <section><h3>{title}</h3><ul>{list.map((one) => <li>{one.rule}, {one.where}: {one.message}</li>)}</ul></section>;
}

function Pair({ pair, names }) {
  const { before, after } = pair;
  if (!before || !after) return <section><h2>{nameOf(before ?? after)}</h2><p>Only in {before ? names.before : names.after}.</p></section>;
  const both = before.milliseconds !== null && after.milliseconds !== null;
  return <section><h2>{nameOf(before)}{nameOf(before) !== nameOf(after) && ` → ${nameOf(after)}`}</h2>
    {both && <Figure title={`Predicted time: ${speed(after.milliseconds / before.milliseconds)}`} note={before.model === after.model ? `By ${before.model}; limited by ${before.bound === after.bound ? before.bound : `${before.bound}, then ${after.bound}`}.` : `By ${before.model} and ${after.model}: different models.`}
      table={{ heads: ['Report', 'Time'], rows: [[names.before, time(before.milliseconds)], [names.after, time(after.milliseconds)]] }}>
      <Bars label="Predicted times" bars={[{ name: baseName(names.before), value: before.milliseconds, text: time(before.milliseconds) }, { name: baseName(names.after), value: after.milliseconds, text: time(after.milliseconds), strong: true }]} /></Figure>}
    {!both && <p class="note">No model predicts the time on {before.milliseconds === null ? 'the device of the first report' : 'the device of the second report'}.</p>}
    <Factors pair={pair} />
    <MainCounts metrics={pair.metrics} />
    <FindingList title="Resolved findings" list={pair.vanished} /><FindingList title="New findings" list={pair.appeared} />
    <Changes label="Metrics that changed" rows={pair.metrics} first={[{ title: 'Metric', value: (c) => c.name, cell: (c) => <code>{c.name}</code>, className: 'grow' }]} />
    <Changes label="Lines that changed" rows={pair.lines.flatMap((one) => one.metrics.map((change) => ({ ...change, where: one.where, whereAfter: one.where_after ?? one.where, ptx: one.ptx })))}
      first={[{ title: 'Line', value: (c) => c.where, cell: (c) => (c.where === c.whereAfter ? c.where : `${c.where} → ${c.whereAfter}`) }, { title: 'Instruction', cell: (c) => <code>{c.ptx}</code>, className: 'grow' }, { title: 'Metric', value: (c) => c.name, cell: (c) => c.name }]} />
  </section>;
}

const milliseconds = (launch) => launch?.milliseconds ?? NaN;
const ratio = (pair) => milliseconds(pair.after) / milliseconds(pair.before);

/** Several pairs: a table, and the details of the selected one. Those that changed most come first. */
function Pairs({ comparison }) {
  const details = <div />;
  const select = (pair) => show(details, <Pair pair={pair} names={comparison} />);
  const change = (pair) => Math.abs(Math.log(ratio(pair)));
  const rows = [...comparison.launches].sort((a, b) => (change(b) || 0) - (change(a) || 0));
  const number = (title, value, cell) => ({ title, value, cell, numeric: true, descending: true });
  const table = new Table({
    label: 'Launches that are compared',
    rows,
    height: Math.min(320, 26 * rows.length + 34),
    onSelect: select,
    onOpen: select,
    columns: [
      { title: 'Launch', value: (p) => nameOf(p.before ?? p.after), cell: (p) => <code>{nameOf(p.before ?? p.after)}</code>, className: 'grow' },
      number('Before', (p) => milliseconds(p.before), (p) => time(milliseconds(p.before))),
      number('After', (p) => milliseconds(p.after), (p) => time(milliseconds(p.after))),
      number('Ratio', ratio, (p) => digits(ratio(p))),
      number('Resolved findings', (p) => p.vanished?.length ?? 0, (p) => count(p.vanished?.length ?? 0)),
      number('New findings', (p) => p.appeared?.length ?? 0, (p) => count(p.appeared?.length ?? 0)),
    ],
  });
  if (rows.length > 0) table.select(0);
  const { before, after } = comparison.total ?? {};
  return <section><h2>{plural(rows.length, 'launch')}</h2>
    {before > 0 && after > 0 && <p>Predicted, all launches: {time(before)} → {time(after)}, {speed(after / before)}.</p>}
    {table.element}{details}</section>;
}

export const compare = {
  id: 'compare',
  title: 'Comparison',
  draw: ({ report }) => report.comparisons.map((one) => <section><p>Before: <code>{one.before}</code><br />After: <code>{one.after}</code></p>
    {one.launches.length === 1 ? <Pair pair={one.launches[0]} names={one} /> : <Pairs comparison={one} />}</section>),
};
