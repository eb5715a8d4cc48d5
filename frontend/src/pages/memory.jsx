// SPDX-License-Identifier: Apache-2.0
// The access sites of a kernel, and their recorded accesses as NVIDIA's guides draw them: lanes over the segments or
// sectors that a rule transfers, lanes over banks.
import { Fragment, h, newId, show } from '../dom.js';
import { Figure, Svg } from '../chart.jsx';
import { PlainTable, Table } from '../table.jsx';
import * as data from '../data.js';
import { bytes, count, digits, percent, plural } from '../format.js';

const kWidth = 960;
const kLane = kWidth / 32;

const spaceOf = (instruction) => (data.requests(instruction) > 0 ? 'global' : data.sharedRequests(instruction) > 0 ? 'shared'
  : /\.(local|const|shared|global)\b/.exec(instruction.ptx)?.[1] ?? '');
const requestsOf = (instruction) => data.requests(instruction) || data.sharedRequests(instruction);
/** { taken, ideal } in the unit of the device. Atomics of the same word take a sector each. */
function costOf(report, instruction) {
  if (data.requests(instruction) === 0) return { taken: data.passes(instruction), ideal: data.passes(instruction) - data.conflicts(instruction) };
  const cost = data.globalCost(report, instruction);
  return cost.unit === 'sectors' ? { taken: data.sectors(instruction), ideal: cost.ideal } : cost;
}

/** Memory instructions; the one that wastes most first. */
const sitesOf = (report, launch) => launch.instructions.filter((one) => requestsOf(one) > 0 && costOf(report, one).taken > 0);

const hex = (value) => `0x${value.toString(16)}`;
const lanesOf = (mask) => Array.from({ length: 32 }, (_, lane) => lane).filter((lane) => Math.floor(mask / 2 ** lane) % 2 === 1);
const range = (lanes) => {
  const parts = [];
  for (const lane of lanes) {
    const last = parts.at(-1);
    if (last && last[1] === lane - 1) last[1] = lane;
    else parts.push([lane, lane]);
  }
  return parts.map(([a, b]) => (a === b ? String(a) : `${a}–${b}`)).join(', ');
};

function Lanes({ y, addresses, classOf }) {
  return addresses.map((address, lane) => <g class={`lane ${address === null ? 'off' : classOf(lane)}`}>
    <rect x={lane * kLane + 1} y={y} width={kLane - 2} height={22} rx="3" />
    <text x={(lane + 0.5) * kLane} y={y + 15} text-anchor="middle">{lane}</text></g>);
}

