// SPDX-License-Identifier: Apache-2.0
// Chromium for the tests, and pages that Warplens writes.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = resolve(process.env.WARPLENS_FOLDER);
const { chromium } = createRequire(join(folder, 'package.json'))('playwright-core');
const samples = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../../samples');

export const work = mkdtempSync(join(folder, 'pages-'));
export const sample = (name) => join(samples, name);
export const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });

/** Runs Warplens; the page that it writes. */
export function written(name, ...command) {
  const page = join(work, `${name}.html`);
  const [verb, ...rest] = command;
  execFileSync(resolve(process.env.WARPLENS_PROGRAM), [verb, '--html', page, ...rest], { stdio: ['ignore', 'ignore', 'pipe'] });
  assert(existsSync(page));
  return page;
}

/** Opens a page. `problems` are errors, messages, dialogs and requests, of which there should be none. */
export async function open(file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, ...options });
  const page = await context.newPage();
  page.problems = [];
  page.on('console', (message) => page.problems.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => page.problems.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => { page.problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', (request) => { if (request.url() !== page.address) page.problems.push(`request: ${request.url()}`); });
  page.address = pathToFileURL(file).href;
  await page.goto(page.address);
  await page.waitForSelector('h1');
  page.address = undefined; // a page that loads itself again is a problem, too
  return page;
}

/** Opens a view by its title in the navigation. */
export async function visit(page, title) {
  await page.getByRole('navigation').getByRole('link', { name: title, exact: true }).click();
  await page.waitForFunction((expected) => document.querySelector('nav [aria-current]')?.textContent === expected, title);
}

export const titles = (page) => page.locator('nav a').allTextContents();

/** For people who look: WARPLENS_SCREENSHOTS=FOLDER. */
export async function picture(page, name) {
  const to = process.env.WARPLENS_SCREENSHOTS;
  if (!to) return;
  mkdirSync(to, { recursive: true });
  await page.screenshot({ path: join(to, `${name}.png`) });
}

/**
 * The time in milliseconds that the page's thread works for an interaction, with layout and painting: the smallest of
 * three. `prepare` runs before each. Time of the processor, because other programs of the machine do not lengthen it.
 */
export async function cost(page, interaction, prepare = () => {}) {
  page.session ??= await page.context().newCDPSession(page);
  await page.session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const worked = async () => (await page.session.send('Performance.getMetrics')).metrics.find((one) => one.name === 'TaskDuration').value;
  const frame = () => page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
  const costs = [];
  for (let i = 0; i < 3; i += 1) {
    await prepare();
    await frame();
    const before = await worked();
    await interaction();
    await frame();
    costs.push(1000 * (await worked() - before));
  }
  return Number(Math.min(...costs).toFixed(1));
}
