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

/** What Warplens prints. */
export const text = (...command) => execFileSync(resolve(process.env.WARPLENS_PROGRAM), command, { encoding: 'utf8' });

/** What a screen reader needs: landmarks, one heading of the first level, names of everything that acts. */
export async function checkStructure(page, title) {
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
      outside: [...document.querySelectorAll('main *')].filter((element) => element.getBoundingClientRect().right > 0
        && element.getBoundingClientRect().left < document.querySelector('main').getBoundingClientRect().left - 1
        && !element.closest('.scroll, .drawing')).map((element) => element.outerHTML.slice(0, 120)),
    };
  });
  assert.deepEqual(found, { main: 1, banner: 1, navigation: 1, footer: 1, headings: 1, unnamed: [], headless: 0, duplicates: [], wide: 0, outside: [] }, title);
}

/** In the page: texts that are hard to read, by the contrast of WCAG 2.1: 4.5, and 3 for large text. */
export function lowContrast() {
  const parse = (colour) => { const [r, g, b, a = 1] = colour.match(/[\d.]+/g).map(Number); return { rgb: [r, g, b], a }; };
  const over = (top, below) => top.rgb.map((one, i) => one * top.a + below[i] * (1 - top.a));
  const back = (element) => {
    if (!element) return [255, 255, 255];
    const colour = parse(getComputedStyle(element).backgroundColor);
    return colour.a === 1 ? colour.rgb : over(colour, back(element.parentElement));
  };
  const luminance = (rgb) => rgb.map((one) => one / 255).map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
    .reduce((sum, one, i) => sum + one * [0.2126, 0.7152, 0.0722][i], 0);
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || element.getClientRects().length === 0 || element.closest('option, .bank, .lane, .never')) continue;
    const style = getComputedStyle(element);
    const below = back(element);
    const colour = parse(element.ownerSVGElement ? style.fill : style.color);
    const [a, b] = [luminance(over(colour, below)), luminance(below)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 600);
    if (ratio < (large ? 3 : 4.5)) found.push(`${node.textContent.trim().slice(0, 40)}: ${ratio.toFixed(2)}`);
  }
  return [...new Set(found)];
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
  await page.screenshot({ path: join(to, `${name}.png`), fullPage: true });
}

/** The milliseconds that an interaction may take. */
export const kMost = 100;

/**
 * The time in milliseconds that the page's thread works for an interaction, with layout and painting: the smallest of
 * three, or of more if these are too long. `prepare` runs before each. Time of the processor, which other programs of
 * the machine lengthen less.
 */
export async function cost(page, interaction, prepare = () => {}) {
  page.session ??= await page.context().newCDPSession(page);
  await page.session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const worked = async () => (await page.session.send('Performance.getMetrics')).metrics.find((one) => one.name === 'TaskDuration').value;
  const frame = () => page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
  const costs = [];
  for (let i = 0; i < 3 || (i < 12 && Math.min(...costs) >= kMost); i += 1) {
    await prepare();
    await frame();
    const before = await worked();
    await interaction();
    await frame();
    costs.push(1000 * (await worked() - before));
  }
  return Number(Math.min(...costs).toFixed(1));
}
