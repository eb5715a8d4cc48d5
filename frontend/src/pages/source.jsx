// SPDX-License-Identifier: Apache-2.0
// CUDA beside PTX, with the share of a metric at each line.
import { h, newId, show } from '../dom.js';
import { Table } from '../table.jsx';
import * as data from '../data.js';
import { cudaLine, ptxLine } from '../code.js';
import { count, percent, plural } from '../format.js';
import { ShareBar } from '../chart.jsx';

const kMost = 8; // instructions of a line with their counters
const kFixed = new Set(['line', 'ptx', 'source', 'pattern', 'lane_bytes', 'inlined', 'accesses']);

const namesOfLaunches = new WeakMap();
/** Metrics that an instruction has, those that say most first. */
function metricNames(report, launch) {
  if (!namesOfLaunches.has(launch)) namesOfLaunches.set(launch, findMetricNames(report, launch));
  return namesOfLaunches.get(launch);
}

function findMetricNames(report, launch) {
  const found = new Set();
  for (const instruction of launch.instructions)
    for (const name in instruction) if (typeof instruction[name] === 'number' && !found.has(name) && !kFixed.has(name)) found.add(name);
  const rank = (name) => (name === data.names.instructions ? 0 : name === data.names.sectors || name === 'transactions' ? 1 : report.metrics?.[name]?.label ? 2 : 3);
  return [...found].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

export const metricTitle = (report, name) => {
  const label = report.metrics?.[name]?.label;
  return label ? `${label} (${name})` : name;
};

/** A pane's lines: number, text, value of the metric, its share of the launch. */
function ptxRows(report, launch, name, isRatio) {
  const byLine = new Map();
  for (const instruction of launch.instructions) {
    const row = byLine.get(instruction.line) ?? { value: 0, instructions: [] };
    row.value += instruction[name] ?? 0;
    row.instructions.push(instruction);
    byLine.set(instruction.line, row);
  }
  const text = data.sourceLines(report, launch.module);
  const numbers = text ? kernelRange(text, byLine) : [...byLine.keys()].sort((a, b) => a - b);
  return withShares(numbers.map((number) => {
    const row = byLine.get(number);
    return { number, text: text ? text[number - 1] : row.instructions[0].ptx, value: row?.value ?? NaN, instructions: row?.instructions ?? [] };
  }), isRatio);
}

/** The lines of the functions that ran: from the line with the brace before the first one to the brace after the last. */
function kernelRange(text, byLine) {
  let first = Infinity; // thousands of lines are too many for Math.min(...)
  let last = 0;
  for (const number of byLine.keys()) { first = Math.min(first, number); last = Math.max(last, number); }
  if (last === 0) return [];
  while (first > 1 && !/\.(entry|func)\b/.test(text[first - 1])) first -= 1;
  while (last < text.length && text[last - 1].trim() !== '}') last += 1;
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** Inlined code counts where it is written, or at the line of the kernel that calls it. */
const places = {
  written: { title: 'where it is written', of: (instruction) => instruction.source },
  called: { title: 'where the kernel calls it', of: (instruction) => instruction.inlined?.at(-1) ?? instruction.source },
};

function cudaFiles(report, launch, place) {
  const files = new Map(); // instructions by file
  for (const instruction of launch.instructions) {
    const at = data.position(places[place].of(instruction));
    if (!at) continue;
    if (!files.has(at.file)) files.set(at.file, []);
    files.get(at.file).push({ at, instruction });
  }
  return files;
}

function cudaRows(report, file, entries, name, isRatio) {
  const byLine = new Map();
  let end = 0;
  for (const { at, instruction } of entries) {
    const row = byLine.get(at.line) ?? { value: 0, instructions: [] };
    row.value = isRatio ? Math.max(row.value, instruction[name] ?? 0) : row.value + (instruction[name] ?? 0);
    row.instructions.push(instruction);
    byLine.set(at.line, row);
    end = Math.max(end, at.line);
  }
  const text = data.sourceLines(report, file);
  const numbers = text ? Array.from({ length: Math.max(text.length, end) }, (_, i) => i + 1) : [...byLine.keys()].sort((a, b) => a - b);
  return withShares(numbers.map((number) => {
    const row = byLine.get(number);
    return { number, text: text?.[number - 1] ?? (text ? '' : row.instructions.map((one) => one.ptx).slice(0, 3).join(' ')), value: row?.value ?? NaN, instructions: row?.instructions ?? [] };
  }), isRatio);
}

function withShares(rows, isRatio) {
  let total = 0;
  for (const { value } of rows) if (value > 0) total = isRatio ? Math.max(total, value) : total + value;
  for (const row of rows) row.share = total > 0 ? row.value / total : NaN;
  return rows;
}

/** Where the calls are through which the instructions of a row came into the kernel. */
function callers(row) {
  const found = new Set();
  for (const { inlined = [], source: at } of row.instructions) {
    const next = inlined[inlined.indexOf(at) + 1];
    if (next !== undefined && inlined.includes(at)) found.add(data.baseName(next));
  }
  return found.size > 0 && h('span', { class: 'called' }, `called at ${[...found].slice(0, 3).join(', ')}${found.size > 3 ? ', …' : ''}`);
}

function columns(highlight, isRatio) {
  return [
    { title: 'Line', value: (row) => row.number, cell: (row) => String(row.number), numeric: true },
    { title: isRatio ? 'Value' : 'Count', value: (row) => (Number.isNaN(row.value) ? -1 : row.value), cell: (row) => (row.value > 0 ? count(row.value) : ''), numeric: true, descending: true },
    { title: isRatio ? 'Of largest' : 'Share', value: (row) => (Number.isNaN(row.share) ? -1 : row.share), cell: (row) => (row.value > 0 ? [percent(row.share), ShareBar({ share: row.share })] : ''), numeric: true, descending: true },
    { title: 'Code', cell: (row) => [h('code', null, highlight(row.text)), highlight === cudaLine && callers(row)], className: 'grow code' },
  ];
}

/** Where an instruction was inlined, from the inside out. */
function Inlined({ instruction }) {
  const chain = instruction.inlined ?? [];
  return chain.length > 0 && <p>Inlined: written at {chain.map(data.baseName).join(', called at ')}.</p>;
}

/** Lines that are no instructions: .loc, labels, comments. */
const isQuiet = (row) => row.instructions.length === 0 && /^\s*(\.|\/\/|[\w$]+:)/.test(row.text);

/** The widest line decides how far a pane scrolls. */
function widest(rows) {
  let most = 20;
  for (const { text } of rows) most = Math.max(most, text.length + 3 * (text.split('\t').length - 1));
  return Math.min(most, 400);
}

function Details({ report, row }) {
  return row.instructions.slice(0, kMost).map((instruction) => <section class="details">
    <p><code>{instruction.ptx}</code> PTX line {instruction.line}{instruction.source && `, ${data.baseName(instruction.source)}`}{instruction.pattern && `: ${instruction.pattern}`}</p>
    <Inlined instruction={instruction} />
    <dl class="counters">{Object.entries(instruction).filter(([name, value]) => !kFixed.has(name) && typeof value === 'number' && value !== 0)
      .map(([name, value]) => <div><dt title={report.metrics?.[name]?.definition}>{name}</dt><dd>{count(value)}</dd></div>)}</dl>
  </section>);
}

class View {
  constructor({ report, launch, place }) {
    Object.assign(this, { report, launch });
    this.names = metricNames(report, launch);
    this.place = 'written';
    this.files = cudaFiles(report, launch, this.place);
    const best = data.limitingMetric(launch);
    this.metric = this.names.includes(place.metric) ? place.metric : this.names.includes(best) ? best : this.names[0];
    const wanted = launch.instructions.find((one) => one.line === Number(place.line));
    const at = data.position((wanted ?? launch.instructions.find((one) => one.source))?.source);
    this.file = at?.file ?? [...this.files.keys()][0];
    this.panes = <div class="panes" />;
    this.status = <p role="status" class="note">Select a line to see its counters.</p>;
    this.counters = <div />;
    this.details = <section class="line-details" aria-label="Counters of the selected line">{this.status}{this.counters}</section>;
    this.fill();
    if (wanted) this.reveal(wanted);
  }

  controls() {
    const metric = <select onChange={() => { this.metric = metric.value; this.fill(); }}>
      {this.names.map((name) => <option value={name}>{metricTitle(this.report, name)}</option>)}</select>;
    metric.value = this.metric;
    const file = this.files.size > 1 && <select onChange={() => { this.file = file.value; this.fill(); }}>
      {[...this.files.keys()].map((name) => <option value={name}>{name}</option>)}</select>;
    if (file) { file.value = this.file; this.fileSelect = file; }
    const inlined = this.launch.instructions.some((one) => one.inlined) && <select onChange={() => { this.place = inlined.value; this.refile(); }}>
      {Object.entries(places).map(([id, { title }]) => <option value={id}>{title}</option>)}</select>;
    this.found = <span role="status" class="note" />;
    const find = <input type="search" onInput={() => this.find(find.value, 0)} onKeydown={(event) => { if (event.key === 'Enter') this.find(find.value, event.shiftKey ? -1 : 1); }} />;
    return <div class="controls"><label>Heat by {metric}</label><label title="Enter: the next line, Shift and Enter: the one before">Find {find}</label>{this.found}{file && <label>File {file}</label>}{inlined && <label>Inlined code counts {inlined}</label>}
      {this.definition = <p class="note" />}</div>;
  }

  refile() {
    this.files = cudaFiles(this.report, this.launch, this.place);
    if (!this.files.has(this.file)) [this.file] = this.files.keys();
    this.fill();
  }

  fill() {
    const isRatio = this.report.metrics?.[this.metric]?.ratio ?? false;
    this.ptx = this.pane('PTX', ptxRows(this.report, this.launch, this.metric, isRatio), ptxLine, isRatio);
    this.cuda = this.file === undefined ? null
      : this.pane(`CUDA, ${data.baseName(this.file)}`, cudaRows(this.report, this.file, this.files.get(this.file), this.metric, isRatio), cudaLine, isRatio,
        !data.sourceLines(this.report, this.file) && `The file was not found when the report was written: ${this.file}. Each line shows its PTX instead.`);
    show(this.panes, this.controlsOnce ??= this.controls(), <div class="pair">{[this.cuda, this.ptx].filter((pane) => pane).map((pane) => pane.section)}</div>);
    this.definition.textContent = this.report.metrics?.[this.metric]?.definition ?? '';
    if (this.fileSelect) this.fileSelect.value = this.file;
    for (const pane of [this.cuda, this.ptx]) if (pane) this.toHottest(pane);
  }

  toHottest(pane) {
    const hottest = pane.table.rows.reduce((best, row, i) => (row.value > (pane.table.rows[best].value || 0) ? i : best), 0);
    requestAnimationFrame(() => { if (pane.table.current < 0) pane.table.element.scrollTop = Math.max(0, hottest * 24 - 120); });
  }

  pane(title, rows, highlight, isRatio, note) {
    const id = newId();
    const table = new Table({ label: title, rows, columns: columns(highlight, isRatio), height: Math.max(320, innerHeight - 330), onSelect: (row) => this.selected(row),
      onOpen: (row) => this.selected(row), classOf: (row) => (this.marked?.has(row) ? 'marked' : isQuiet(row) ? 'quiet' : null),
      styleOf: (row) => (row.share > 0 ? { '--share': row.share.toFixed(3) } : null) });
    table.table.style.setProperty('min-width', `calc(${widest(rows)} * .51rem + 18rem)`);
    return { table, section: <section aria-labelledby={id}><h2 id={id}>{title}</h2>{note && <p class="note">{note}</p>}{table.element}</section> };
  }

  /** Makes the first line with this text the current one of each pane; `step` 1: the next one, -1: the one before. The
   * browser's search does not see lines out of view. */
  find(text, step) {
    const wanted = text.toLowerCase();
    const counts = [[this.cuda, 'CUDA'], [this.ptx, 'PTX']].filter(([pane]) => pane).map(([{ table }, name]) => {
      const places = wanted === '' ? [] : table.rows.flatMap((row, i) => (row.text.toLowerCase().includes(wanted) ? [i] : []));
      if (places.length > 0) {
        const later = places.findIndex((i) => (step > 0 ? i > table.current : i >= table.current));
        const at = step === 0 ? 0 : step > 0 ? Math.max(0, later) : (later < 0 ? places.length : later) - 1;
        table.select(places.at(at), { silent: true });
      }
      return `${count(places.length)} in ${name}`;
    });
    this.found.textContent = wanted === '' ? '' : `${counts.join(', ')}`;
  }

  /** Marks the lines on the other side that belong to a line. */
  selected(row) {
    const instructions = new Set(row.instructions);
    const other = this.cuda?.table.rows.includes(row) ? this.ptx : this.cuda;
    this.marked = new Set(other?.table.rows.filter((one) => one.instructions.some((instruction) => instructions.has(instruction))));
    if (other) {
      const [first] = this.marked;
      other.table.current = -1;
      if (first) other.table.selectRow(first, { silent: true });
    }
    const kind = other === this.ptx ? 'Line' : 'PTX line';
    this.status.textContent = `${kind} ${row.number}: ${row.instructions.length === 0 ? 'no counted instruction' : plural(row.instructions.length, 'instruction')}${row.instructions.length > kMost ? `; the first ${kMost} are listed` : ''}`;
    show(this.counters, <Details report={this.report} row={row} />);
  }

  reveal(instruction) {
    const row = this.ptx.table.rows.find((one) => one.instructions.includes(instruction));
    requestAnimationFrame(() => this.ptx.table.selectRow(row));
  }
}

export const source = {
  id: 'source',
  title: 'Source',
  fits: (report, launch) => launch?.instructions.length > 0,
  draw(context) {
    const view = new View(context);
    return [view.panes, view.details];
  },
};
