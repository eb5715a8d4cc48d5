# SPDX-License-Identifier: Apache-2.0
"""The model critical-path in Python, to try changes of its form in seconds: no parameter is fitted.

    python3 tests/data/hardware/ask/critical_path.py [--rows] [--judge]        needs Python 3.11

Reads the counts in public_programs.jsonl and [critical_path] of model/devices/h200.toml and h100.toml. Prints the errors for the examined programs; --judge also
those for the others; --rows the terms of each examined launch as shares of its measured time.
"""
import json
import math
import os
import sys
import tomllib

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
DEVICES = os.path.join(HERE, "..", "..", "..", "model", "devices")
SPECIAL = ("reciprocal", "reciprocal_square_root", "square_root", "divide", "fast_divide", "logarithm", "exponential", "sine_cosine")


UNITS = ("issue", "units", "wavefronts", "port", "L2", "memory", "constants")
ALONE = ("launch", "warp")


def bounds(s, p, multiprocessors, constant_passes):
    of = lambda name: s.get(name, 0)
    warps_of_block = math.ceil(of("threads_per_block") / 32)
    blocks = math.ceil(of("blocks") / multiprocessors)
    warps, all_warps = blocks * warps_of_block, of("blocks") * warps_of_block
    special = sum(of(name) for name in SPECIAL) + of("wide_conversions") + of("special_operations")
    transactions = sum(of(f"transactions_{n}") for n in (32, 64, 128))
    sectors = sum(of(f"transactions_{n}") * n for n in (32, 64, 128)) / (32 * transactions) if transactions else 0
    read = all_warps * sectors * of("load_transactions") * (1 - of("l1_hit_ratio"))
    updated = all_warps * of("atomic_transactions")
    stored = all_warps * sectors * s.get("merged_store_transactions", of("store_transactions"))
    written = stored + updated
    scattered = min(1, of("uncoalesced_requests") * of("uncoalesced_transactions") / transactions) if transactions else 0
    if "lone_sectors" in s and scattered:  # device memory reads pairs of sectors
        scattered = min(scattered, of("lone_sectors") / (sectors * transactions))
    each = lambda whole, single: scattered / single + (1 - scattered) / whole
    most = s.get("argument_bytes", 32 * (read + written))
    most_read = most_written = most
    if "only_loaded_sectors" in s:
        most_read = min(most, 32 * (s["only_loaded_sectors"] + s["written_sectors"]) * (1 + scattered))
        most_written = min(most, 32 * s["written_sectors"])
    exchanged = (read * each(p["port_read"], p["port_read_scattered"]) + stored * each(p["port_write"], p["port_write_scattered"])
                 + updated * each(p["port_write"], p["port_update_scattered"]))
    missed = 32 * read * (1 + scattered) * (1 - of("l2_hit_ratio"))
    bytes_read, bytes_written = missed if "l2_hit_ratio" in s else min(missed, most_read), min(32 * written, most_written)
    host = of("host_bytes") / s["argument_bytes"] if "argument_bytes" in s else 0
    host_read, host_written = host * bytes_read, host * bytes_written
    memory_read, memory_written = (1 - host) * bytes_read, max(0, (1 - host) * bytes_written - p["kept_bytes"])
    from_host = min(1, host_read / (32 * read)) if read else 0
    rounds = max(1, blocks / of("resident_blocks"))
    resident = min(of("blocks"), multiprocessors * of("resident_blocks")) * of("threads_per_block")
    waiting = min(1, resident / max(1, of("global_swaps")))
    cold = memory_read / (32 * read) if read else 0
    cold = min(1 - from_host, cold + (s.get("first_wave_from_memory", cold) - cold) / rounds)
    farther = (p["latency_host"] - p["latency_l2"]) / (p["latency_memory"] - p["latency_l2"])
    along = lambda path: s[path + "path_l2"] + (cold + from_host * farther) * (s[path + "path_memory"] - s[path + "path_l2"])
    alone = along("")
    return {
        "issue": warps * s["machine_instructions"] / p["issue"],
        "units": warps * max(special / p["special_functions"], of("double_operations") / p["double_precision"], of("alu_operations") / p["alu"], of("integer_multiply") / p["integer_multiply"]),
        "wavefronts": warps * of("l1_wavefronts") / p["wavefronts"],
        "port": blocks / of("blocks") * exchanged,
        "L2": read * each(p["l2_read"], p["l2_read_scattered"]) + written * each(p["l2_write"], p["l2_write_scattered"]),
        "memory": memory_read * each(p["memory_read"], p["memory_scattered"]) + memory_written * each(p["memory_write"], p["memory_scattered"] / 2),
        "constants": warps * of("constant_passes") / constant_passes,
        "launch": of("blocks") * p["block_cycles"] + all_warps * p["warp_cycles"],
        "warp": alone,
        "latency": of("swaps_of_other_warps") * p["global_swap"] + of("swap_pairs") * waiting * p["swap_pair"] + max(rounds * max(alone, along("longest_of_blocks_")) + (rounds - 1) * p["block_turnover"], max(alone, along("longest_warp_"))),
        "barriers": warps * of("synchronizations") * p["latency_barrier_of_warp"],
        "atomics": max(of("half_line_updates") * p["atomic_half_line"], of("word_float_updates") * p["float_atomic_word"], of("kilobyte_updates") * p["atomic_kilobyte"]),
        "host": math.hypot(host_read / p["host_read"], host_written / p["host_write"]),
        "swaps": rounds * of("shared_word_swaps") * p["shared_swap"],
    }