/** Lanes over the transactions of a rule. `served.transactions`: [address, bytes, mask of lanes]. */
function Transactions({ access, served }) {
  const list = [...served.transactions].sort((a, b) => a[0] - b[0] || a[2] - b[2]);
  const total = list.reduce((sum, [, size]) => sum + size, 0);
  const gap = Math.min(10, 240 / Math.max(1, list.length));
  const scale = (kWidth - gap * (list.length - 1)) / Math.max(total, 256);
  let x = 0;
  const boxes = list.map(([base, size, mask], i) => {
    const box = { base, size, lanes: lanesOf(mask), x, width: size * scale, i };
    x += box.width + gap;
    return box;
  });
  const used = new Set(boxes.flatMap((box) => box.lanes.filter((lane) => access.addresses[lane] !== null)
    .map((lane) => access.addresses[lane])));
  const height = 190;
  const fits = boxes.every((box) => box.width + gap > 7 * String(box.base - boxes[0].base).length + 10);
  const offset = (box) => `+${box.base - boxes[0].base}`;
  const place = (box, address) => box.x + Math.max(0, Math.min(box.size, address - box.base + access.lane_bytes / 2)) * scale;
  const sameSize = list.every(([, size]) => size === list[0][1]);
  const title = `Rule ${served.rule}: ${plural(list.length, 'transaction')}${sameSize ? ` of ${list[0][1]} bytes` : ''}${list.length > 1 ? `, ${count(total)} bytes in all` : ''}`;
  const asked = used.size * access.lane_bytes;
  return <Figure title={title} note={`The lanes use ${count(asked)} bytes: ${percent(Math.min(1, asked / total))} of the bytes transferred.`}
    table={{ heads: ['Address', 'Bytes', 'Lanes'], rows: boxes.map((box) => [hex(box.base), String(box.size), range(box.lanes)]) }}>
    <Svg width={kWidth} height={height} label={`${title}; the table below lists them`} className="access">
      <text x="0" y="12" class="label">Lanes</text>
      <Lanes y={20} addresses={access.addresses} classOf={(lane) => `c${boxes.findIndex((box) => box.lanes.includes(lane)) % 2}`} />
      {boxes.flatMap((box) => box.lanes.filter((lane) => access.addresses[lane] !== null).map((lane) => <line class={`wire c${box.i % 2}`}
        x1={(lane + 0.5) * kLane} y1={43} x2={place(box, access.addresses[lane])} y2={118} />))}
      {boxes.map((box) => <g class={`segment c${box.i % 2}`}>
        <title>{`${hex(box.base)}, ${box.size} bytes, lanes ${range(box.lanes)}`}</title>
        <rect x={box.x} y={119} width={Math.max(1, box.width)} height={26} rx="2" />
        {box.lanes.filter((lane) => access.addresses[lane] !== null).map((lane) => {
          const from = Math.max(0, access.addresses[lane] - box.base);
          const to = Math.min(box.size, access.addresses[lane] - box.base + access.lane_bytes);
          return <rect class="used" x={box.x + from * scale} y={119} width={Math.max(0.8, (to - from) * scale)} height={26} />;
        })}
        {box.i > 0 && fits && <text class="soft" x={box.x + box.width / 2} y={160} text-anchor="middle">{offset(box)}</text>}
      </g>)}
      <text class="soft" x="0" y={178}>{`Address of the first byte: ${hex(boxes[0].base)}${boxes.length > 1 ? `${fits ? '; +N: N bytes further' : ''}. The last byte is at ${hex(Math.max(...boxes.map((box) => box.base + box.size)) - 1)}` : ''}`}</text>
    </Svg>
  </Figure>;
}

/** What a bank must serve one after the other, for the request with the most: rows, or lanes if it serves one lane a pass. */
function demandOf(access, served) {
  const requests = served.requests.map(([mask]) => lanesOf(mask).map((lane) => ({ lane, banks: served.bank[lane] })));
  const rowOf = (lane, i) => Math.floor((Math.floor(access.addresses[lane] / served.bank_bytes) + i) * served.bank_bytes / served.row_bytes);
  const demand = Array.from({ length: served.banks }, () => 0);
  for (const lanes of requests) {
    const found = new Map(); // by bank and, if wide words are split, by part: what is served one after the other
    for (const { lane, banks } of lanes) banks.forEach((bank, i) => {
      const key = served.split_words ? `${bank},${i}` : String(bank);
      if (!found.has(key)) found.set(key, { bank, different: new Set() });
      found.get(key).different.add(served.one_lane ? lane : rowOf(lane, i));
    });
    for (const { bank, different } of found.values()) demand[bank] = Math.max(demand[bank], different.size);
  }
  return demand;
}

const requestsNote = ({ requests }) => (requests.length < 2 ? ''
  : `The lanes are served in ${requests.length} requests: ${requests.map(([mask, passes]) => `${range(lanesOf(mask))} (${plural(passes, 'pass')})`).join('; ')}. `);

