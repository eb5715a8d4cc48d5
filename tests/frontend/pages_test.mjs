// SPDX-License-Identifier: Apache-2.0
// Every view of reports that Warplens writes: it shows without errors, has what it must have, and can be reached and
// used by the keyboard and by screen readers.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { documentOf } from './documents.mjs';
import { browser, open, picture, sample, titles, visit, work, written } from './browser.mjs';

after(() => browser.close());

const transpose = written('transpose', 'run', sample('transpose'), '--device', 'h200', '--rule', '1.2', '--analyzers', 'caches,reuse_distance');
const gt200 = written('gt200', 'run', sample('transpose'), '--device', 'c1060');

/** What a screen reader needs: landmarks, one heading of the first level, names of everything that acts. */
async function checkStructure(page, title) {
  const found = await page.evaluate(() => {
    const named = (element) => (element.getAttribute('aria-label') ?? (element.labels?.length ? element.labels[0].textContent : '') ?? '') || element.textContent.trim();
    return {
      main: document.querySelectorAll('main').length,
      banner: document.querySelectorAll('body header').length,
      navigation: document.querySelectorAll('nav[aria-label]').length,
      footer: document.querySelectorAll('footer').length,
      headings: document.querySelectorAll('h1').length,
      unnamed: [...document.querySelectorAll('button, select, input, a, table, [role="region"], [role="img"]')]
        .filter((element) => !named(element)).map((element) => element.outerHTML.slice(0, 120)),
      headless: [...document.querySelectorAll('table')].filter((table) => !table.querySelector('th[scope="col"]')).length,
      duplicates: [...document.querySelectorAll('[id]')].map((element) => element.id).filter((id, i, all) => all.indexOf(id) !== i),
      wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    };
  });
  assert.deepEqual(found, { main: 1, banner: 1, navigation: 1, footer: 1, headings: 1, unnamed: [], headless: 0, duplicates: [], wide: 0 }, title);
}

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

test('the summary shows the numbers of the report', async () => {
  const page = await open(transpose);
  const launch = documentOf(transpose).launches[0];
  const text = await page.locator('main').innerText();
  assert(text.includes(launch.kernel));
  assert(text.includes(launch.findings[0].message));
  assert(text.includes(launch.findings[0].rule));
  const shown = await page.locator('.tile', { hasText: /^Limited by/ }).innerText();
  assert(launch.predictions.some((p) => shown.toLowerCase().includes(p.bound.replace('compute', 'computation'))), shown);
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
  const page = await open(transpose);
  await visit(page, 'Source');
  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.locator('nav').isVisible(), false);
  assert((await page.pdf()).length > 10000);
  await page.context().close();
});

test('sweeps and comparisons', async () => {
  const sweep = written('sweep', 'sweep', sample('saxpy/launch.toml'), '--block', '64,128,256', '--device', 'c1060,gtx480');
  let page = await open(sweep);
  await checkStructure(page, 'sweep');
  assert.equal(await page.locator('svg .series').count(), 2); // a line for each device
  assert.equal(await page.locator('svg .series circle').count(), 6);
  await page.getByLabel('Metric').selectOption('occupancy');
  await picture(page, 'sweep');
  assert.deepEqual(page.problems, []);
  await page.context().close();

  const reports = ['2d', 'padded'].map((name) => {
    written(name, 'run', sample(`transpose/${name}.toml`), '--device', 'gtx480', '--json', join(work, `${name}.json`));
    return join(work, `${name}.json`);
  });
  page = await open(written('compare', 'compare', ...reports));
  await checkStructure(page, 'compare');
  const text = await page.locator('main').innerText();
  for (const part of ['Predicted time: ', ' times as fast', 'Metrics that changed']) assert(text.includes(part), part);
  await picture(page, 'compare');
  assert.deepEqual(page.problems, []);
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
  await picture(page, 'program timeline');
  // The launch that the buttons select is the one that is shown.
  await visit(page, 'Summary');
  await page.getByRole('button', { name: 'Next launch' }).click();
  await page.waitForFunction(() => location.hash.includes('launch=1'));
  assert((await page.locator('h1').innerText()).includes(launches[1].name));
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Next launch');
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('a page is small', () => {
  assert(statSync(transpose).size < 600_000, `${statSync(transpose).size} bytes`);
});
