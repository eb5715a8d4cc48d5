// SPDX-License-Identifier: Apache-2.0
// What the analyzers of caches counted: hits and misses by level, and reuse distances.
import { h } from '../dom.js';
import { Bars, Figure } from '../chart.jsx';
import { PlainTable } from '../table.jsx';
import { bytes, count, digits, percent } from '../format.js';

const hitNames = (metrics) => Object.keys(metrics).filter((name) => /hit/.test(name) && Object.hasOwn(metrics, name.replace('hit', 'miss')));

function Hits({ report, metrics }) {
  const rows = hitNames(metrics).map((name) => ({ name, hit: metrics[name], miss: metrics[name.replace('hit', 'miss')] })).filter((row) => row.hit + row.miss > 0);
  if (rows.length === 0) return null;
  const title = (name) => report.metrics?.[name]?.definition?.replace(/;.*/, '') ?? name;
  return <Figure wide title="Hit rates" table={{ heads: ['Counter', 'Hits', 'Misses', 'Hit rate'], rows: rows.map((row) => [title(row.name), count(row.hit), count(row.miss), percent(row.hit / (row.hit + row.miss))]) }}>
    <Bars end={1} label="Hit rates" bars={rows.map((row) => ({ name: title(row.name), value: row.hit / (row.hit + row.miss), text: `${percent(row.hit / (row.hit + row.miss))} of ${count(row.hit + row.miss)}`, strong: true }))} /></Figure>;
}

function Reuse({ metrics }) {
  const rows = Object.keys(metrics).map((name) => [/^reuse_distance_(\d+.*)$/.exec(name)?.[1], metrics[name]]).filter(([distance]) => distance !== undefined)
    .sort(([a], [b]) => parseFloat(a) - parseFloat(b));
  if (rows.length === 0) return null;
  const title = 'Reuse distance: other lines accessed between two accesses to the same line';
  if (rows.every(([, n]) => n === 0)) return <Figure wide title={title}><p>No line was accessed a second time.</p></Figure>;
  return <Figure wide title={title} table={{ heads: ['Lines in between', 'Accesses'], rows: rows.map(([distance, n]) => [distance.replaceAll('_', ' '), count(n)]) }}>
    <Bars label="Reuse distances" bars={rows.map(([distance, n]) => ({ name: distance.replaceAll('_', ' '), value: n, text: count(n), strong: true }))} /></Figure>;
}

function Level({ title, level }) {
  return <Figure title={title}><PlainTable label={title} heads={['Property', 'Value']} rows={[['Size', bytes(level.bytes)], ['Line', bytes(level.line_bytes)], ['Sector', bytes(level.sector_bytes)], ['Ways', count(level.ways)], ...(level.partitions ? [['Partitions', count(level.partitions)]] : [])]} /></Figure>;
}

const hasCaches = (metrics) => hitNames(metrics).length > 0 || Object.keys(metrics).some((name) => name.startsWith('reuse_distance_'));

export const caches = {
  id: 'caches',
  title: 'Caches',
  fits: (report, launch) => Boolean(launch && launch.instructions.length > 0 && (report.device.l1 || report.device.l2 || hasCaches(launch.metrics))),
  draw({ report, launch }) {
    const { metrics } = launch;
    const rates = Object.keys(metrics).filter((name) => /^(l1tex|lts)__t_sector.*hit_rate\.pct$/.test(name));
    return [
      !hasCaches(metrics) && <p>The launch was analysed without its caches. To count hits and reuse distances, run again with <code>--analyzers caches,reuse_distance</code>.</p>,
      <div class="figures">
        {rates.length > 0 && <Figure wide title="Sectors found in each cache" table={{ heads: ['Cache', 'Hit rate'], rows: rates.map((name) => [name, `${digits(metrics[name])} %`]) }}>
          <Bars end={100} label="Hit rate of each cache" bars={rates.map((name) => ({ name: name.startsWith('l1') ? 'L1' : 'L2', value: metrics[name], text: `${digits(metrics[name])} %`, strong: true }))} /></Figure>}
        <Hits report={report} metrics={metrics} />
        <Reuse metrics={metrics} />
        {report.device.l1 && <Level title="First-level cache of a multiprocessor" level={report.device.l1} />}
        {report.device.l2 && <Level title="Second-level cache of the device" level={report.device.l2} />}
      </div>,
    ];
  },
};
