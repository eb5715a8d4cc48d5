// SPDX-License-Identifier: Apache-2.0
// The rows of `warplens sweep`: a metric over a setting, a line for each combination of the others.
import { Fragment, h, show } from '../dom.js';
import { BottomAxis, Figure, LeftAxis, Legend, Svg } from '../chart.jsx';
import { Table } from '../table.jsx';
import { count, percent, plural, time } from '../format.js';
import { scaleLinear, scalePoint } from 'd3-scale';
import { line } from 'd3-shape';

const kWidth = 820;
const kHeight = 380;
const kColours = 7;
const kMostLines = 14;

const good = (report) => report.sweep.filter((row) => row.failure === null);
const valueOf = (row, metric) => row.metrics[metric] ?? row.statistics?.[metric] ?? NaN;

/** Settings with several values. */
function varying(rows) {
  const values = new Map();
  for (const row of rows) for (const [key, value] of Object.entries({ ...row.settings, ...(row.settings.kernel ? {} : { kernel: row.kernel }) })) {
    if (!values.has(key)) values.set(key, new Set());
    values.get(key).add(value);
  }
  return [...values].filter(([, set]) => set.size > 1).map(([key]) => key);
}

const setting = (row, key) => row.settings[key] ?? (key === 'kernel' ? row.kernel : key === 'device' ? row.device_id : '');
/** Numbers in their order, other values as they come. */
const inOrder = (values) => (values.every((value) => !Number.isNaN(parseFloat(value))) ? [...values].sort((a, b) => parseFloat(a) - parseFloat(b)) : values);
/** "milliseconds" is what people call the predicted time; other metrics keep the names of --counters. */
const titleOf = (metric) => (metric === 'milliseconds' ? 'Predicted time' : metric.endsWith('.milliseconds') ? `Time by ${metric.slice(0, -13)}` : metric);
const format = (metric) => (metric.endsWith('milliseconds') ? time : count);

function Chart({ rows, metric, axis }) {
  const others = varying(rows).filter((key) => key !== axis);
  const groups = new Map();
  for (const row of rows) {
    const name = others.map((key) => `${key} ${setting(row, key)}`).join(', ');
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(row);
  }
  const places = inOrder([...new Set(rows.map((row) => setting(row, axis)))]);
  const values = rows.map((row) => valueOf(row, metric)).filter(Number.isFinite);
  if (values.length === 0) return <p>No row has this metric.</p>;
  const x = scalePoint().domain(places).range([70, kWidth - 20]).padding(0.4);
  const y = scaleLinear().domain([0, Math.max(...values)]).nice().range([kHeight - 46, 34]);
  const list = [...groups].slice(0, kMostLines);
  const text = format(metric);
  return <Fragment><Figure wide title={`${titleOf(metric)} over ${axis}`} note={groups.size > kMostLines ? `The picture has the first ${kMostLines} of ${groups.size} lines; the table has all.` : null}
    table={{ heads: [axis, ...list.map(([name]) => name || titleOf(metric))], rows: places.map((place) => [place, ...list.map(([, group]) => text(valueOf(group.find((row) => setting(row, axis) === place) ?? { metrics: {} }, metric)))]) }}>
    <Svg width={kWidth} height={kHeight} label={`${titleOf(metric)} over ${axis}; the table has the values`}>
      <LeftAxis scale={y} x={70} ticks={y.ticks(5)} format={text} title={titleOf(metric)} grid={kWidth - 90} />
      <BottomAxis scale={Object.assign((value) => x(value), { range: () => x.range() })} y={kHeight - 46} ticks={places.length > 24 ? places.filter((_, i) => i % Math.ceil(places.length / 24) === 0) : places} format={(place) => place} title={axis} />
      {list.map(([, group], i) => {
        const points = places.map((place) => group.find((row) => setting(row, axis) === place)).filter((row) => row && Number.isFinite(valueOf(row, metric)));
        return <g class={`series s${i % kColours + 1}${i >= kColours ? ' dashed' : ''}`}>
          <path d={line().x((row) => x(setting(row, axis))).y((row) => y(valueOf(row, metric)))(points)} />
          {points.map((row) => <circle cx={x(setting(row, axis))} cy={y(valueOf(row, metric))} r="3.5"><title>{`${Object.entries(row.settings).map(([k, v]) => `${k} ${v}`).join(', ')}: ${text(valueOf(row, metric))}`}</title></circle>)}
        </g>;
      })}
    </Svg></Figure>
    {groups.size > 1 && <Legend names={list.map(([name]) => name)} colours={kColours} />}</Fragment>;
}

