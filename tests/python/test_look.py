# SPDX-License-Identifier: Apache-2.0
"""Reports, tables, traces, and what is known without a launch."""

import json

import numpy as np
import pytest

import warplens as wl


@pytest.fixture(scope="module")
def strided(kernels):
    """32 lanes of a warp that load 128 bytes apart."""
    return kernels.strided[4, 64](np.zeros(256 * 32, np.float32), np.zeros(256, np.float32), 32, per_block=True,
                                  device="c1060", trace=True)


def test_metrics(strided):
    assert strided.metrics["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] == 8
    assert strided.metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 8 * 32
    assert strided.metrics["sectors_per_request"] == 32
    assert strided.metrics["findings"] == len(strided.findings)
    assert dict(strided.metrics)["cta_launched"] == 4
    assert "cta_launched" in strided.metrics.to_table()["name"]
    with pytest.raises(KeyError, match="did you mean 'cta_launched'"):
        strided.metrics["cta_launch"]


def test_predictions(strided):
    dasgupta = strided.predictions["dasgupta"]
    assert dasgupta.milliseconds > 0 and dasgupta.bound in ("memory", "compute", "latency")
    assert dasgupta.terms["MWP"] == dasgupta.data["mwp"]
    assert set(dasgupta.to_table().columns) == {"name", "value", "unit"}
    assert strided.prediction.trusted
    assert "ms" in repr(dasgupta)


def test_findings(strided):
    finding = strided.findings[0]
    assert finding.rule == "UncoalescedGlobalAccess" and finding.severity == "warning"
    assert finding.source == "kernels.cu:79" or finding.source.startswith("kernels.cu:")
    assert finding.remedy and finding.message in repr(finding)


def test_tables(strided):
    instructions = strided.instructions
    loads = [row for row in instructions if row["ptx"].startswith("ld.global")]
    assert len(loads) == 1 and loads[0]["pattern"] == "stride 128 bytes"
    lines = strided.lines
    total = instructions["smsp__inst_executed.sum"].sum()
    assert lines["smsp__inst_executed.sum"].sum() == total == strided.metrics["smsp__inst_executed.sum"]
    assert all(w.startswith("kernels.cu:") for w in lines["line"])
    blocks = strided.blocks
    assert len(blocks) == 4 and list(blocks["x"]) == [0, 1, 2, 3]
    column = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
    assert list(blocks[column]) == [64] * 4
    assert blocks.sort("x", descending=True)[0]["x"] == 3
    assert blocks.select("x").columns == ["x"]


def test_tables_become_what_others_want(strided):
    pandas = pytest.importorskip("pandas")
    frame = strided.lines.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == len(strided.lines)
    rows = strided.lines.to_dicts()
    assert json.loads(json.dumps(rows)) == rows  # plain Python
    assert "<table>" in strided.lines._repr_html_()
    assert repr(strided.lines).splitlines()[0].startswith("line")


def test_tables_for_arrow(strided):
    pytest.importorskip("pyarrow")
    table = strided.instructions.to_arrow()
    assert table.num_rows == len(strided.instructions) and table.column("ptx")[0].as_py().startswith("ld.param")


def test_tables_without_other_packages(strided, monkeypatch):
    import sys

    for name, convert in (("pandas", strided.lines.to_pandas), ("pyarrow", strided.lines.to_arrow)):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ModuleNotFoundError, match=r"to_dicts\(\)"):
            convert()
    assert strided.lines.to_dicts()[0]["line"].startswith("kernels.cu")


def test_missing_numbers_of_a_table():
    table = wl.Table.from_rows([{"a": 1, "b": 0.5}, {"c": "x"}])
    assert table["a"].dtype.kind == "i" and list(table["a"]) == [1, 0]
    assert np.isnan(table["b"][1])
    assert list(table["c"]) == [None, "x"]
    assert len(wl.Table({})) == 0
    with pytest.raises(IndexError):
        table[2]


