// SPDX-License-Identifier: Apache-2.0
// Documents that are hostile or large: nothing acts, and every interaction takes less than 100 ms.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentOf, hostile, longReport, manyLaunches, writePage } from './documents.mjs';
import { browser, cost, kMost, open, picture, sample, titles, visit, work, written } from './browser.mjs';

after(() => browser.close());

const base = written('base', 'run', sample('transpose'), '--device', 'h200');

function pageOf(name, document) {
  const file = join(work, `${name}.html`);
  writePage(base, file, document);
  return file;
}

/** What it takes to open each view from another one. */
async function views(page, list) {
  const click = (title) => page.evaluate((name) => [...document.querySelectorAll('nav a')].find((one) => one.textContent === name).click(), title);
  const costs = {};
  for (const title of list) costs[title] = await cost(page, () => click(title), () => click('Occupancy'));
  return costs;
}

test('texts of a kernel cannot act', async () => {
  const report = documentOf(base);
  const keep = report.launches.map((launch) => launch.control_flow);
  const changed = hostile(report);
  changed.launches.forEach((launch, i) => { launch.control_flow = keep[i]; });
  const page = await open(pageOf('hostile', changed));
  for (const title of await titles(page)) {
    await visit(page, title);
    const found = await page.evaluate(() => ({
      title: document.title === 'owned',
      elements: document.querySelectorAll('#app img, #app b, #app script, [onerror], [onload]').length,
    }));
    assert.deepEqual(found, { title: false, elements: 0 }, title);
  }
  assert((await page.locator('header').innerText()).includes('<svg onload=alert(1)>') || (await page.locator('main').innerText()).includes('</script><img'));
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('the page permits no script but its own', async () => {
  const page = await open(base);
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'document.title = "owned"';
    document.body.append(script);
  });
  assert.notEqual(await page.title(), 'owned');
  assert.match(page.problems.join(), /Content Security Policy/);
  await page.context().close();
});

