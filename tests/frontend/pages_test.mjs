// SPDX-License-Identifier: Apache-2.0
// Every view of reports that Warplens writes: it shows without errors, has what it must have, and can be reached and
// used by the keyboard and by screen readers.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentOf } from './documents.mjs';
import { browser, checkStructure, lowContrast, open, picture, sample, text, titles, visit, work, written } from './browser.mjs';

after(() => browser.close());

const transpose = written('transpose', 'run', sample('transpose'), '--device', 'h200', '--rule', '1.2', '--analyzers', 'caches,reuse_distance');
const products = written('products', 'run', sample('linear_algebra'), '--device', 'h200');
const gt200 = written('gt200', 'run', sample('transpose'), '--device', 'c1060');

for (const [name, file] of [['transpose on an H200', transpose], ['transpose on a C1060', gt200]]) {
  test(`${name}: every view shows without errors`, async () => {
    const page = await open(file);
    const all = await titles(page);
    for (const title of ['Summary', 'Source', 'Memory', 'Divergence', 'Occupancy', 'Models', 'Timeline']) assert(all.includes(title), title);
    for (const title of all) {
      await visit(page, title);
      await checkStructure(page, title);
      assert((await page.locator('main').innerText()).length > 80, title);
      await picture(page, `${name} ${title}`);
    }
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });
}

test('the summary shows the numbers of the text report', async () => {
  const screen = text('run', sample('transpose'), '--device', 'h200');
  const page = await open(transpose);
  const main = (await page.locator('main').innerText()).replace(/\s+/g, ' ');
  // The longest launch comes first in both.
  const kernel = /^(\w+) on NVIDIA H200/m.exec(screen)[1];
  assert((await page.locator('h1').innerText()).includes(kernel));
  const [, predicted, range, model] = /Predicted\s+(.*?), (typically .*?) \((.*)\)/.exec(screen);
  for (const part of [predicted, range, model]) assert(main.includes(part), part);
  const [, bound] = /Limited by\s+(.*?);/.exec(screen);
  assert(main.includes(bound.replace(/^./, (letter) => letter.toUpperCase())), bound);
  // What a change saves is by one model, here another one than that of the time.
  const [, saving, property] = /Limited by\s+.*?; (\d+) % less time (\w+ [\w ]+)/.exec(screen);
  const [, exact] = new RegExp(`([\\d.]+) % less time ${property}`).exec(main);
  assert.equal(Math.round(Number(exact)), Number(saving));
  // A finding that saves little is told without its speedup.
  assert(screen.includes('1 note would save less than 5 %: SharedMemoryConflicts'));
  assert(main.includes('1 note would save less than 5 %'));
  assert(!main.includes('times as fast'));
  // The same lines, with the same shares, in the same order.
  const lines = [...screen.matchAll(/^ +(\d+) %  (transpose\.cu:\d+)/gm)].map(([, share, place]) => [place, Number(share)]);
  const shown = await page.locator('table.lines tbody tr').evaluateAll((rows) => rows.map((row) => [row.cells[0].innerText, Math.round(parseFloat(row.cells[1].innerText))]));
  assert(lines.length >= 2);
  assert.deepEqual(shown.slice(0, lines.length), lines);
  const [finding] = documentOf(transpose).launches.find((launch) => launch.kernel === kernel).findings;
  for (const part of [finding.rule, finding.message]) assert(main.includes(part), part);
  await page.context().close();
});

