// SPDX-License-Identifier: Apache-2.0
// The pages of programs, and the roofline: the timeline with what overlaps, and the ceilings by type.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { documentOf } from './documents.mjs';
import { browser, checkStructure, open, picture, sample, text, titles, visit, work, written } from './browser.mjs';

after(() => browser.close());

test('the names in the roofline do not overlap', async () => {
  const page = await open(written('roofline', 'run', sample('saxpy'), '--device', 'h200'));
  await visit(page, 'Roofline');
  const boxes = await page.locator('svg text').evaluateAll((all) => all.filter((one) => !one.closest('.axis') && !one.hasAttribute('transform'))
    .map((one) => ({ text: one.textContent, ...one.getBoundingClientRect().toJSON() })));
  assert(boxes.length >= 4);
  for (const a of boxes) for (const b of boxes)
    assert(a === b || a.right <= b.left || b.right <= a.left || a.bottom <= b.top + 3 || b.bottom <= a.top + 3, `${a.text} over ${b.text}`);
  await picture(page, 'roofline');
  await page.context().close();
});

test('the summary has the table of kernels, and says which model estimates the speedups', async () => {
  const lines = text('run', sample('linear_algebra'), '--device', 'h200'), screen = lines.replace(/\s+/g, ' ');
  const page = await open(written('kernels', 'run', sample('linear_algebra'), '--device', 'h200'));
  const kernel = /^(\w+) on NVIDIA H200/m.exec(lines)[1];
  assert((await page.locator('h1').innerText()).includes(kernel));
  const main = (await page.locator('main').innerText()).replace(/\s+/g, ' ');
  const sentence = 'peedups are estimates by throughput-latency, because critical-path, which predicts the time, knows only the code that ran';
  for (const one of [screen, main]) {
    assert(one.includes(sentence), one);
    assert(one.includes(' times as fast'), one);
  }
  // The longest launch of each kernel stands for the others, in both tables.
  const rows = await page.getByRole('region', { name: /^Kernels/ }).locator('tbody tr').evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.innerText.trim())));
  assert.equal(rows.length, 4);
  for (const [name, , , , bound, finding] of rows) {
    const line = lines.split('\n').find((one) => new RegExp(`^ +\\d+  ${name} `).test(one));
    assert(line.includes(bound.replace('overhead of the launch', 'launch overhead')), `${line}: ${bound}`);
    assert.equal(/[A-Z][a-z]+[A-Z]\w+/.exec(line)?.[0] ?? '', finding, line);
  }
  await page.context().close();
});