def test_text_html_and_files(strided, tmp_path):
    assert repr(strided).startswith("strided on Tesla C1060")
    assert "Coalescing" in strided.text("memory") or "requests" in strided.text("memory")
    assert "gld_request" in strided.text(counters=True)
    with pytest.raises(wl.InputError, match="nosuch"):
        strided.text("nosuch")
    page = strided._repr_html_()
    assert page.startswith("<iframe srcdoc=") or page.startswith("<pre>")
    for suffix, begin in (("json", "{"), ("csv", '"ID"'), ("sarif", "{"), ("xml", "<?xml"), ("txt", "strided")):
        strided.save(tmp_path / f"r.{suffix}")
        assert (tmp_path / f"r.{suffix}").read_text().startswith(begin)
    with pytest.raises(wl.InputError, match="no such format"):
        strided.save(tmp_path / "r.pdf")


def test_json_has_recorded_accesses_on_request(strided):
    assert '"accesses":' not in strided.to_json()
    assert '"accesses":' in strided.to_json(accesses=True)


def test_trace(strided):
    trace = strided.trace
    assert trace.launches[0]["kernel"] == "_Z7stridedPKfPfi" and trace.launches[0]["complete"]
    load = next(r for r in trace.instructions() if r["ptx"].startswith("ld.global"))
    loads = trace.accesses("strided", load["line"])
    assert len(loads) == 8
    np.testing.assert_array_equal(loads["block"], [0, 0, 1, 1, 2, 2, 3, 3])
    np.testing.assert_array_equal(loads["stride"], [128] * 8)
    np.testing.assert_array_equal(loads.addresses - loads["base"][:, None], [128 * np.arange(32)] * 8)
    assert loads.active.all()
    np.testing.assert_array_equal(wl.distinct(loads.addresses // 32, loads.active), [32] * 8)
    table = loads.to_table()
    assert table[0]["space"] == "global" and table[0]["kind"] == "load" and table[0]["shape"] == "strided"
    by_source = trace.accesses(0, load["source"])
    assert set(by_source["line"]) >= {load["line"]}
    assert len(trace.accesses(0, load["line"], blocks=(1, 2), warps=0)) == 2
    assert len(trace.accesses(0, [load["line"]], blocks=3)) == 2
    assert trace.analyze().to_dict() == strided_without_blocks(strided)
    assert trace.analyze(device="gtx480").device == "gtx480"


def strided_without_blocks(report):
    data = json.loads(report.to_json())
    data["launches"][0]["blocks"] = []
    return data


def test_irregular_accesses_and_control_in_a_trace(kernels, tmp_path):
    file = tmp_path / "t.h5"
    kernels.reverse[2, 40](np.zeros(40, np.int32), shared=160, trace=file)
    with wl.Trace(file) as trace:
        assert len(trace.barriers()) == 4
        shared = trace.accesses()
        assert set(shared.to_table()["space"]) >= {"global", "shared"}
        part = shared.active.sum(axis=1)
        assert set(part) == {32, 8}
        assert (shared.addresses[~shared.active] == 0).all()
        assert len(trace.branches()) == 0
        with pytest.raises(wl.InputError, match="launch 1 does not exist"):
            trace.accesses(1)
        with pytest.raises(wl.InputError, match="no launch of a kernel 'nosuch'"):
            trace.accesses("nosuch")
        with pytest.raises(wl.InputError, match="no instruction"):
            trace.accesses(0, "nosuch.cu:1")
    assert len(shared) == 16 and trace.closed
    with pytest.raises(wl.ClosedError):
        trace.accesses()


def test_a_damaged_trace(tmp_path):
    file = tmp_path / "t.h5"
    file.write_bytes(b"not HDF5")
    with pytest.raises(wl.InputError, match="t.h5"):
        wl.Trace(file)


def test_reports_without_a_trace(kernels):
    with pytest.raises(wl.InputError, match="has no trace"):
        kernels.nothing[1, 1]().trace


def test_occupancy():
    o = wl.occupancy("1.2", 512, 17)
    assert (o["blocks"], o["warps"], o["ratio"], o["bound_by"]) == (1, 16, 0.5, ["registers"])
    curve = wl.occupancy_curve("h200", "registers", threads=256)
    assert list(curve["registers"]) == list(range(1, 256))
    assert curve["ratio"].max() == 1 and (np.diff(curve["ratio"]) <= 0).all()
    assert wl.occupancy_curve("c1060", "shared")[16]["blocks"] == 1
    with pytest.raises(wl.ArgumentError, match="expected one of threads, registers, shared"):
        wl.occupancy_curve("h200", "warps")
    with pytest.raises(wl.ArgumentError):
        wl.occupancy("1.2", 0)


def test_catalogues():
    devices = wl.devices()
    assert "c1060" in devices["id"]
    assert wl.device("c1060").multiprocessors == 30
    assert wl.Device(wl.device("c1060").toml).name == "Tesla C1060"
    with pytest.raises(AttributeError, match="it has compute_capability"):
        wl.device("c1060").nosuch
    assert "1.2" in wl.rules()["name"]
    assert "dasgupta" in wl.models()["id"]
    assert "cta_launched" in wl.metrics()["name"]
    assert "caches" in wl.analyzers()["id"]
    assert "threads_per_block" in wl.statistic_names()["name"]


def test_predict_and_calibrate(strided):
    again = wl.predict(strided.statistics, "c1060", ["dasgupta"])
    assert again["dasgupta"].milliseconds == strided.predictions["dasgupta"].milliseconds
    with pytest.raises(wl.ArgumentError, match="no such statistic: 'thread_per_block'"):
        wl.predict({"thread_per_block": 3}, "c1060")
    # A run of instructions alone tunes the clock: half the time is twice the clock.
    counts = {"threads_per_block": 256, "blocks": 30, "resident_blocks": 1, "instructions": 10000, "global_requests": 0}
    for name in ("transactions_32", "transactions_64", "transactions_128", "coalesced_requests", "uncoalesced_requests"):
        counts[name] = 0
    time = wl.predict(counts, "c1060", ["dasgupta"])["dasgupta"].milliseconds
    device, steps = wl.calibrate("c1060", [(counts, time / 2)])
    assert wl.predict(counts, device, ["dasgupta"])["dasgupta"].milliseconds == pytest.approx(time / 2)
    assert steps[0]["name"] == "clock_ghz" and steps[0]["runs"] == 1


def test_read_sweep(samples, tmp_path):
    record = ('{"run":"%032x","scope":"%032x","inputs":"%032x","state":"done","warplens":"' + wl.__version__ + '",'
              '"settings":{"launch":"l.toml","block":"%d"},"failure":null,"kernel":"k","device":"d","device_id":"d",'
              '"grid":[1,1,1],"block":[1,1,1],"model":"m","bound":"b","mwp_bound":"","occupancy_bound":"",'
              '"metrics":{"milliseconds":%d},"statistics":{}')

    def line(run, block, milliseconds):
        text = record % (run, 1, 1, block, milliseconds)
        digest = 0x6C62272E07BB014262B821756295C58D
        for byte in text.encode():  # FNV-1a
            digest = (digest ^ byte) * 0x1000000000000000000013B % 2**128
        return text + ',"check":"%032x"}\n' % digest

    file = tmp_path / "rows.jsonl"
    file.write_text(line(1, 128, 3) + line(2, 32, 4) + line(2, 32, 5) + line(3, 64, 6)[:-9])
    table = wl.read_sweep(file)
    assert list(table["block"]) == [32, 128]
    assert list(table["milliseconds"]) == [5, 3]
    file.write_text(line(1, 128, 3) + line(2, 32, 4).replace("4}", "7}"))
    with pytest.warns(UserWarning, match="1 incomplete line is left out"):
        assert list(wl.read_sweep(file)["milliseconds"]) == [3]
    with pytest.raises(wl.InputError, match="not a table of a sweep"):
        wl.read_sweep(samples / "saxpy" / "launch.toml")
    with pytest.raises(wl.ArgumentError):
        wl.read_sweep()


def test_sweep(samples):
    calls = []
    table = wl.sweep(samples / "saxpy", block=["64", (128,)], device=["c1060", "gtx480"],
                     progress=lambda done, all: calls.append((done, all)))
    assert len(table) == 4
    assert list(table["device"]) == ["c1060", "gtx480"] * 2
    assert (table["milliseconds"] > 0).all()
    assert list(table["block"]) == [64, 64, 128, 128]
    assert calls[-1] == (4, 4)
    failed = wl.sweep(samples / "transpose", block=["16x16"])
    assert "invalid __shared__ write" in failed[0]["failure"]
    with pytest.raises(wl.ArgumentError, match="expected a list of values"):
        wl.sweep(samples / "transpose", block="16x16")
    with pytest.raises(wl.InputError):
        wl.sweep(samples / "transpose", {"nosuch.key": [1]})


def test_reports_with_folded_launches_are_read(strided, tmp_path):
    data = json.loads(strided.to_json())
    launch = data["launches"][0]
    own = {key: launch[key] for key in ("kernel", "grid", "block", "printed", "cluster", "launched_by")}
    data["launches"].append({**own, "same_as": 0})  # as warplens exec --json-fold writes it
    folded, whole = tmp_path / "folded.json", tmp_path / "whole.json"
    folded.write_text(json.dumps(data))
    data["launches"][1] = launch
    whole.write_text(json.dumps(data))
    predicted = wl.predict(folded, strided.device)
    assert len(predicted) == 2
    assert [repr(p) for p in predicted] == [repr(p) for p in wl.predict(whole, strided.device)]
    assert len(wl.compare(folded, whole).launches) == 2


def test_compare(kernels, tmp_path):
    reports = [kernels.strided[4, 64](np.zeros(256 * s, np.float32), np.zeros(256, np.float32), s, device="c1060")
               for s in (1, 32)]
    comparison = wl.compare(*reports)
    assert len(comparison.metrics) > 0 and len(comparison.factors) > 0
    reports[1].save(tmp_path / "b.json")
    again = wl.compare(reports[0], tmp_path / "b.json")
    assert list(again.factors["milliseconds"]) == list(comparison.factors["milliseconds"])
    with pytest.raises(wl.ArgumentError, match="two reports"):
        wl.compare(reports[0])


def test_parts_of_a_table(strided):
    table = strided.blocks
    assert [row["x"] for row in table[1:3]] == [1, 2]
    assert list(table[table["x"] > 1]["x"]) == [2, 3]
    assert table[["x", "y"]].columns == ["x", "y"]
    with pytest.raises(KeyError, match="no column 'z2'; did you mean 'z'"):
        table["z2"]
    sparse = wl.Table.from_rows([{"a": "y"}, {"a": None}, {"a": "x"}])
    assert list(sparse.sort("a")["a"]) == ["x", "y", None]
    assert list(sparse.sort("a", descending=True)["a"]) == ["y", "x", None]


def test_what_is_missing_is_explained(kernels, strided):
    with pytest.raises(KeyError, match="no prediction by 'critical-path': there are hong-kim, dasgupta"):
        strided.predictions["critical-path"]
    with pytest.raises(KeyError, match="not analysed"):
        kernels.nothing[1, 1](analyze=False).metrics["cta_launched"]
    with pytest.raises(wl.Trap) as caught:
        kernels.write_at[1, 1](np.zeros(1, np.float32), 4)
    first = caught.value.diagnostics[0]
    assert first["severity"] == "error" and first["line"] > 0 and first["file"].endswith("kernels.ptx")


def test_names_that_are_one_or_several(strided, samples, tmp_path):
    assert strided.text(["memory"]) == strided.text("memory")
    strided.save(tmp_path / "r.XML", "sectors_per_request>8")
    assert "<failure" in (tmp_path / "r.XML").read_text()
    assert wl.run(samples / "saxpy", rules="1.2", analyzers="caches", device=wl.device("c1060")).reports[0].device == "c1060"
    assert list(wl.sweep(samples / "saxpy", device=[wl.device("c1060"), "gtx480"])["device"]) == ["c1060", "gtx480"]
    assert strided.trace.analyze(rules="1.2").metrics["rule.1.2.transactions"] > 0


@pytest.mark.parametrize("use, pattern", [
    (lambda r: wl.occupancy("h200", 256.5), "threads: expected an integer"),
    (lambda r: wl.occupancy_curve("h200", "registers", threads=5000), "threads: expected an integer from 1 to 1024"),
    (lambda r: wl.occupancy_curve("h200", "shared", registers=-1), "registers: expected an integer from 0"),
    (lambda r: wl.predict(3, "c1060"), "statistics: expected counts by name"),
    (lambda r: wl.predict({"blocks": "x"}, "c1060"), "expected a number as 'blocks'"),
    (lambda r: wl.calibrate("c1060", [3]), "run 0: expected statistics and milliseconds"),
    (lambda r: wl.sweep("nosuch", block=64), "block: expected a list of values"),
    (lambda r: wl.sweep("nosuch", {"block": [1]}, block=[1]), "block: given twice"),
    (lambda r: wl.sweep("nosuch", block=[1], model="x"), "model: expected one of hong-kim"),
    (lambda r: wl.run("nosuch", 3), "settings: expected a dictionary"),
    (lambda r: wl.compare(r, 3), "report 1: expected the name of a file"),
    (lambda r: wl.Device(3), "device: expected the name of a file"),
    (lambda r: r.trace.accesses(0.5), "launch: expected an integer"),
    (lambda r: r.trace.accesses(0, -1), "line: expected an integer from 0"),
    (lambda r: r.trace.accesses(0, blocks=(1, 2, 3)), "blocks: expected a number, or the first and the last"),
    (lambda r: r.trace.accesses(0, warps=1 << 40), "warps: expected an integer from 0"),
])
def test_values_that_do_not_fit(strided, use, pattern):
    with pytest.raises(wl.ArgumentError, match=pattern):
        use(strided)


def test_files_that_cannot_be_used(strided, tmp_path):
    for use in (lambda: strided.save("/nosuch/r.html"), lambda: wl.compare(strided, "/nosuch.json")):
        with pytest.raises(wl.InputError, match="No such file"):
            use()
    (tmp_path / "r.json").write_bytes(b"\xff")
    with pytest.raises(wl.InputError, match="is not a text of UTF-8"):
        wl.compare(strided, tmp_path / "r.json")


def test_devices_are_values():
    import copy
    import pickle

    device = wl.device("c1060")
    assert device == wl.device("c1060") != wl.device("k20") and copy.deepcopy(device) == device
    assert pickle.loads(pickle.dumps(device)) == device and "multiprocessors" in dir(device)


def test_reports_are_statistics_for_models(strided):
    assert wl.predict(strided, "c1060")["dasgupta"].milliseconds == strided.predictions["dasgupta"].milliseconds
    assert list(wl.predict(strided, "c1060", wl.model(lambda s, d: s.blocks, name="mine")).items())[0][1].milliseconds == 4
    both = wl.predict(strided, "c1060", ["dasgupta", lambda s, d: {"milliseconds": 2, "terms": {"a": (1, "b")}}])
    assert list(both) == ["dasgupta", "<lambda>"] and both["<lambda>"].terms == {"a": 1}
    device, _ = wl.calibrate("c1060", [(strided, 0.01)])
    assert device.id == "c1060"


def test_texts_of_objects(strided):
    assert repr(strided.trace).endswith(": _Z7stridedPKfPfi>") and len(strided.trace) == 1
    assert repr(strided.launches[0]) == "<launch of _Z7stridedPKfPfi: grid (4, 1, 1), block (64, 1, 1)>"
    assert repr(wl.compare(strided, strided)) == "no differences"
    assert "<table>" in strided.metrics._repr_html_() and "<table>" in strided.trace.accesses()._repr_html_()


def test_a_trace_is_read_by_kernel_lines_and_ranges(kernels, strided):
    trace = strided.trace
    load = next(r for r in trace.instructions() if r["ptx"].startswith("ld.global"))
    assert len(trace.accesses(kernels.strided, [load["source"]], blocks=range(1, 3))) >= 4
    with pytest.raises(KeyError, match="no field 'x'; the fields are block"):
        trace.accesses()["x"]