def predict(s, p, multiprocessors, constant_passes):
    terms = bounds(s, p, multiprocessors, constant_passes)
    cycles = [max(terms[name] for name in UNITS)] + [cycles for name, cycles in terms.items() if name not in UNITS + ALONE]
    most = max(cycles)
    first = p["first_access"] * (1 - 1 / s["blocks"]) if s["global_requests"] else 0
    joined = most * sum((c / most) ** p["overlap"] for c in cycles) ** (1 / p["overlap"])
    shared = p["constant_line"] if s["blocks"] <= multiprocessors / 2 else p["constant_line_of_two"]
    constants = s.get("constant_segments", 0) * p["constant_segment"] + s.get("constant_lines", 0) * p["constant_line"] + s.get("parameter_lines", 0) * shared
    last_ends = terms["launch"] + terms["warp"] if s["blocks"] > 1 else 0
    return p["overhead"] + first + constants + p["first_execution"] * s.get("executed_machine_instructions", s["executed_instructions"]) + max(joined, last_ends)


def ranks(values):
    return [sum(w < v for w in values) + (sum(w == v for w in values) - 1) / 2 for v in values]


def main():
    with open(os.path.join(HERE, "public_programs.jsonl")) as lines:
        launches = [json.loads(line) for line in lines]
    for device, time in (("h200", "nanoseconds"), ("h100", "nanoseconds_h100")):
        with open(os.path.join(DEVICES, device + ".toml"), "rb") as text:
            toml = tomllib.load(text)
        p, multiprocessors, constant_passes = toml["critical_path"], toml["multiprocessors"], toml["throughput"]["constant_passes"]
        for judges in (False, True) if "--judge" in sys.argv else (False,):
            rows = [(one, predict(one["statistics"], p, multiprocessors, constant_passes) / p["clock_ghz"], one[time]) for one in launches if one["judges"] == judges and time in one]
            errors = sorted(abs(predicted / measured - 1) for _, predicted, measured in rows)
            a, b, middle = ranks([r[1] for r in rows]), ranks([r[2] for r in rows]), (len(rows) - 1) / 2
            spearman = sum((x - middle) * (y - middle) for x, y in zip(a, b)) / math.sqrt(sum((x - middle) ** 2 for x in a) * sum((y - middle) ** 2 for y in b))
            print(f"{device}, {'judging' if judges else 'examined'}: {len(rows)} launches of {len({r[0]['program'] for r in rows})} programs,",
                  f"mean {100 * sum(errors) / len(errors):.1f} %, median {100 * errors[len(errors) // 2]:.1f} %, Spearman {spearman:.3f}")
            if "--rows" in sys.argv and not judges:
                for one, predicted, measured in sorted(rows, key=lambda r: r[1] / r[2]):
                    parts = " ".join(f"{k} {v / p['clock_ghz'] / measured:.2f}" for k, v in bounds(one["statistics"], p, multiprocessors, constant_passes).items())
                    print(f"{one['program'] + ' ' + one['kernel']:44.44} {predicted / measured:5.2f} {measured / 1e3:9.1f} us  {parts}")


if __name__ == "__main__":
    sys.exit(main())
