#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws figures 16 to 32 of A. Dasgupta, CUDA Performance Analyzer (Georgia Tech 2011), from Warplens' predictions, and
writes the tables of docs/fmm.md. Needs matplotlib.

    for n in 64 128 192 256; do warplens run samples/fmm_ulist/suite_$n.toml --json reports/suite_$n.json; done
    samples/fmm_ulist/figures.py reports [WARPLENS]

THESIS has the printed values. The other curves of the thesis are not available; for them, figures show only our values.
"""
import json
import subprocess
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "docs/figures"
BLOCKS = (64, 128, 192, 256)
# Figure 17: measured on a Tesla C1060, ms, at 64, 128, 192 and 256 threads.
MEASURED = {
    "cuda": (66.2, 58.9, 80.2, 56.0),
    "cuda_tight": (66.1, 58.5, 70.5, 56.0),
    "cuda_rsqrt": (65.0, 55.8, 73.1, 55.9),
    "cuda_pref": (62.9, 56.0, 72.6, 55.5),
    "cuda_ujam": (50.0, 70.7, 91.7, 84.4),
    "cuda_vecpack": (44.3, 34.9, 40.7, 35.6),
    "cuda_shmem": (36.0, 36.2, 60.6, 70.6),
    "cuda_vecpack_shmem": (32.7, 32.2, 45.3, 37.9),
}
# Tables 12 to 16: the thesis's own predictions at 64 threads, ms.
THESIS = {"cuda": 66.33431, "cuda_rsqrt": 66.33422, "cuda_pref": 64.672, "cuda_ujam": 49.356, "cuda_vecpack": 45.608,
          "cuda_shmem": 35.99694}
# Figure 26: measured, one row for each kernel: 1: more than 10 % faster than the base variant; 0: similar; -1: slower.
SIGN_COLUMNS = ("cuda", "cuda_pref", "cuda_rsqrt", "cuda_tight", "cuda_ujam", "cuda_shmem", "cuda_vecpack",
                "cuda_vecpack_shmem")
SIGNS = {
    "cuda_vecpack_shmem_ujam_rsqrt": (1, 1, 1, 1, 1, 1, 1, 1),
    "cuda_vecpack_shmem_trans_ujam_rsqrt": (1, 1, 1, 1, 1, 1, 1, 1),
    "cuda_vecpack_shmem_trans_pref_rsqrt": (1, 1, 1, 1, 1, 1, 1, 1),
    "cuda_vecpack_shmem_trans": (1, 1, 1, 1, 1, 0, 1, 0),
    "cuda_vecpack_pref_ujam_rsqrt": (1, 1, 1, 1, 1, 1, 1, 0),
    "cuda_vecpack_pref_ujam": (1, 1, 1, 1, 1, -1, 0, -1),
    "cuda_vecpack_ujam_rsqrt": (1, 1, 1, 1, 1, 1, 1, 0),
    "cuda_vecpack_ujam": (1, 1, 1, 1, 1, -1, 0, -1),
}


class Run:
    """A kernel at a block size: the counted statistics and the model's prediction."""

    def __init__(self, launch, adaptive, fixed):
        self.kernel, self.metrics, self.occupancy = launch["kernel"], launch["metrics"], launch["occupancy"]
        self.statistics = adaptive["statistics"]
        self.prediction, self.fixed = adaptive["predictions"][0], fixed["predictions"][0]
        self.terms = {t["name"]: t["value"] for t in self.prediction["terms"]}

    @property
    def milliseconds(self):
        return self.prediction["milliseconds"]

    @property
    def gflops(self):
        return self.metrics["flop_count"] / self.milliseconds / 1e6

    @property
    def ideal(self):
        return self.statistics.get("ideal_duplicate_loads") or 1

    @property
    def effective(self):
        """Requests per request that is issued; requests of vectors do not merge."""
        transactions = sum(self.statistics[f"transactions_{n}"] for n in (32, 64, 128))
        return transactions / self.statistics["global_requests"] / self.terms["num_trans_per_request"]