test('a kernel that trapped has a summary with the reason', async () => {
  const report = documentOf(base);
  const trap = { rule: 'Trap', severity: 'error', message: 'access out of bounds', advice: 'look', lines: [3], source: null, excess: 0, unit: '', values: {} };
  report.launches = [{ ...report.launches[0], metrics: {}, instructions: [], control_flow: [], occupancy: null, occupancy_curves: null, statistics: {}, predictions: [], findings: [trap] }];
  delete report.timeline;
  const page = await open(pageOf('trap', report));
  assert.deepEqual(await titles(page), ['Summary']);
  assert.match(await page.locator('[role="alert"]').innerText(), /trapped: access out of bounds/);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

/** A page of one launch of PTX in a file. */
function launched(name, ptx, ...options) {
  const file = join(work, `${name}.ptx`);
  writeFileSync(file, ptx);
  return written(name, 'run', file, '--device', 'h200', ...options);
}

const head = '.version 7.0\n.target sm_70\n.address_size 64\n';

/** Every view, without errors. */
async function showsAll(file) {
  const page = await open(file);
  for (const title of await titles(page)) await visit(page, title);
  assert.deepEqual(page.problems, []);
  await visit(page, 'Summary');
  return page;
}

test('an empty kernel', async () => {
  const page = await showsAll(launched('empty', `${head}.visible .entry empty() {\n  ret;\n}\n`, '--kernel', 'empty', '--grid', '1', '--block', '1'));
  const main = await page.locator('main').innerText();
  for (const part of ['PTX line 5', '1 block', '1 warp instruction']) assert(main.includes(part), part);
  assert.doesNotMatch(main, /NaN|undefined|null|\b1 (blocks|warp instructions)\b/);
  assert(!(await titles(page)).includes('Memory'));
  await page.context().close();
});

test('a source file that is not there, with a name that would act', async () => {
  const page = await showsAll(launched('nosource', `${head}.file 1 "/none/</script><img src=x onerror=alert(1)>.cu"
.visible .entry _Z3fooPi(.param .u64 y) {
  .reg .u32 %r<3>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [y];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  .loc 1 12 3
  st.global.u32 [%rd3], %r1;
  ret;
}
`, '--kernel', '_Z3fooPi', '--grid', '2', '--block', '33', '--arg', 'y:u32[64]'));
  await visit(page, 'Source');
  const main = await page.locator('main').innerText();
  assert.match(main, /The file was not found when the report was written: \/none\/<\/script>/);
  assert.match(await page.locator('.pair section').nth(0).locator('tbody').innerText(), /12\s.*100 %\s+st\.global\.u32 \[%rd3\], %r1;/);
  await page.context().close();
});

test('a device that no model of times knows', async () => {
  const device = join(work, 'bare.toml');
  writeFileSync(device, ['name = "Bare <b>device</b>"', 'id = "bare"', 'compute_capability = "9.0"', 'multiprocessors = 4', 'cores_per_multiprocessor = 8',
    'clock_ghz = 1.0', 'bandwidth_gb_s = 100', 'coalescing_rule = "6.0"', 'bank_rule = "5.x+"', ''].join('\n'));
  const page = await showsAll(written('bare', 'run', sample('transpose'), '--device', device));
  const main = await page.locator('main').innerText();
  assert.match(main, /at least [\d.]+ µs\s+predicted by bounds/);
  assert.match(main, /The models give only lower bounds of the run time/);
  assert((await page.locator('header').innerText()).includes('Bare <b>device</b>'));
  await page.context().close();
});

test('a damaged document gives a message', async () => {
  const file = join(work, 'damaged.html');
  writePage(base, file, 1);
  const page = await browser.newPage();
  await page.goto(`file://${file}`);
  await page.waitForSelector('[role="alert"]');
  assert.match(await page.locator('[role="alert"]').innerText(), /cannot show/);
  await page.close();
});

test('a kernel of 5000 lines stays fluid', async (context) => {
  const page = await open(pageOf('long', longReport(documentOf(base), 5000)));
  const times = await views(page, ['Memory', 'Divergence', 'Source']);
  await visit(page, 'Source');
  await picture(page, 'long source');
  const panes = await page.locator('.pair .scroll').count();
  assert.equal(panes, 2);
  assert(await page.locator('.pair tbody tr').count() < 400, 'rows out of view are in the document');
  times.scroll = await cost(page, () => page.evaluate(() => { document.querySelectorAll('.pair .scroll')[1].scrollTop += 20000; }));
  times.sort = await cost(page, () => page.evaluate(() => { document.querySelectorAll('.pair .scroll')[1].querySelectorAll('thead button')[1].click(); }));
  times.select = await cost(page, () => page.evaluate(() => { document.querySelectorAll('.pair .scroll')[0].querySelector('tbody tr:not(.space)').click(); }));
  times.metric = await cost(page, () => page.evaluate(() => { const s = document.querySelector('.controls select'); s.selectedIndex = (s.selectedIndex + 1) % s.options.length; s.dispatchEvent(new Event('change')); }));
  context.diagnostic(JSON.stringify(times));
  for (const [what, time] of Object.entries(times)) assert(time < kMost, `${what}: ${time} ms`);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('a report of 1000 launches stays fluid', async (context) => {
  const file = pageOf('many', manyLaunches(documentOf(base), 1000));
  const page = await open(file);
  assert.equal(await page.getByRole('region', { name: /^Kernels/ }).locator('tbody tr').count(), 17);
  const times = await views(page, ['Timeline', 'Models', 'Summary']);
  await visit(page, 'Summary');
  await picture(page, 'many launches');
  times.launch = await cost(page, () => page.evaluate(() => { document.querySelector('.picker button:last-child').click(); }));
  await page.getByText('All 1,000 launches').click();
  times.sort = await cost(page, () => page.evaluate(() => { document.querySelector('details .scroll thead button:last-child').click(); }));
  times.scroll = await cost(page, () => page.evaluate(() => { document.querySelector('details .scroll').scrollTop += 8000; }));
  context.diagnostic(JSON.stringify({ ...times, bytes: statSync(file).size }));
  for (const [what, time] of Object.entries(times)) assert(time < kMost, `${what}: ${time} ms`);
  assert(statSync(file).size < 1_000_000, `${statSync(file).size} bytes`);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});
