"""Fits the model throughput-latency of the H200 to the launches of times.jsonl that are not held out.

    python3 tests/data/hardware/ask/fit_throughput_latency.py [--folds]        needs NumPy and SciPy

Prints [throughput_latency] for model/devices/h200.toml, and how far the model is off: for the launches that it was fitted to and, with --folds,
by cross-validation among them (each kernel predicted by a fit to the kernels of the other five parts). It never reads the times of held-out
kernels: those are for tests/hardware/times_test.cpp. The equations are those of model/throughput_latency.cpp, which the test compares.
"""
import hashlib
import json
import os
import sys

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import spearmanr

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
MULTIPROCESSORS, CLOCK_GHZ = 132, 1.5
# Known of the hardware, or counted: not fitted.
KNOWN = {"clock_ghz": CLOCK_GHZ, "special_functions": 0.5, "double_precision": 2, "division_instructions": 15,
         "integer_division_instructions": 14, "special_instructions": 1, "atomic_half_line": 1.11, "float_atomic_word": 2.63, "atomic_kilobyte": 0.52}
# Name: first guess, least, most.
FITTED = {"overhead": (2500, 500, 6000), "block_cycles": (0.9, 0.1, 3), "warp_cycles": (0.05, 0.001, 1), "issue": (3.9, 3, 4), "wavefronts": (0.95, 0.5, 1),
          "l2_read": (80, 30, 160), "l2_write": (60, 20, 160), "memory_bytes": (2900, 1500, 3200), "kept_bytes": (16e6, 1e6, 50e6),
          "issue_chain": (1, 0.3, 3), "l1_latency": (40, 20, 100), "l2_latency": (270, 150, 600), "memory_latency": (700, 300, 1500),
          "barrier_latency": (30, 5, 300), "overlap": (3, 1, 12)}
# Atomics that contend for few addresses: their parameters are measured, and the other ones do not depend on them.
LEFT_OUT = ("count_globally", "take_tickets")
SPECIAL = ("reciprocal", "reciprocal_square_root", "square_root", "divide", "fast_divide", "logarithm", "exponential", "sine_cosine")


def part_of(kernel, parts, after=1):
    return int(hashlib.sha1(kernel.encode()).hexdigest(), 16) // after % parts


def launches():
    def lines(name):
        with open(os.path.join(HERE, name)) as text:
            return [json.loads(line) for line in text]

    result, times = [], lines("times.jsonl")
    for counted in sorted(lines("times_counted.jsonl"), key=lambda one: one["launch"]):
        time = times[counted["launch"]]
        assert (counted["kernel"], counted["label"]) == (time["kernel"], time["label"])
        if part_of(counted["kernel"], 5) < 2 or counted["kernel"] in LEFT_OUT:
            continue
        result.append(counted["statistics"] | {"kernel": counted["kernel"], "label": counted["label"],
                                               "measured": time["counters"]["gpu__time_duration.sum"] * CLOCK_GHZ})
    return result