def predictions(warplens, report, *options):
    out = subprocess.run([warplens, "predict", report, "--device", "c1060", "--model", "dasgupta",
                          "--special-functions", "beside", "--terms", "--json", "-", *options],
                         check=True, capture_output=True, text=True).stdout
    return json.loads(out)["launches"]


def read(folder, warplens):
    """Runs by (kernel, threads per block)."""
    runs = {}
    for block in BLOCKS:
        report = folder / f"suite_{block}.json"
        launches = json.loads(report.read_text())["launches"]
        fixed = predictions(warplens, report, "--set", f"duplicate_loads={block // 32}")
        for launch, *both in zip(launches, predictions(warplens, report), fixed):
            if launch["kernel"].startswith("cuda"):
                runs[launch["kernel"], block] = Run(launch, *both)
    return runs


def short(kernel):
    return kernel.removeprefix("cuda_") if kernel != "cuda" else "cuda"


def save(figure, number):
    figure.savefig(FIGURES / f"fmm_{number}.svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def bars(number, title, runs, kernels, block, series, unit, second=None):
    """Groups of bars for `series`: name -> function of a run. `second`: (name, function), a line on its own axis."""
    figure, axes = plt.subplots(figsize=(max(6, 0.32 * len(kernels) + 2), 3.6))
    width = 0.8 / len(series)
    for s, (name, value) in enumerate(series.items()):
        axes.bar([i + s * width for i in range(len(kernels))], [value(runs[k, block]) for k in kernels], width, label=name,
                 color=("#4477aa", "#cc6677", "#ddaa33")[s])
    axes.set_xticks([i + 0.4 - width / 2 for i in range(len(kernels))], [short(k) for k in kernels], rotation=60,
                    ha="right", fontsize=7)
    axes.set_ylim(top=1.25 * axes.get_ylim()[1])
    axes.set_ylabel(unit)
    axes.set_title(title, fontsize=10)
    handles, names = axes.get_legend_handles_labels()
    if second:
        other = axes.twinx()
        line = other.plot([i + 0.4 - width / 2 for i in range(len(kernels))], [second[1](runs[k, block]) for k in kernels],
                          "o-", color="black", markersize=3, linewidth=1, label=second[0])
        other.set_ylim(bottom=0, top=1.25 * other.get_ylim()[1])  # room for the legend
        other.set_ylabel(second[0])
        handles, names = handles + line, names + [second[0]]
    axes.legend(handles, names, fontsize=7)
    save(figure, number)


def coherency(runs, number=16):
    """Figure 16: all kernels on one line, with the measured times."""
    figure, all_axes = plt.subplots(4, 1, figsize=(9, 9), sharex=True)
    kernels = sorted({k for k, _ in runs}, key=lambda k: -runs[k, 64].milliseconds)
    for axes, (at, block) in zip(all_axes, enumerate(BLOCKS)):
        axes.plot([runs[k, block].milliseconds for k in kernels], ".-", color="#4477aa", label="predicted")
        known = [i for i, k in enumerate(kernels) if k in MEASURED]
        axes.plot(known, [MEASURED[kernels[i]][at] for i in known], "x", color="#cc6677", label="measured (figure 17)")
        axes.set_ylabel(f"ms, {block} threads", fontsize=8)
        axes.set_ylim(bottom=0)
    all_axes[0].legend(fontsize=7)
    all_axes[-1].set_xticks(range(len(kernels)), [short(k) for k in kernels], rotation=90, fontsize=6)
    save(figure, number)


def colours(runs, number=17):
    figure, axes = plt.subplots(figsize=(5.5, 4))
    rows = list(MEASURED)
    image = axes.imshow([[runs[k, b].milliseconds for b in BLOCKS] for k in rows], cmap="viridis", vmin=0, vmax=120,
                        aspect="auto")
    for y, k in enumerate(rows):
        for x, b in enumerate(BLOCKS):
            axes.text(x, y, f"{MEASURED[k][x]:.1f}\n({runs[k, b].milliseconds:.1f})", ha="center", va="center", fontsize=7,
                      color="white" if runs[k, b].milliseconds < 80 else "black")
    axes.set_xticks(range(4), BLOCKS)
    axes.set_yticks(range(len(rows)), rows, fontsize=7)
    axes.set_xlabel("threads of a block; number: measured, colour and (number): predicted, ms", fontsize=7)
    figure.colorbar(image)
    save(figure, number)


def sign(faster, than):
    ratio = than / faster
    return 1 if ratio > 1.1 else -1 if ratio < 1 / 1.1 else 0


def sign_plot(runs, number=26):
    figure, axes = plt.subplots(figsize=(7, 4))
    rows = list(SIGNS)
    ours = [[sign(runs[k, 64].milliseconds, runs[c, 64].milliseconds) for c in SIGN_COLUMNS] for k in rows]
    axes.imshow(ours, cmap="coolwarm", vmin=-2, vmax=2, aspect="auto")
    for y, k in enumerate(rows):
        for x, measured in enumerate(SIGNS[k]):
            axes.text(x, y, str(measured), ha="center", va="center", fontsize=8)
    axes.set_xticks(range(len(SIGN_COLUMNS)), SIGN_COLUMNS, rotation=45, ha="right", fontsize=7)
    axes.set_yticks(range(len(rows)), rows, fontsize=7)
    axes.set_title("1: the row's kernel is more than 10 % faster. Number: measured; colour: predicted (red 1, blue -1)",
                   fontsize=8)
    save(figure, number)
    same = sum(o == m for k, row in zip(rows, ours) for o, m in zip(row, SIGNS[k]))
    return same, len(rows) * len(SIGN_COLUMNS)


def draw(runs):
    kernels = [k for k, b in runs if b == 64]
    gflops, instructions = {"performance": lambda r: r.gflops}, ("instructions of a warp", lambda r: r.statistics["instructions"])
    requests = ("memory operations of a warp", lambda r: r.statistics["global_requests"])
    parallelism = {"MWP": lambda r: r.prediction["mwp"], "CWP": lambda r: r.prediction["cwp"]}
    coherency(runs)
    colours(runs)
    bars(18, "Base variants, 64 threads", runs, list(MEASURED), 64, gflops, "Gflop/s")
    over_shared = [k for k in kernels if "shmem" in k and "vecpack" not in k]
    bars(19, "Optimisations on top of shared memory, 64 threads", runs, over_shared, 64, gflops, "Gflop/s")
    bars(20, "MWP and CWP of the same", runs, over_shared, 64, parallelism, "warps")
    for number, block in ((21, 64), (22, 128)):
        bound = [k for k in kernels if runs[k, block].prediction["bound"] == "compute"]
        bars(number, f"Compute bound: performance and instructions, {block} threads", runs, bound, block, gflops, "Gflop/s",
             instructions)
    memory = {b: [k for k in kernels if runs[k, b].prediction["bound"] == "memory"] for b in BLOCKS}
    bars(23, "Memory bound, 64 threads: MWP and CWP", runs, memory[64], 64, parallelism, "warps")
    for number, block in ((24, 64), (25, 128)):
        bars(number, f"Memory bound: performance and memory operations, {block} threads", runs, memory[block], block, gflops,
             "Gflop/s", requests)
    signs = sign_plot(runs)
    for first, block in ((27, 192), (30, 256)):
        bars(first, f"Occupancy and duplicate loads, {block} threads", runs, kernels, block,
             {"ideal": lambda r: r.ideal, "effective": lambda r: r.effective}, "duplicate loads",
             ("occupancy", lambda r: r.occupancy["ratio"]))
        at = BLOCKS.index(block)
        for number, name, value in ((first + 1, "fixed", lambda r: r.fixed["milliseconds"]),
                                    (first + 2, "adaptive", lambda r: r.milliseconds)):
            bars(number, f"{name.capitalize()} duplicate loads, {block} threads", runs, list(MEASURED), block,
                 {"predicted": value, "measured": lambda r: MEASURED[r.kernel][at]}, "ms")
    return signs


def rank_correlation(pairs):
    """Spearman's rank correlation, for pairs with few ties."""
    def ranks(values):
        order = sorted(values)
        return [order.index(v) + (order.count(v) - 1) / 2 for v in values]
    a, b = (ranks(list(v)) for v in zip(*pairs))
    mean = (len(a) - 1) / 2
    product = lambda x, y: sum((i - mean) * (j - mean) for i, j in zip(x, y))
    return product(a, b) / (product(a, a) * product(b, b)) ** 0.5


def tables(runs, signs):
    """The tables, by the name of their section in docs/fmm.md."""
    rows = ["| kernel | registers | occupancy | instructions | requests | MWP | CWP | bound by | predicted, ms | thesis predicts | measured |",
            "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for k in sorted(MEASURED, key=lambda k: -MEASURED[k][0]):
        r = runs[k, 64]
        rows.append(f"| `{k}` | {r.occupancy['registers_per_thread']} | {r.occupancy['ratio']:.3f} | {r.statistics['instructions']:.0f} | "
                    f"{r.statistics['global_requests']:.0f} | {r.prediction['mwp']:.2f} | {r.prediction['cwp']:.2f} | {r.prediction['bound']} | "
                    f"{r.milliseconds:.1f} | {THESIS.get(k, '')} | {MEASURED[k][0]} |")
    grid = ["| kernel | " + " | ".join(f"{b} threads" for b in BLOCKS) + " |", "| --- | --- | --- | --- | --- |"]
    for k, measured in MEASURED.items():
        grid.append(f"| `{k}` | " + " | ".join(f"{runs[k, b].milliseconds:.1f} ({m})" for b, m in zip(BLOCKS, measured)) + " |")
    errors = {b: [abs(runs[k, b].milliseconds / m[at] - 1) for k, m in MEASURED.items()] for at, b in enumerate(BLOCKS)}
    grid.append("| mean error | " + " | ".join(f"{100 * sum(e) / len(e):.0f} %" for e in errors.values()) + " |")
    grid.append("| rank correlation | " + " | ".join(
        f"{rank_correlation([(runs[k, b].milliseconds, m[at]) for k, m in MEASURED.items()]):.2f}" for at, b in enumerate(BLOCKS)) + " |")
    fixed = ["| threads | fixed | adaptive |", "| --- | --- | --- |"]
    for at, b in list(enumerate(BLOCKS))[2:]:
        mean = lambda value: 100 * sum(abs(value(runs[k, b]) / m[at] - 1) for k, m in MEASURED.items()) / len(MEASURED)
        fixed.append(f"| {b} | {mean(lambda r: r.fixed['milliseconds']):.0f} % | {mean(lambda r: r.milliseconds):.0f} % |")
    everything = ["| kernel | instructions | requests | occupancy | MWP | CWP | bound by | predicted, ms |",
                  "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    for k in sorted((k for k, b in runs if b == 64), key=lambda k: -runs[k, 64].milliseconds):
        r = runs[k, 64]
        everything.append(f"| `{k}` | {r.statistics['instructions']:.0f} | {r.statistics['global_requests']:.0f} | {r.occupancy['ratio']:.3f} | "
                          f"{r.prediction['mwp']:.2f} | {r.prediction['cwp']:.2f} | {r.prediction['bound']} | {r.milliseconds:.1f} |")
    return {"everything": everything, "ranking": rows, "grid": grid, "merging": fixed,
            "signs": [f"{signs[0]} of the {signs[1]} predicted signs agree with the measurements."]}


def main():
    folder, warplens = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else str(ROOT / "build/bin/warplens")
    plt.rcParams.update({"svg.hashsalt": "warplens", "svg.fonttype": "none", "font.size": 8})
    FIGURES.mkdir(exist_ok=True)
    runs = read(folder, warplens)
    page = ROOT / "docs/fmm.md"
    text = page.read_text()
    for name, lines in tables(runs, draw(runs)).items():
        begin, end = f"<!-- {name}: written by figures.py -->\n", f"<!-- end of {name} -->"
        before, rest = text.split(begin)
        text = before + begin + "\n".join(lines) + "\n" + rest[rest.index(end):]
    page.write_text(text)


if __name__ == "__main__":
    main()