test('a program', async () => {
  const file = written('program', 'exec', '--', process.env.WARPLENS_LAUNCHES, '2');
  const { launches } = documentOf(file);
  assert(launches.length > 1 && launches.every((launch) => launch.stream > 0));
  const page = await open(file);
  for (const title of await titles(page)) {
    await visit(page, title);
    await checkStructure(page, title);
  }
  await visit(page, 'Timeline');
  assert(await page.locator('svg.timeline rect').count() >= 1);
  assert.deepEqual(await page.locator('.legend li').allTextContents(), ['scale', 'copy to host', 'fill']);
  await picture(page, 'program timeline');
  // The launch that the buttons select is the one that is shown.
  await visit(page, 'Summary');
  await page.goto(`${page.url().split('#')[0]}#page=summary&launch=0`);
  await page.getByRole('button', { name: 'Next launch' }).click();
  await page.waitForFunction(() => location.hash.includes('launch=1'));
  assert((await page.locator('h1').innerText()).includes(launches[1].name));
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Next launch');
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('streams of a program overlap in the timeline', async () => {
  const file = written('streams', 'exec', '--', process.env.WARPLENS_STREAMS, 'overlap');
  const { timeline } = documentOf(file);
  assert(timeline.milliseconds < timeline.sum);
  const page = await open(file);
  await visit(page, 'Timeline');
  await checkStructure(page, 'Timeline');
  const bars = await page.locator('svg.timeline rect').evaluateAll((all) => all.map((one) => ({ title: one.textContent, x: Number(one.getAttribute('x')), end: Number(one.getAttribute('x')) + Number(one.getAttribute('width')), y: Number(one.getAttribute('y')) })));
  assert.equal(bars.length, 6);
  assert.equal(new Set(bars.map((bar) => bar.y)).size, 2); // a row for each stream
  const kernels = bars.filter((bar) => bar.title.includes('work'));
  assert.equal(kernels.length, 2);
  assert(kernels[0].x < kernels[1].end && kernels[1].x < kernels[0].end, 'the kernels overlap');
  for (const y of new Set(bars.map((bar) => bar.y))) { // within a stream, nothing does
    const row = bars.filter((bar) => bar.y === y).sort((a, b) => a.x - b.x);
    for (let i = 1; i < row.length; i += 1) assert(row[i].x >= row[i - 1].end - 1);
  }
  assert.deepEqual(await page.locator('.legend li').allTextContents(), ['work', 'copy to device', 'copy to host']);
  assert.match(await page.locator('figcaption').innerText(), /^2 launches and 4 copies, .+ predicted, .+ without overlap$/);
  assert.equal(await page.locator('details.data tbody tr').count(), 6);
  await picture(page, 'streams timeline');
  await page.locator('svg.timeline rect', { hasText: 'Launch 2' }).click();
  await page.waitForFunction(() => location.hash.includes('launch=1'));
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('branches of a graph have rows of their own', async () => {
  const page = await open(written('graph', 'exec', '--', process.env.WARPLENS_STREAMS, 'graph'));
  await visit(page, 'Timeline');
  const rows = await page.locator('svg.timeline rect').evaluateAll((all) => all.map((one) => one.getAttribute('y')));
  assert.equal(new Set(rows).size, 2);
  assert.equal(await page.locator('svg.timeline > g > text').count() - await page.locator('svg.timeline > g.axis > text').count(), 1); // one stream
  await picture(page, 'graph timeline');
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

// Half precision and matrices: a warp does 2 * 16 * 8 * 16 operations with one mma, and 2 * 2 * 32 with one fma.f16x2.
test('the roofline has ceilings for half precision and matrices', async () => {
  const ptx = join(work, 'types.ptx');
  const registers = (name, from) => `{${[0, 1, 2, 3].map((i) => `%${name}${from + i}`).join(', ')}}`;
  writeFileSync(ptx, `.version 7.8\n.target sm_80\n.address_size 64\n.visible .entry types(.param .u64 out)\n{
  .reg .b32 %r<12>; .reg .f32 %f<9>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x;
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 ${registers('f', 0)}, ${registers('r', 2)}, {%r6, %r7}, ${registers('f', 4)};
  fma.rn.f16x2 %r8, %r1, %r1, %r1;
  mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r8;
  ret;\n}\n`);
  const launch = join(work, 'types.toml');
  writeFileSync(launch, 'module = "types.ptx"\nkernel = "types"\ngrid = 132\nblock = 128\narg = [{ buffer = "out" }]\n[buffer.out]\ntype = "u32"\ncount = 128\nzeros = true\n');
  const page = await open(written('types', 'run', launch, '--device', 'h200'));
  await visit(page, 'Roofline');
  const main = (await page.locator('main').innerText()).replace(/\s+/g, ' ');
  assert.match(main, /Operations of this launch: 3\.03 % FP16 and 97 % FP16 matrices/);
  const texts = await page.locator('svg text.used').allTextContents();
  assert(texts.some((text) => text.startsWith('FP16 and BF16 matrices')) && texts.some((text) => text.startsWith('FP16, BF16')), texts.join('; '));
  const names = await page.locator('details.data tbody tr td:first-child, details.data tbody tr th').allTextContents();
  for (const type of ['FP64', 'BF16', 'TF32 matrices', 'FP8 and INT8 matrices', 'FP32; FP64 matrices']) assert(names.some((name) => name.includes(type)), type);
  await picture(page, 'roofline types');
  assert.deepEqual(page.problems, []);
  await page.context().close();
  // What is not known is not drawn.
  const old = await open(written('types-old', 'run', sample('saxpy'), '--device', '8800gtx'));
  await visit(old, 'Roofline');
  assert.doesNotMatch(await old.locator('main').innerText(), /matrices|FP64|BF16/);
  await old.context().close();
});

test('a sweep of a program has a table of its kernels', async () => {
  const page = await open(written('sweep-program', 'sweep', '--device', 'h200,p100', '--', resolve(process.env.WARPLENS_LAUNCHES), '3'));
  await checkStructure(page, 'sweep');
  const kernels = await page.getByRole('table', { name: 'Kernels' }).innerText();
  for (const part of ['h200', 'p100', 'scale', '100 %']) assert(kernels.includes(part), part);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});