def bounds(s, p):
    """Of a launch, cycles: what each unit needs, and what a warp waits for."""
    of = lambda name: s.get(name, 0)
    warps_of_block = np.ceil(of("threads_per_block") / 32)
    blocks = np.ceil(of("blocks") / MULTIPROCESSORS)
    warps, all_warps = blocks * warps_of_block, of("blocks") * warps_of_block
    rounded, special = of("divide") + of("square_root"), sum(of(name) for name in SPECIAL)
    machine = (of("instructions") + p["division_instructions"] * rounded + p["special_instructions"] * (special - rounded)
               + p["integer_division_instructions"] * of("integer_divisions"))
    hits = of("l1_hit_ratio")
    read = all_warps * of("load_transactions") * (1 - hits)
    written = all_warps * (s.get("merged_store_transactions", of("store_transactions")) + of("atomic_transactions"))
    most = s.get("argument_bytes", 32 * (read + written))
    memory_read = min(32 * read * (1 - of("l2_hit_ratio")), most if "l2_hit_ratio" not in s else np.inf)
    memory_written = max(0, min(32 * written, most) - p["kept_bytes"])
    cold = min(1, memory_read / (32 * read)) if read else 0
    wait = hits * p["l1_latency"] + (1 - hits) * (cold * p["memory_latency"] + (1 - cold) * p["l2_latency"])
    alone = s["issue_chain"] * p["issue_chain"] + of("load_waits") * wait + of("synchronizations") * p["barrier_latency"]
    return {
        "issue": warps * machine / p["issue"],
        "units": warps * max((special + of("wide_conversions")) / p["special_functions"], of("double_precision") / p["double_precision"]),
        "wavefronts": warps * of("l1_wavefronts") / p["wavefronts"],
        "L2": read / p["l2_read"] + written / p["l2_write"],
        "memory": (memory_read + memory_written) / p["memory_bytes"],
        "launch": of("blocks") * p["block_cycles"] + all_warps * p["warp_cycles"],
        "latency": max(1, blocks / of("resident_blocks")) * alone,
        "atomics": max(of("half_line_updates") * p["atomic_half_line"], of("word_float_updates") * p["float_atomic_word"],
                       of("kilobyte_updates") * p["atomic_kilobyte"]),
    }


def predict(s, p):
    cycles = np.array(list(bounds(s, p).values()))
    most = cycles.max()
    return p["overhead"] + most * ((cycles / most) ** p["overlap"]).sum() ** (1 / p["overlap"])


def fit(rows):
    """Least squares of the logarithms; each kernel counts as the root of its launches; soft beyond 20 %; a faint pull to the first guess."""
    start, least, most = (np.log([FITTED[name][i] for name in FITTED]) for i in range(3))
    launches_of = {}
    for s in rows:
        launches_of[s["kernel"]] = launches_of.get(s["kernel"], 0) + 1
    weight = np.array([launches_of[s["kernel"]] ** -0.5 for s in rows])
    values = lambda x: KNOWN | {name: float(np.exp(v)) for name, v in zip(FITTED, x)}

    def residuals(x):
        p = values(x)
        return np.concatenate([weight * [np.log(predict(s, p) / s["measured"]) for s in rows], 0.02 * (x - start)])

    return values(least_squares(residuals, start, bounds=(least, most), loss="soft_l1", f_scale=0.2).x)


def rounded(p):
    return {name: float(f"{value:.3g}") for name, value in p.items()}


def ratios(rows, p):
    return np.array([predict(s, p) / s["measured"] for s in rows])


def main():
    rows = launches()
    p = rounded(fit(rows))
    print("[throughput_latency]")
    for name in p:
        print(f"{name} = {p[name]:.10g}")
    off = ratios(rows, p)
    order = spearmanr([predict(s, p) for s in rows], [s["measured"] for s in rows])[0]
    print(f"# {len(rows)} launches of {len({s['kernel'] for s in rows})} kernels: off by {100 * np.mean(abs(off - 1)):.1f} % on average, Spearman {order:.3f}")
    if "--rows" in sys.argv:
        for s, r in sorted(zip(rows, off), key=lambda one: -abs(np.log(one[1]))):
            print(f"{s['kernel'] + ' ' + s['label']:44.44} {r:5.2f} {s['measured']:9.0f} ", " ".join(f"{k} {v / s['measured']:.2f}" for k, v in bounds(s, p).items()))
    if "--folds" in sys.argv:
        folds = [part_of(s["kernel"], 6, 5) for s in rows]
        errors = []
        for fold in range(6):
            rest = fit([s for s, f in zip(rows, folds) if f != fold])
            errors += list(abs(ratios([s for s, f in zip(rows, folds) if f == fold], rest) - 1))
        print(f"# six parts by kernel, each predicted from the other five: off by {100 * np.mean(errors):.1f} % on average")


if __name__ == "__main__":
    main()