const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
/** What to know about the times: the model to trust and its error, and where models disagree. */
function Notes({ notes }) {
  return notes.length > 0 && <ul class="note">{notes.map((note) => <li>{note.caution && <strong>Caution: </strong>}{note.caution ? `${note.text}.` : sentence(note.text)}</li>)}</ul>;
}

/** Of programs: the kernels of each configuration. */
function Kernels({ rows, keys }) {
  const kernels = rows.flatMap((row) => row.kernels.map((kernel) => ({ ...kernel, row, share: kernel.milliseconds / row.metrics.milliseconds })));
  if (kernels.length === 0) return false;
  return <Fragment><h2>Kernels</h2>{new Table({
    label: 'Kernels',
    rows: kernels,
    height: Math.min(480, 26 * kernels.length + 34),
    columns: [
      ...keys.map((key) => ({ title: key, value: ({ row }) => setting(row, key), cell: ({ row }) => setting(row, key) })),
      { title: 'Kernel', value: ({ kernel }) => kernel, cell: ({ kernel }) => kernel },
      { title: 'Launches', value: ({ launches }) => launches, cell: ({ launches }) => count(launches), numeric: true, descending: true },
      { title: 'Predicted time', value: ({ milliseconds }) => milliseconds, cell: ({ milliseconds }) => time(milliseconds), numeric: true, descending: true },
      { title: 'Share', value: ({ share }) => share, cell: ({ share }) => percent(share), numeric: true, descending: true },
      { title: 'Limited by', value: ({ bound }) => bound, cell: ({ bound }) => bound, className: 'grow' },
    ],
  }).element}</Fragment>;
}

export const sweep = {
  id: 'sweep',
  title: 'Sweep',
  draw({ report }) {
    const rows = good(report);
    if (rows.length === 0) return <p>No configuration has a result: {report.sweep[0]?.failure}</p>;
    const keys = varying(rows);
    const failed = rows.length < report.sweep.length;
    const metrics = [...new Set(rows.flatMap((row) => Object.keys(row.metrics)))];
    let metric = metrics.includes('milliseconds') ? 'milliseconds' : metrics[0];
    let axis = keys.includes('block') ? 'block' : keys.at(-1) ?? 'kernel';
    const frame = <div />;
    const table = <div />;
    const draw = () => {
      show(frame, <Chart rows={rows} metric={metric} axis={axis} />);
      show(table, new Table({
        label: 'Configurations',
        rows: report.sweep,
        height: Math.min(480, 26 * report.sweep.length + 34),
        columns: [
          ...(keys.length > 0 ? keys : ['kernel']).map((key) => ({ title: key, value: (row) => (Number.isNaN(parseFloat(setting(row, key))) ? setting(row, key) : parseFloat(setting(row, key))), cell: (row) => setting(row, key) })),
          { title: titleOf(metric), value: (row) => valueOf(row, metric), cell: (row) => (row.failure === null ? format(metric)(valueOf(row, metric)) : ''), numeric: true },
          { title: 'Resident warps', value: (row) => row.metrics.resident_warps ?? NaN, cell: (row) => (row.metrics.resident_warps === undefined ? '' : count(row.metrics.resident_warps)), numeric: true, descending: true },
          { title: 'Limited by', value: (row) => row.bound, cell: (row) => row.bound },
          failed ? { title: 'Failure', value: (row) => row.failure ?? '', cell: (row) => row.failure ?? '', className: 'grow' } : { title: '', cell: () => '', className: 'grow' },
        ],
        sort: (keys.length > 0 ? keys : ['kernel']).length,
      }).element);
    };
    draw();
    const select = (values, now, set) => {
      const element = <select onChange={() => { set(element.value); draw(); }}>{values.map((value) => <option value={value}>{titleOf(value)}</option>)}</select>;
      element.value = now;
      return element;
    };
    const best = Object.entries(report.recommended ?? {});
    const timed = rows.filter((row) => row.metrics.milliseconds > 0);
    const fastest = timed.length > 1 && timed.reduce((a, b) => (b.metrics.milliseconds < a.metrics.milliseconds ? b : a));
    return [
      fastest && <p>Shortest predicted time: {time(fastest.metrics.milliseconds)}, with {keys.map((key) => `${key} ${setting(fastest, key)}`).join(', ')}.</p>,
      best.length > 0 && <p>Recommended: {best.map(([key, value]) => `${key} ${value}`).join(', ')}</p>,
      <Notes notes={report.notes ?? []} />,
      <div class="controls"><label>Metric {select(metrics, metric, (value) => { metric = value; })}</label>
        {keys.length > 1 && <label>Over {select(keys, axis, (value) => { axis = value; })}</label>}</div>,
      frame, <h2>{plural(report.sweep.length, 'configuration')}</h2>, table, <Kernels rows={rows} keys={keys} />,
    ];
  },
};
