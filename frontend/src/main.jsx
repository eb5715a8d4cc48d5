// SPDX-License-Identifier: Apache-2.0
// The page: header, navigation, and the view that the address names: #page=source&launch=2&line=40.
import { forgetPrinters, h, show } from './dom.js';
import { kernelName, mainLaunch, readDocument } from './data.js';
import { extent } from './format.js';
import { documentKinds } from './kinds.js';
import './style.css';

const kThemes = ['auto', 'light', 'dark'];

/** "5 × 4 blocks of 32 × 8" */
const shape = ({ grid, block }) => `${extent(grid)} ${extent(grid) === '1' ? 'block' : 'blocks'} of ${extent(block)}`;

/** The choice of colours outlives the page where the browser permits it: not for every file on a disk. */
const remembered = {
  get: () => { try { return localStorage.getItem('warplens-theme'); } catch { return null; } },
  set: (value) => { try { localStorage.setItem('warplens-theme', value); } catch { /* this page only */ } },
};

function themeButton() {
  const apply = (theme) => {
    if (theme === 'auto') document.documentElement.removeAttribute('data-theme');
    else document.documentElement.setAttribute('data-theme', theme);
    button.textContent = `Colours: ${theme}`;
    button.dataset.theme = theme;
  };
  const button = <button type="button" class="theme" onClick={() => {
    const next = kThemes[(kThemes.indexOf(button.dataset.theme) + 1) % kThemes.length];
    remembered.set(next);
    apply(next);
  }} />;
  apply(kThemes.includes(remembered.get()) ? remembered.get() : 'auto');
  return button;
}

function saveButton(text) {
  return <button type="button" onClick={() => {
    const link = <a download="warplens-report.json" href={URL.createObjectURL(new Blob([text()], { type: 'application/json' }))} />;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000); // when the browser has read it
  }}>Save data (JSON)</button>;
}

class App {
  constructor(report) {
    this.report = report;
    this.kind = documentKinds.find((kind) => kind.fits(report));
    this.launches = this.kind.launches ? report.launches : [];
    this.first = mainLaunch(this.launches);
    this.navigation = <ul />;
    this.main = <main id="main" tabindex="-1" />;
    this.picker = this.launches.length > 1 ? this.launchPicker() : null;
    show(document.getElementById('app'),
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); this.main.focus(); }}>Skip to the report</a>,
      <header>
        <p class="brand">Warplens</p>
        <p class="what">{this.kind.title(report)}</p>
        {this.picker}
        <div class="tools">{saveButton(() => JSON.stringify(report, null, 2))}{themeButton()}</div>
      </header>,
      <div class="columns"><nav aria-label="Pages">{this.navigation}</nav>{this.main}</div>,
      <footer>
        <p>Warplens {report.warplens ?? ''}. This file is complete: it loads nothing from a network.</p>
        <details><summary>Licences</summary><pre tabindex="0">{document.getElementById('licences').textContent}</pre></details>
      </footer>);
    addEventListener('hashchange', () => this.draw(true));
    this.draw(false);
  }

  launchPicker() {
    const select = <select onChange={() => this.go({ launch: select.value })}>
      {this.launches.map((launch, i) => <option value={i}>{`${i + 1}: ${kernelName(launch)}, ${shape(launch)}`}</option>)}
    </select>;
    const step = (by) => this.go({ launch: Math.max(0, Math.min(this.launches.length - 1, this.place().launch + by)) });
    this.select = select;
    return <div class="picker">
      <label>Launch {select}</label>
      <button type="button" aria-label="Previous launch" onClick={() => step(-1)}>‹</button>
      <button type="button" aria-label="Next launch" onClick={() => step(1)}>›</button>
    </div>;
  }

  /** What the address names. */
  place() {
    const given = new URLSearchParams(location.hash.slice(1));
    const launch = Number(given.get('launch') ?? this.first);
    return {
      ...Object.fromEntries(given),
      page: given.get('page') ?? '',
      launch: Number.isInteger(launch) && launch >= 0 && launch < this.launches.length ? launch : this.first,
    };
  }

  address(changes) {
    const { page, launch } = this.place();
    return `#${new URLSearchParams({ page, launch, ...changes })}`;
  }

  go(changes) { location.hash = this.address(changes); }

  draw(focus) {
    const place = this.place();
    const launch = this.launches[place.launch];
    const pages = this.kind.pages.filter((page) => page.fits?.(this.report, launch) ?? true);
    const page = pages.find((one) => one.id === place.page) ?? pages[0];
    show(this.navigation, pages.map((one) => <li><a href={this.address({ page: one.id })}
      aria-current={one === page ? 'page' : null}>{one.title}</a></li>));
    if (this.select) this.select.value = String(place.launch);
    const name = launch ? kernelName(launch) : this.kind.title(this.report);
    document.title = name === page.title ? `${name} – Warplens` : `${page.title}: ${name} – Warplens`;
    const started = performance.now();
    forgetPrinters();
    show(this.main, <h1 tabindex="-1">{page.heading ?? page.title}{launch && page.ofLaunch !== false && <code>{name}</code>}</h1>,
      page.draw({ report: this.report, launch, place, app: this }));
    this.main.dataset.milliseconds = String(performance.now() - started);
    // The buttons beside the launch keep the focus, to step through launches.
    const isNew = this.shown !== page;
    this.shown = page;
    if (focus && isNew) {
      scrollTo(0, 0);
      this.main.querySelector('h1').focus({ preventScroll: true });
    }
  }
}

async function start() {
  const app = document.getElementById('app');
  try {
    const report = await readDocument(document.getElementById('data').textContent);
    new App(report);
  } catch (error) {
    show(app, <p class="failure" role="alert">This page cannot show its report: {error.message}. A current browser is
      required (Chromium 98, Firefox 113, Safari 16.4 or later).</p>);
    throw error;
  }
}

start();
