# SPDX-License-Identifier: Apache-2.0
"""Threads, signals and the end of the interpreter: nothing waits for ever, and nothing ends the process."""

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import warplens as wl
from conftest import SOURCE

PRELUDE = f"""
import os, signal, sys, threading, time
import numpy as np, warplens as wl
kernels = wl.load({str(SOURCE / 'tests/python/kernels.ptx')!r})
def for_ever():
    kernels.count_for_ever[1, 1](np.zeros(1, np.uint64))
"""


def run(script, timeout=60):
    return subprocess.run([sys.executable, "-c", PRELUDE + script], capture_output=True, text=True, timeout=timeout)


def test_the_first_launches_of_a_process_are_those_of_threads():
    done = run("""
sys.setswitchinterval(1e-6)
launch, go = kernels.nothing[1, 1], False
def launch_at_once():
    while not go:
        pass
    launch()
threads = [threading.Thread(target=launch_at_once) for _ in range(8)]
for t in threads: t.start()
go = True
for t in threads: t.join()
print("fine")
""")
    assert done.stdout == "fine\n", done.stderr


@pytest.mark.parametrize("launch", [
    "for_ever()",
    "kernels.count_for_ever[1, 1](np.zeros(1, np.uint64), progress=lambda done, all: None)",
    "[kernels.nothing[1, 1]() for _ in iter(int, 1)]",
    "[kernels.nothing[1, 1](rules=[lambda b: np.ones(len(b), int)]) for _ in iter(int, 1)]",
], ids=["long", "progress", "many", "rules"])
def test_the_interpreter_ends_while_a_daemon_thread_launches(launch):
    done = run(f"""
threading.Thread(target=lambda: {launch}, daemon=True).start()
time.sleep(0.3)
print("end")
""")
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


def test_an_interrupt_stops_the_launches_of_other_threads():
    done = run("""
stopped = threading.Semaphore(0)
def other():
    try:
        for_ever()
    except wl.Trap:
        stopped.release()
for _ in range(8):  # so many that some do not run at the moment of the signal
    threading.Thread(target=other, daemon=True).start()
time.sleep(0.2)
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    for_ever()
except KeyboardInterrupt:
    assert all(stopped.acquire(timeout=10) for _ in range(8))
    kernels.nothing[1, 1]()
    print("stopped")
""")
    assert done.stdout == "stopped\n", done.stderr


def test_rules_and_analyzers_in_several_threads(kernels):
    results = {}

    def launch(number):
        for _ in range(5):
            rule = wl.rule(lambda batch: np.full(len(batch), number), name=f"rule{number}")
            report = kernels.scale[4, 256](np.ones(1024, np.float32), 2.0, 1024, rules=[rule], trace=True)
            assert len(report.trace.accesses(0)) >= 64
            results[number] = report.metrics[f"rule.rule{number}.transactions"]

    threads = [threading.Thread(target=launch, args=(n,)) for n in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == {n: 64 * n for n in range(1, 5)}


def test_reading_a_trace_does_not_hold_the_lock(kernels, tmp_path):
    n = 1 << 22
    file = tmp_path / "t.h5"
    kernels.scale[n // 256, 256](wl.zeros(n), 2.0, n, trace=file, analyze=False)
    trace = wl.Trace(file)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.perf_counter()
    while time.perf_counter() < begin + 0.3:
        core = trace._core.addresses(0, [], (0, 1 << 63), (0, 1 << 31), n)
    end = time.perf_counter()
    done.set()
    thread.join()
    during = [t for t in ticks if begin < t < end]
    assert len(core) > 0 and max(np.diff(during)) < 0.05 and len(during) > 20


def test_a_trace_is_closed_while_threads_read_it(kernels, tmp_path):
    n = 1 << 20
    kernels.scale[n // 256, 256](wl.zeros(n), 2.0, n, trace=tmp_path / "t.h5", analyze=False)
    trace = wl.Trace(tmp_path / "t.h5")
    counts = []

    def read():
        try:
            while True:
                counts.append(len(trace.accesses()))
        except wl.ClosedError:
            pass

    threads = [threading.Thread(target=read) for _ in range(3)]
    for t in threads:
        t.start()
    time.sleep(0.1)
    trace.close()
    for t in threads:
        t.join()
    assert set(counts) == {2 * n // 32}


def test_a_stream_that_is_closed(kernels):
    stream = wl.Stream()
    pending = kernels.nothing[1, 1](stream=stream)
    stream.close()
    assert repr(stream) == "<stream, closed>" and repr(pending) == "<pending report, done>"
    with pytest.raises(wl.ClosedError, match="the stream is closed"):
        kernels.nothing[1, 1](stream=stream)