test('the error of a model that was not evaluated on the device is not known', async () => {
  const page = await open(written('a100', 'run', sample('transpose'), '--device', 'a100'));
  const note = 'whose error on this device is not known';
  const summary = await page.locator('main').innerText();
  assert(summary.includes(`predicted by critical-path, ${note}`), summary);
  assert.doesNotMatch(summary, /typically/);
  await visit(page, 'Models');
  assert((await page.locator('main').innerText()).includes(`(critical-path), ${note}.`));
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('devices before those with sectors show their transactions', async () => {
  const g80 = written('g80', 'run', sample('transpose'), '--device', '8800gt');
  for (const [file, tile, unit] of [
    // CUDA Programming Guide 2.0, section 5.1.2.1: half-warps, 32 bytes for each lane that is alone in its segment.
    [gt200, /Bytes moved that are needed\s+22.2 %\s+21,760 transactions move 720 KiB; 160 KiB are enough/, /^Per request, ideal and wasted: bytes of/],
    [g80, /Transactions needed\s+[\d.]+ %\s+[\d,]+ transactions \([\d.]+ KiB\); [\d,]+ are enough/, /^Per request, ideal and wasted: transactions of/]]) {
    const page = await open(file);
    await page.goto(`${page.url().split('#')[0]}#page=summary&launch=0`);
    await page.waitForSelector('h1:has-text("transpose_1d")');
    const summary = await page.locator('main').innerText();
    assert.match(summary, tile);
    assert.doesNotMatch(summary, /sector/i);
    await visit(page, 'Memory');
    assert.match(await page.locator('main .note').first().innerText(), unit);
    assert.doesNotMatch(await page.locator('main').innerText(), /sector/i);
    await visit(page, 'Source');
    assert.equal(await page.getByLabel('Heat by').inputValue(), 'transactions');
    assert.deepEqual(page.problems, []);
    await page.context().close();
  }
});

test('the roofline has readable units', async () => {
  const page = await open(products);
  await visit(page, 'Roofline');
  const labels = (await page.locator('svg text').allTextContents()).filter((one) => /(FLOP|B)\/s$/.test(one));
  assert(labels.length >= 6);
  for (const label of labels) assert.match(label, /^FLOP\/s$|: [\d.]{1,4} [GTP](FLOP|B)\/s$/);
  // No name of a slope is on a point.
  const boxes = (selector) => page.locator(selector).evaluateAll((all) => all.map((one) => { const { left, right, top, bottom } = one.getBoundingClientRect(); return { left, right, top, bottom }; }));
  const names = await boxes('svg text[transform]');
  for (const point of await boxes('svg circle')) {
    const x = (point.left + point.right) / 2;
    for (const name of names) assert(x < name.left || x > name.right || point.top > name.bottom || point.bottom < name.top, JSON.stringify([point, name]));
  }
  await page.context().close();
});

test('the source view marks the PTX of a CUDA line, and sorts by the metric', async () => {
  const page = await open(transpose);
  await visit(page, 'Source');
  const panes = page.locator('.pair section');
  assert.equal(await panes.count(), 2);
  await panes.nth(0).getByRole('button', { name: 'Share' }).click();
  assert.equal(await panes.nth(0).locator('th[aria-sort]').getAttribute('aria-sort'), 'descending');
  const hottest = panes.nth(0).locator('tbody tr:not(.space)').first();
  assert.match(await hottest.innerText(), /%/);
  await hottest.click();
  assert(await panes.nth(1).locator('tr.marked').count() > 0);
  assert.match(await page.locator('.line-details').innerText(), /PTX line \d+/);
  // Another metric, other numbers.
  const before = await panes.nth(1).innerText();
  const select = page.getByLabel('Heat by');
  const names = await select.locator('option').evaluateAll((options) => options.map((option) => option.value));
  await select.selectOption(names.find((one) => one === 'smsp__thread_inst_executed.sum'));
  assert.notEqual(await panes.nth(1).innerText(), before);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('inlined code counts where it is written or where it is called', async () => {
  const page = await open(transpose);
  await visit(page, 'Source');
  const shares = () => page.locator('.pair section').nth(0).locator('tbody tr:not(.space)').evaluateAll((rows) => Object.fromEntries(rows
    .filter((row) => row.cells[2].innerText.includes('%')).map((row) => [row.cells[0].innerText, row.cells[2].innerText.trim()])));
  assert.deepEqual(await shares(), { 42: '100 %' }); // loads of shared memory, which limit this kernel
  assert.match(await page.locator('.pair section').nth(0).locator('tr', { hasText: 'out[(first_column' }).innerText(), /called at transpose\.cu:48/);
  await page.getByLabel('Inlined code counts').selectOption('called');
  for (let i = 0; i < 50 && !(48 in await shares()); i += 1) await page.waitForTimeout(20); // drawn in the next frame
  assert.deepEqual(await shares(), { 48: '100 %' });
  // Lines that are wider than the pane scroll.
  assert(await page.locator('.pair .scroll').nth(0).evaluate((pane) => pane.scrollWidth > pane.clientWidth));
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('find in the source', async () => {
  const page = await open(transpose);
  await visit(page, 'Source');
  const find = page.getByLabel('Find');
  assert.equal(await page.locator('.controls [role="status"]').textContent(), '');
  await find.fill('__GLOBAL__');
  assert.match(await page.locator('.controls [role="status"]').innerText(), /^4 in CUDA, 0 in PTX$/);
  const current = () => page.locator('.pair section').nth(0).locator('tr[aria-current="true"]').evaluate((row) => Number(row.cells[0].innerText));
  const lines = [];
  for (let i = 0; i < 5; i += 1) { lines.push(await current()); await find.press('Enter'); }
  assert.deepEqual(lines, [4, 14, 47, 52, 4]);
  await find.press('Shift+Enter'); // from 14
  assert.equal(await current(), 4);
  await find.press('Shift+Enter');
  assert.equal(await current(), 52);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('an access under every rule', async () => {
  const page = await open(written('rules', 'run', sample('transpose/2d.toml'), '--device', 'c1060', '--rule', '1.0', '--rule', '6.0'));
  await visit(page, 'Memory');
  const rule = page.getByLabel('Rule', { exact: true });
  assert.deepEqual(await rule.locator('option').allTextContents(), ['1.2 (of the device)', '1.0', '6.0', 'all, below each other']);
  await rule.selectOption('all');
  const titles = await page.locator('figure figcaption').allTextContents();
  // CUDA C Programming Guide 2.3, section 5.1.2.1: the columns of a transposition are segments of their own.
  assert.deepEqual(titles, ['Rule 1.2: 16 transactions of 32 bytes, 512 bytes in all', 'Rule 1.0: 32 transactions of 32 bytes, 1,024 bytes in all',
    'Rule 6.0: 8 transactions of 32 bytes, 256 bytes in all']);
  assert.equal(await page.locator('svg.access').count(), 3);
  assert.match(await page.locator('main').innerText(), /typical and worst/);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('banks of half-warps and of wide words show no conflict where there is none', async () => {
  const ptx = join(work, 'wide.ptx');
  writeFileSync(ptx, `.version 7.0
.target sm_13
.address_size 64
.visible .entry wide() {
  .reg .b32 %r<4>;
  .reg .b64 %d<2>;
  .shared .align 8 .b8 tile[256];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 3;
  mov.u32 %r3, tile;
  add.u32 %r3, %r3, %r2;
  ld.shared.u64 %d1, [%r3];
  ret;
}
`);
  // 8-byte words next to each other: two requests of 16 lanes on compute capability 9.0, no conflict.
  const wide = written('wide', 'run', ptx, '--kernel', 'wide', '--grid', '1', '--block', '32', '--device', 'h200');
  for (const [file, place, requests] of [[gt200, '#page=memory&launch=3', /st\.shared/], [wide, '#page=memory', /ld\.shared/]]) {
    const page = await open(file);
    await page.goto(`${page.url().split('#')[0]}${place}`);
    await page.getByRole('region', { name: /^Access sites/ }).locator('tr', { hasText: requests }).first().click();
    const text = await page.locator('section[aria-labelledby="site"]').innerText();
    assert.match(text, /2 passes over the banks, no bank conflict/);
    assert.match(text, /2 requests: 0–15 \(1 pass\); 16–31 \(1 pass\)/);
    assert.equal(await page.locator('svg.access .bank.c1').count(), 0);
    assert.equal(await page.locator('svg.access .bank.c0').count(), file === wide ? 32 : 16);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  }
});

test('stepping through the recorded accesses', async () => {
  const file = written('branching', 'run', sample('branching/small.toml'), '--device', 'h200');
  const launch = documentOf(file).launches.findIndex((one) => one.instructions.some((row) => row.accesses?.length > 1));
  const row = documentOf(file).launches[launch].instructions.find((one) => one.accesses?.length > 1);
  const page = await open(file);
  await page.goto(`${page.url().split('#')[0]}#page=memory&launch=${launch}&line=${row.line}`);
  await page.waitForSelector('#site');
  const place = () => page.locator('section[aria-labelledby="site"] p').nth(1).innerText();
  const first = await place();
  const seen = new Set();
  for (let i = 0; i < row.accesses.length; i += 1) {
    seen.add(await place());
    await page.getByRole('button', { name: 'Next access' }).click();
  }
  assert.equal(seen.size, row.accesses.length);
  assert.equal(await place(), first); // around
  await page.getByRole('button', { name: 'Show the typical' }).click();
  assert.match(await place(), /typical/);
  await page.context().close();
});

test('the control-flow graph leaves out what no warp executed', async () => {
  const file = written('branches', 'run', sample('branching/small.toml'), '--device', 'h200');
  const page = await open(file);
  const index = documentOf(file).launches.findIndex((one) => one.control_flow.some((block) => block.warps === 0));
  const blocks = documentOf(file).launches[index].control_flow;
  await page.goto(`${page.url().split('#')[0]}#page=divergence&launch=${index}`);
  await page.waitForSelector('svg.graph');
  const height = () => page.locator('svg.graph').evaluate((svg) => svg.viewBox.baseVal.height);
  const before = await height();
  assert.equal(await page.locator('svg.graph .never').count(), 0);
  const frame = await page.locator('svg.graph .block').first().boundingBox();
  const box = await page.locator('svg.graph rect.box').first().boundingBox();
  assert(box.width > 100 && box.width > 0.9 * frame.width, `the frame of a block has ${box.width} of ${frame.width} pixels`);
  await page.getByLabel(/Show the \d+ blocks? that no warp executed/).check();
  assert(await height() > before);
  // Functions that the kernel calls are above it in the PTX; their blocks have their CUDA lines, too.
  const called = blocks.findIndex((block) => block.first_line < blocks[0].first_line && block.warps > 0);
  if (called >= 0) {
    await page.locator('.graph-frame').evaluate((frame) => { frame.scrollTop = frame.scrollHeight; });
    assert.match(await page.locator('svg.graph .block', { hasText: `B${called}` }).first().textContent(), /branching\.cu:\d+/);
  }
  await page.getByRole('region', { name: /^Blocks/ }).locator('tbody tr').first().click();
  assert.match(await page.locator('.details').innerText(), /Block 0/);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('occupancy advice keeps whole warps', async () => {
  const page = await open(gt200);
  await page.goto(`${page.url().split('#')[0]}#page=occupancy&launch=2`);
  await page.waitForSelector('h1:has-text("transpose_shared")');
  // 16,384 registers and 16 KiB for blocks of 17 registers and 4 KiB: two blocks of 14 warps, three of 8.
  assert.match(await page.locator('main').innerText(), /Threads per block: 448 instead of 256 gives 28 warps/);
  await page.context().close();
});

test('every view fits a narrow window', async () => {
  for (const [name, file] of [['transpose', transpose], ['gt200', gt200], ['products', products]]) {
    const page = await open(file, { viewport: { width: 390, height: 844 } }); // of a phone
    for (const title of await titles(page)) {
      await visit(page, title);
      await checkStructure(page, title);
      for (const cell of await page.locator('.list td.grow').all()) assert((await cell.evaluate((one) => one.offsetWidth)) > 100, `${title}: a name is cut`);
      await picture(page, `narrow ${name} ${title}`);
    }
    await page.context().close();
  }
});

test('text has the contrast that WCAG 2.1 AA demands', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await open(transpose, { colorScheme });
    for (const title of await titles(page)) {
      await visit(page, title);
      assert.deepEqual(await page.evaluate(lowContrast), [], `${colorScheme} ${title}`);
    }
    await page.context().close();
  }
});

test('the licences of the bundled modules are in the page', async () => {
  const page = await open(transpose);
  await page.getByText('Licences').click();
  const text = await page.locator('footer pre').innerText();
  for (const part of ['d3-array, internmap: Copyright', 'Permission to use, copy, modify', 'd3-scale', 'Redistributions in binary form']) assert(text.includes(part), part);
  await page.context().close();
});

test('the keyboard reaches and moves everything', async () => {
  const page = await open(transpose);
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the report');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'MAIN');
  await page.locator('nav a', { hasText: 'Memory' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('h1').textContent.startsWith('Memory'));
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H1'); // what a screen reader says next
  const table = page.getByRole('region', { name: /Access sites/ });
  await table.focus();
  const site = () => page.locator('#site').innerText();
  await page.keyboard.press('Home');
  const first = await site();
  await page.keyboard.press('ArrowDown');
  assert.notEqual(await site(), first);
  assert.equal(await table.locator('tr[aria-current="true"]').getAttribute('aria-rowindex'), '3');
  await table.getByRole('button', { name: 'Requests' }).focus();
  await page.keyboard.press('Enter');
  assert.equal(await table.locator('th[aria-sort]').innerText(), 'Requests');
  await page.context().close();
});

test('light and dark', async () => {
  const brightness = (page) => page.evaluate(() => {
    const [r, g, b] = getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g).map(Number);
    return (r + g + b) / 3;
  });
  const page = await open(transpose, { colorScheme: 'dark' });
  assert(await brightness(page) < 60);
  await picture(page, 'dark summary');
  await visit(page, 'Models');
  await picture(page, 'dark models');
  const button = page.getByRole('button', { name: /^Colours/ });
  assert.equal(await button.innerText(), 'Colours: auto');
  await button.click();
  assert(await brightness(page) > 200); // light, whatever the system says
  await button.click();
  assert(await brightness(page) < 60);
  await page.context().close();
  const light = await open(transpose, { colorScheme: 'light' });
  assert(await brightness(light) > 200);
  await light.context().close();
});

test('the sliders compute the models of the report, and change them', async () => {
  for (const [file, expected] of [[transpose, ['volkov', 'throughput-latency']], [gt200, ['hong-kim']]]) {
    const page = await open(file);
    await visit(page, 'Models');
    const note = await page.locator('#what-if + .note').innerText();
    for (const model of expected) assert(note.includes(model), `${model}: ${note}`); // only models that agree are named
    const before = await page.locator('[role="status"] table').first().textContent();
    await page.locator('[data-slider="requests"]').fill('2');
    assert.notEqual(await page.locator('[role="status"] table').first().textContent(), before);
    await page.getByRole('button', { name: 'Reset' }).click();
    assert.equal(await page.locator('[role="status"] table').first().textContent(), before);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  }
});

test('the sliders compute what the models of the program compute', async () => {
  // The fields that each slider changes, and the change.
  const changes = { instructions: ['instructions', 'issue_chain'], barriers: ['synchronizations'], occupancy: ['resident_blocks'],
    requests: ['global_requests', 'coalesced_requests', 'uncoalesced_requests', 'transactions_32', 'transactions_64', 'transactions_128',
      'load_transactions', 'store_transactions', 'load_waits', 'l1_wavefronts'] };
  for (const [device, kernel] of [['h200', 'transpose/shared.toml'], ['c1060', 'transpose/2d.toml']]) {
    const json = join(work, `what-if-${device}.json`);
    const file = written(`what-if-${device}`, 'run', sample(kernel), '--device', device, '--json', json);
    const { statistics } = documentOf(file).launches[0];
    const page = await open(file);
    await visit(page, 'Models');
    for (const [slider, fields] of Object.entries(changes)) {
      const input = page.locator(`[data-slider="${slider}"]`);
      if (await input.count() === 0) continue;
      const factor = slider === 'occupancy' ? 0.5 : 2;
      await input.fill(String(Math.log2(factor)));
      const set = fields.filter((name) => statistics[name] !== undefined).flatMap((name) => ['--set', `${name}=${factor * statistics[name]}`]);
      const rows = await page.locator('section[aria-labelledby="what-if"] [role="status"] table tbody tr').evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
      assert(rows.length > 0);
      for (const [model, time] of rows) {
        const [prediction] = JSON.parse(text('predict', json, '--device', device, '--model', model, ...set, '--json', '-')).launches[0].predictions;
        const shown = parseFloat(time) * { s: 1e3, ms: 1, 'µs': 1e-3, ns: 1e-6 }[time.split(' ')[1]];
        assert(Math.abs(shown / prediction.milliseconds - 1) < 0.006, `${device} ${model} ${slider}: ${time}, ${prediction.milliseconds} ms`);
      }
      await input.fill('0');
    }
    // No more blocks than the multiprocessor holds: here, the launch has as many.
    const bars = () => page.locator('section[aria-labelledby="what-if"] [role="status"] [role="img"]').getAttribute('aria-label');
    const before = await bars();
    await page.locator('[data-slider="occupancy"]').fill('3');
    if (device === 'h200') assert.equal(await bars(), before);
    await page.context().close();
  }
});

test('the occupancy is that of the report', async () => {
  const page = await open(gt200);
  await visit(page, 'Occupancy');
  const { occupancy, occupancy_curves: curves } = documentOf(gt200).launches[0];
  const at = (steps, x) => steps.filter(([from]) => from <= x).at(-1)[1];
  assert.equal(at(curves.by_threads, curves.threads), occupancy.warps);
  assert.equal(at(curves.by_registers, curves.registers), occupancy.warps);
  assert.equal(at(curves.by_shared_bytes, curves.shared_bytes), occupancy.warps);
  assert.equal(await page.locator('svg .point').count(), 3);
  await page.context().close();
});

test('print', async () => {
  const page = await open(transpose, { colorScheme: 'dark', viewport: { width: 740, height: 1000 } });
  for (const title of await titles(page)) {
    await page.emulateMedia({ media: 'screen' });
    await visit(page, title);
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    const found = await page.evaluate(() => ({
      navigation: document.querySelector('nav').getClientRects().length,
      back: getComputedStyle(document.documentElement).backgroundColor,
      // Nothing is cut off at the right, and all rows are there.
      wide: [...document.querySelectorAll('table, svg')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 100)),
      missing: [...document.querySelectorAll('table.list')].filter((one) => one.tBodies[0].rows.length + 1 < one.getAttribute('aria-rowcount')).length,
    }));
    assert.deepEqual(found, { navigation: 0, back: 'rgb(255, 255, 255)', wide: [], missing: 0 }, title);
    await picture(page, `print ${title}`);
  }
  assert((await page.pdf()).length > 10000);
  await page.context().close();
});

test('sweeps and comparisons', async () => {
  const sweep = written('sweep', 'sweep', sample('saxpy/launch.toml'), '--block', '64,128,256', '--device', 'c1060,gtx480');
  let page = await open(sweep);
  await checkStructure(page, 'sweep');
  assert.equal(await page.locator('svg .series').count(), 2); // a line for each device
  assert.equal(await page.locator('svg .series circle').count(), 6);
  const shortest = documentOf(sweep).sweep.reduce((a, b) => (b.metrics.milliseconds < a.metrics.milliseconds ? b : a));
  assert.match(await page.locator('main').innerText(), new RegExp(`Shortest predicted time: [\\d.]+ µs, with .*block ${shortest.settings.block}`));
  for (const part of ['The times on GeForce GTX 480 are by dasgupta, the model to trust on this device', 'The times on Tesla C1060 are by dasgupta']) assert((await page.locator('main').innerText()).includes(part), part);
  await page.getByLabel('Metric').selectOption('occupancy');
  await picture(page, 'sweep');
  assert.deepEqual(page.problems, []);
  await page.context().close();

  page = await open(written('sweep-models', 'sweep', sample('saxpy/launch.toml'), '--block', '64,256', '--device', 'h200,a100,gtx480'));
  const cautions = await page.locator('main').innerText();
  for (const part of ['Caution: the times on NVIDIA A100', 'whose error on this device is not known', 'Caution: the times are by different models']) assert(cautions.includes(part), part);
  await page.context().close();

  const reports = ['2d', 'padded'].map((name) => {
    written(name, 'run', sample(`transpose/${name}.toml`), '--device', 'gtx480', '--json', join(work, `${name}.json`));
    return join(work, `${name}.json`);
  });
  page = await open(written('compare', 'compare', ...reports));
  await checkStructure(page, 'compare');
  const text = await page.locator('main').innerText();
  for (const part of ['Predicted time: ', ' times as fast', 'Main counts that changed', 'Transactions of global memory', 'Metrics that changed']) assert(text.includes(part), part);
  await picture(page, 'compare');
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('a comparison of several launches', async () => {
  const [a, b] = ['h200', 'gtx480'].map((device) => {
    written(`all-${device}`, 'run', sample('transpose'), '--device', device, '--json', join(work, `all-${device}.json`));
    return join(work, `all-${device}.json`);
  });
  const page = await open(written('compare-all', 'compare', a, b));
  await checkStructure(page, 'compare');
  const table = page.getByRole('region', { name: /^Launches that are compared/ });
  assert.equal(await table.locator('tbody tr').count(), 4);
  assert.match(await page.locator('main').innerText(), /Predicted, all launches: .* → .*, .* times as/);
  for (const kernel of ['transpose_1d', 'transpose_padded']) {
    await table.locator('tr', { hasText: kernel }).click();
    assert.match(await page.locator('main').innerText(), new RegExp(`${kernel}\\s+Predicted time: [\\d.]+ times as`));
  }
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('the data of the page can be saved', async () => {
  const page = await open(transpose);
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save data (JSON)' }).click()]);
  assert.equal(download.suggestedFilename(), 'warplens-report.json');
  assert.deepEqual(JSON.parse(readFileSync(await download.path(), 'utf8')), documentOf(transpose));
  assert.deepEqual(page.problems.filter((problem) => !problem.startsWith('request: blob:')), []);
  await page.context().close();
});

test('a page is small', () => {
  assert(statSync(transpose).size < 600_000, `${statSync(transpose).size} bytes`);
});