/** Lanes over banks. `served.bank`: the banks of each lane's words. */
function Banks({ access, served }) {
  const demand = demandOf(access, served);
  const most = Math.max(...demand);
  const width = kWidth / served.banks;
  const inConflict = (lane) => served.bank[lane].some((bank) => demand[bank] > 1);
  const lanesAt = (bank) => served.bank.flatMap((banks, lane) => (banks?.includes(bank) ? [lane] : []));
  const title = `Rule ${served.rule}: ${plural(served.passes, 'pass')} over the banks, ${served.ways > 1 ? `a ${served.ways}-way bank conflict` : 'no bank conflict'}`;
  const what = served.one_lane ? 'lanes' : 'different words';
  return <Figure title={title} note={`${requestsNote(served)}The number in a bank is the number of ${what} that ${served.requests.length > 1 ? 'the worst request accesses' : 'the access needs'} in it: each takes a pass. An access of this width needs at least ${plural(served.fewest, 'pass')}.`}
    table={{ heads: ['Bank', served.one_lane ? 'Lanes of a request' : 'Words of a request', 'Lanes'], rows: demand.flatMap((n, bank) => (n === 0 ? [] : [[String(bank), String(n), range(lanesAt(bank))]])) }}>
    <Svg width={kWidth} height={190} label={`${title}; the table below lists the banks`} className="access">
      <text x="0" y="12" class="label">Lanes</text>
      <Lanes y={20} addresses={access.addresses} classOf={(lane) => (inConflict(lane) ? 'c1' : 'c0')} />
      {served.bank.flatMap((banks, lane) => (banks ?? []).map((bank) => <line class={demand[bank] > 1 ? 'wire c1' : 'wire c0'}
        x1={(lane + 0.5) * kLane} y1={43} x2={(bank + 0.5) * width} y2={126} />))}
      {demand.map((n, bank) => <g class={`bank ${n === 0 ? 'free' : n > 1 ? 'c1' : 'c0'}`}>
        <rect x={bank * width + 1} y={127} width={width - 2} height={26} rx="3" style={n > 1 ? { 'fill-opacity': String(0.2 + 0.35 * n / most) } : null} />
        <text class="words" x={(bank + 0.5) * width} y={145} text-anchor="middle">{n > 0 ? n : ''}</text>
        <text class="soft" x={(bank + 0.5) * width} y={170} text-anchor="middle">{bank}</text></g>)}
      <text x="0" y="187" class="label">Banks</text>
    </Svg>
  </Figure>;
}

const kAll = 'all';

/** One recorded access at a time, under one rule or all. */
class Stepper {
  constructor(instruction, deviceRule) {
    this.accesses = instruction.accesses ?? [];
    this.deviceRule = deviceRule;
    this.rule = deviceRule;
    this.at = Math.max(0, this.find('worst'));
    this.picture = <div />;
    this.title = <p role="status" />;
    this.element = this.accesses.length > 0 ? this.draw() : <p class="note">No access of this instruction was recorded.</p>;
    if (this.accesses.length > 0) this.update();
  }

  find(role) { return this.accesses.findIndex((one) => one.role === role); }

  draw() {
    const id = newId();
    const rules = (this.accesses[0].served ?? []).map((one) => one.rule);
    const select = <select id={id} onChange={() => { this.rule = select.value; this.update(); }}>
      {rules.map((rule) => <option value={rule}>{rule === this.deviceRule ? `${rule} (of the device)` : rule}</option>)}
      {rules.length > 1 && <option value={kAll}>all, below each other</option>}</select>;
    select.value = this.rule;
    const to = (i) => { this.at = (i + this.accesses.length) % this.accesses.length; this.update(); };
    const several = this.accesses.length > 1;
    this.roles = ['typical', 'worst'].map((role) => [role, this.find(role)]).filter(([, i]) => i >= 0)
      .map(([role, i]) => ({ i, button: <button type="button" onClick={() => to(i)}>{`Show the ${role}`}</button> }));
    return <div><div class="controls">
      {several && <button type="button" onClick={() => to(this.at - 1)}>‹ Previous access</button>}
      {several && <button type="button" onClick={() => to(this.at + 1)}>Next access ›</button>}
      {several && this.roles.map((one) => one.button)}
      <span><label for={id}>Rule</label> {select}</span></div>
      {this.title}
      {!several && <p class="note">All accesses of this instruction that were recorded look like this one: the same lanes, as far apart from each other.</p>}
      {this.picture}</div>;
  }

  /** What the access stands for: one that has no worse one beside it is also the worst. */
  role() {
    const { role } = this.accesses[this.at];
    if (!role) return '';
    return role === 'typical' && this.find('worst') < 0 ? ', typical and worst' : `, the ${role}`;
  }

  update() {
    const access = this.accesses[this.at];
    const list = (access.served ?? []).filter((one) => this.rule === kAll || one.rule === this.rule);
    for (const { i, button } of this.roles) button.setAttribute('aria-pressed', String(i === this.at));
    this.title.textContent = `Access ${this.at + 1} of ${this.accesses.length}${this.role()}: block (${access.block.join(', ')}), warp ${access.warp}${access.visit > 0 ? `, ${access.visit} executions before` : ''}`;
    show(this.picture, list.map((served) => (served.transactions ? <Transactions access={access} served={served} /> : <Banks access={access} served={served} />)),
      <details class="data"><summary>Addresses of the lanes</summary><p><code>{access.addresses.map((address, lane) => `${lane}: ${address === null ? '–' : hex(address)}`).join('  ')}</code></p></details>);
  }
}

