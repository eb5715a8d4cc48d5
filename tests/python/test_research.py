# SPDX-License-Identifier: Apache-2.0
"""Rules, models and analyzers of Python."""

import threading

import numpy as np
import pytest

import warplens as wl
from conftest import SOURCE

RULE = """
name = "segments-of-256"
title = "segments of 256 bytes"
description = "for a test"
rule = "global"
"""


def strided(kernels, stride, **options):
    return kernels.strided[4, 64](np.zeros(256 * 32, np.float32), np.zeros(256, np.float32), stride, device="c1060",
                                  **options)


@wl.rule
def sectors(batch):
    """Sectors of 32 bytes, which the metric of Nsight Compute counts, too."""
    return wl.distinct(batch.addresses // 32, batch.active)


@pytest.mark.parametrize("stride", [1, 2, 5, 8, 32])
def test_a_rule_that_counts_sectors_agrees_with_the_emulator(kernels, stride):
    report = strided(kernels, stride, rules=[sectors])
    assert report.metrics["rule.sectors.transactions"] == report.metrics["memory_l2_theoretical_sectors_global"]
    rows = [r for r in report.instructions if r["pattern"]]
    assert sum(r["rule.sectors.transactions"] for r in rows) == report.metrics["rule.sectors.transactions"]
    assert "rule.sectors.transactions" in report.to_json()


def test_a_rule_that_agrees_with_a_built_in_one(kernels, samples):
    module = wl.load(samples / "transpose/transpose.ptx")
    data = wl.zeros(64 * 64)
    kernel = next(k for k in module.kernels if k.source_name == "transpose_1d" or "transpose" in k.source_name)
    if len(kernel.parameters) != 4:
        pytest.skip("another sample")
    report = kernel[16, 256](data, wl.zeros(64 * 64), 64, 64, rules=[sectors, "6.0"])
    assert report.metrics["rule.sectors.transactions"] == report.metrics["rule.6.0.transactions"]


def test_rules_get_each_shape_once_with_its_number(kernels):
    rows = []

    @wl.rule(name="counted")
    def rule(batch):
        rows.extend(zip(batch.instruction.tolist(), batch.count.tolist()))
        return np.ones(len(batch), int)

    report = strided(kernels, 1, rules=rule)
    assert report.metrics["rule.counted.transactions"] == 16  # 8 loads and 8 stores
    assert len(rows) < 16


def test_bytes_of_a_rule(kernels):
    def moved(batch):
        n = wl.distinct(batch.addresses // 64, batch.active)
        return n, 64 * n

    report = strided(kernels, 1, rules=[moved])
    assert report.metrics["rule.moved.bytes_moved"] == 64 * report.metrics["rule.moved.transactions"] == 64 * 32


def test_rules_of_shared_memory(kernels):
    @wl.rule(space="shared")
    def words(batch):
        return wl.distinct(batch.addresses // 4, batch.active)

    report = kernels.reverse[1, 64](np.zeros(64, np.int32), shared=256, rules=words)
    assert report.metrics["rule.words.transactions"] == 4 * 32


def test_rules_as_data(kernels, samples):
    rule = wl.load_rule("2.x-l1")
    assert rule.kind == "coalescing" and rule.name == "2.x-l1" and rule.sentences
    report = strided(kernels, 32, rules=[rule, "1.0"])
    assert report.metrics["rule.2.x-l1.transactions"] == 8 * 32 + 8
    with pytest.raises(wl.InputError):
        wl.load_rule("name = \n")


@pytest.mark.parametrize("result, pattern", [
    (lambda b: np.ones(len(b)), "expected integers as transactions, found float64"),
    (lambda b: np.ones(len(b) + 1, int), "expected transactions of shape"),
    (lambda b: -np.ones(len(b), int), "negative transactions"),
    (lambda b: None, "expected transactions of shape"),
    (lambda b: (np.ones(len(b), int), 3), "expected bytes of shape"),
])
def test_rules_with_a_wrong_result(kernels, result, pattern):
    with pytest.raises(wl.ArgumentError, match=pattern):
        strided(kernels, 1, rules=[wl.rule(result, name="mine")])


def test_exceptions_of_a_rule(kernels):
    def fail(batch):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        strided(kernels, 1, rules=[fail])
    strided(kernels, 1)


def test_two_rules_of_one_name(kernels):
    with pytest.raises(wl.ArgumentError, match="two rules are named 'sectors'"):
        strided(kernels, 1, rules=[sectors, sectors])
    with pytest.raises(wl.ArgumentError, match="two rules are named '1.2'"):
        strided(kernels, 1, rules=["1.2", wl.rule(sectors.function, name="1.2")])


def test_models(kernels):
    @wl.model
    def bandwidth(s, device):
        assert s.nothing_of_the_kind if False else s.threads_per_block == 64
        return {"milliseconds": s["instructions"] / device.clock_ghz * 1e-6, "bound": "compute",
                "terms": {"clock": (device.clock_ghz, "GHz"), "n": s.instructions}}

    report = strided(kernels, 1, models=[bandwidth, wl.model(lambda s, d: 1.5, name="constant")])
    mine = report.predictions["bandwidth"]
    assert mine.milliseconds == pytest.approx(report.statistics.instructions / 1.296 * 1e-6, rel=0.02)
    assert mine.bound == "compute" and mine.terms["n"] == report.statistics.instructions and not mine.trusted
    assert report.predictions["constant"].milliseconds == 1.5
    assert "constant: 1.5 ms, 1.944e+06 shader cycles\n" in report.text("speed-of-light")  # it has no bound
    assert "bandwidth" in report.text("speed-of-light") and '"bandwidth"' in report.to_json()
    assert report.prediction.model != "bandwidth"


@pytest.mark.parametrize("result, pattern", [
    (-1.0, "no time"), (float("nan"), "no time"), ({"time": 1}, "expected milliseconds"),
])
def test_models_with_a_wrong_result(kernels, result, pattern):
    with pytest.raises(wl.ArgumentError, match=pattern):
        strided(kernels, 1, models=[wl.model(lambda s, d: result, name="mine")])


def test_statistics_have_only_known_names(kernels):
    statistics = strided(kernels, 1).statistics
    with pytest.raises(AttributeError, match="no such statistic"):
        statistics.instruction


class Order(wl.Analyzer):
    def begin(self):
        self.blocks, self.kinds, self.barriers_seen, self.threads = [], [], 0, set()

    def accesses(self, batch):
        self.threads.add(threading.get_ident())
        self.blocks += batch.block.tolist()
        self.kinds += np.where(batch.in_space("shared"), "shared", "other").tolist()
        assert (batch.count == 1).all()

    def barriers(self, batch):
        self.barriers_seen += len(batch)

    def end(self):
        return {"blocks": self.blocks, "shared": self.kinds.count("shared"), "barriers": self.barriers_seen}


def test_analyzers_see_events_in_order(kernels):
    report = kernels.reverse[5, 64](np.zeros(64, np.int32), shared=256, analyzers=[Order, "caches"])
    result = report.analyses["Order"]
    assert result["blocks"] == sorted(result["blocks"]) and set(result["blocks"]) == set(range(5))
    assert result["shared"] == 5 * 2 * 2 and result["barriers"] == 5 * 2
    assert any(name.startswith("l1tex__t_sector_hit") or "dram" in name or "lts" in name for name in report.metrics)


def test_analyzers_see_branches(kernels):
    class Branches(wl.Analyzer):
        def begin(self):
            self.taken = []

        def branches(self, batch):
            self.taken += batch.taken.tolist()

        def end(self):
            return self.taken

    report = kernels.scale[1, 64](np.zeros(40, np.float32), 2.0, 40, analyzers=Branches())
    assert report.analyses["Branches"] == [0, 0xffffff00]  # lanes beyond the end leave


def test_batches_of_many_events(kernels):
    class Count(wl.Analyzer):
        name = "count"

        def begin(self):
            self.batches = []

        def accesses(self, batch):
            self.batches.append(len(batch))

        def end(self):
            return self.batches

    n = 1 << 20
    report = kernels.scale[n // 256, 256](np.zeros(n, np.float32), 2.0, n, analyzers=[Count])
    batches = report.analyses["count"]
    requests = report.metrics["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"]
    assert len(batches) > 3 and sum(batches) >= 2 * requests


def test_analyzers_that_are_none(kernels):
    with pytest.raises(wl.ArgumentError, match="expected a name or a warplens.Analyzer"):
        strided(kernels, 1, analyzers=[3])
    with pytest.raises(wl.ArgumentError, match="need analyze=True"):
        strided(kernels, 1, analyzers=[Order], analyze=False)


def test_distinct():
    values = np.array([[1, 1, 2] + [9] * 29, [7] * 32], dtype=np.uint64)
    active = np.zeros((2, 32), bool)
    active[0, :3] = True
    active[1] = True
    np.testing.assert_array_equal(wl.distinct(values, active), [2, 1])


def test_functions_get_the_events_of_a_trace(kernels):
    class Control(wl.Analyzer):
        def begin(self):
            self.seen = [0, 0, 0]

        def accesses(self, batch):
            self.seen[0] += len(batch)

        def branches(self, batch):
            self.seen[1] += len(batch.taken)

        def barriers(self, batch):
            self.seen[2] += len(batch.number)

        def end(self):
            return self.seen

    launched = kernels.reverse[5, 64](np.zeros(64, np.int32), shared=256, trace=True, rules=[sectors], analyzers=[Control])
    model = wl.model(lambda s, d: s.blocks, name="mine")
    again = launched.trace.analyze(rules=[sectors, "1.2"], analyzers=[Control, "caches"], models=[model])
    assert again.metrics["rule.sectors.transactions"] == launched.metrics["rule.sectors.transactions"]
    assert again.metrics["rule.1.2.transactions"] > 0
    assert again.analyses == launched.analyses
    assert again.predictions["mine"].milliseconds == 5


def test_functions_where_they_cannot_be(samples):
    for use in (lambda: wl.run(samples / "saxpy", rules=[sectors]), lambda: wl.sweep(samples / "saxpy", rule=[sectors])):
        with pytest.raises(wl.ArgumentError, match="functions are for launches of a kernel, and for Trace.analyze"):
            use()


@pytest.mark.parametrize("make, pattern", [
    (lambda: wl.rule(3), "rule: expected a function"), (lambda: wl.model("x"), "model: expected a function"),
    (lambda: wl.rule(len, name=3), "name: expected a text"),
])
def test_what_is_no_function(make, pattern):
    with pytest.raises(wl.ArgumentError, match=pattern):
        make()


def test_more_transactions_than_an_access_has(kernels):
    with pytest.raises(wl.ArgumentError, match="found 9223372036854775808 transactions of one access"):
        strided(kernels, 1, rules=[wl.rule(lambda b: np.full(len(b), 1 << 63, np.uint64), name="mine")])


def test_rules_of_every_form(kernels):
    import functools

    def segments(size, batch):
        return wl.distinct(batch.addresses // size, batch.active)

    class Segments:
        def __call__(self, batch):
            return segments(64, batch)

    text = (SOURCE / "rules/coalescing_1.2.toml").read_text().replace('"1.2"', '"text"')
    report = strided(kernels, 1, rules=[functools.partial(segments, 128), Segments(), wl.rule(sectors), text])
    assert {f"rule.{n}.transactions" for n in ("segments", "Segments", "sectors", "text")} <= set(report.metrics)