function RuleCounts({ instruction }) {
  const rows = Object.keys(instruction).map((name) => [/^rule\.(.+)\.(transactions|bytes_moved|passes)$/.exec(name), instruction[name]]).filter(([match]) => match);
  if (rows.length === 0) return null;
  const rules = new Map();
  for (const [[, rule, what], value] of rows) rules.set(rule, { ...rules.get(rule), [what]: value });
  const all = [['transactions', 'Transactions', count], ['bytes_moved', 'Bytes moved', bytes], ['passes', 'Passes', count]]
    .filter(([what]) => [...rules.values()].some((one) => one[what] !== undefined));
  const cell = (value, format) => (value === undefined ? '' : `${format(value)} (${format(value / requestsOf(instruction))} per request)`);
  return <section><h3>All accesses of the instruction under the rules of --rule</h3>
    <PlainTable label="All accesses under the rules of --rule" heads={['Rule', ...all.map(([, title]) => title)]}
      rows={[...rules].map(([rule, one]) => [rule, ...all.map(([what, , format]) => cell(one[what], format))])} /></section>;
}

function Site({ report, instruction, app }) {
  return <section aria-labelledby="site"><h2 id="site"><code>{instruction.ptx}</code></h2>
    <p><a href={app.address({ page: 'source', line: instruction.line })}>{instruction.source ? data.baseName(instruction.source) : `PTX line ${instruction.line}`}</a>: {[instruction.pattern, instruction.lane_bytes && `${plural(instruction.lane_bytes, 'byte')} per lane`, plural(requestsOf(instruction), 'request')].filter(Boolean).join(', ')}</p>
    {new Stepper(instruction, spaceOf(instruction) === 'shared' ? report.device.bank_rule : report.device.coalescing_rule).element}
    <RuleCounts instruction={instruction} /></section>;
}

export const memory = {
  id: 'memory',
  title: 'Memory',
  fits: (report, launch) => launch !== undefined && sitesOf(report, launch).length > 0,
  draw({ report, launch, place, app }) {
    const sites = sitesOf(report, launch);
    const costs = new Map(sites.map((one) => [one, costOf(report, one)]));
    const taken = (one) => costs.get(one).taken;
    const ideal = (one) => costs.get(one).ideal;
    const meaning = `${data.globalCost(report, {}).unit} of global memory, passes over the banks of shared memory`;
    const details = <div />;
    const waste = (one) => taken(one) - ideal(one);
    const select = (instruction) => show(details, <Site report={report} instruction={instruction} app={app} />);
    const table = new Table({
      label: 'Access sites',
      rows: sites,
      sort: 7,
      height: Math.min(300, 26 * sites.length + 34),
      onSelect: select,
      onOpen: select,
      columns: [
        { title: 'Line', value: (r) => r.line, cell: (r) => (r.source ? data.baseName(r.source) : `PTX ${r.line}`) },
        { title: 'Space', value: spaceOf, cell: spaceOf },
        { title: 'Instruction', cell: (r) => <code>{r.ptx}</code>, className: 'grow code' },
        { title: 'Pattern', value: (r) => r.pattern ?? '', cell: (r) => r.pattern ?? '' },
        { title: 'Requests', value: requestsOf, cell: (r) => count(requestsOf(r)), numeric: true, descending: true },
        { title: 'Per request', value: (r) => taken(r) / requestsOf(r), cell: (r) => digits(taken(r) / requestsOf(r)), numeric: true, descending: true, hint: meaning },
        { title: 'Ideal', value: (r) => ideal(r) / requestsOf(r), cell: (r) => digits(ideal(r) / requestsOf(r)), numeric: true },
        { title: 'Wasted', value: waste, cell: (r) => `${count(waste(r))} (${percent(waste(r) / taken(r))})`, numeric: true, descending: true },
      ],
    });
    const wanted = table.rows.findIndex((one) => one.line === Number(place.line));
    const first = wanted >= 0 ? wanted : Math.max(0, table.rows.findIndex((one) => (one.accesses ?? []).length > 0));
    table.select(first);
    return <Fragment><p class="note">Per request, ideal and wasted: {meaning}.</p>{table.element}{details}</Fragment>;
  },
};
