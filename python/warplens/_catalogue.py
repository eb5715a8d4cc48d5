# SPDX-License-Identifier: Apache-2.0
"""Devices, rules, models and metrics; predictions, occupancy, sweeps and comparisons without a module in hand."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from warplens import _core
from warplens._errors import ArgumentError
from warplens._report import Prediction, Report
from warplens._table import Table

_TYPES = {"u8": "u1", "b8": "u1", "s8": "i1", "u16": "<u2", "b16": "<u2", "s16": "<i2", "u32": "<u4", "b32": "<u4",
          "s32": "<i4", "u64": "<u8", "b64": "<u8", "s64": "<i8", "f16": "<f2", "f32": "<f4", "f64": "<f8"}


class Device:
    """A GPU as data: its properties are attributes, and ``toml`` is its file."""

    def __init__(self, device: str | os.PathLike[str] | _core.Device) -> None:
        """A built-in device by name, a file, or TOML as text of several lines."""
        if isinstance(device, _core.Device):
            self._core = device
        elif isinstance(device, str) and "\n" in device:
            self._core = _core.Device.parse(device)
        else:
            self._core = _core.Device.load(os.fspath(device))
        self._facts = self._core.facts

    def __getattr__(self, name: str) -> Any:
        if name != "_facts" and name in self._facts:
            return self._facts[name]
        raise AttributeError(f"a device has no {name!r}; it has {', '.join(self._facts)}" if name != "_facts" else name)

    @property
    def name(self) -> str:
        """For people: "Tesla C1060"."""
        return self._core.name

    @property
    def id(self) -> str:
        """For options: "c1060"."""
        return self._core.id

    @property
    def toml(self) -> str:
        """The text of a device file, with all parameters of the models."""
        return self._core.text()

    def __repr__(self) -> str:
        return f"<Device {self.name}, compute capability {self._facts['compute_capability']}>"


def device(name: str | os.PathLike[str]) -> Device:
    """A built-in device by name, or a device file."""
    return Device(name)


def devices() -> Table:
    """The built-in devices and their properties."""
    return Table.from_rows([{"id": d.id, "name": d.name, **d.facts} for d in _core.devices()], ("id", "name"))


def load_rule(rule: str | os.PathLike[str]) -> _core.Rule:
    """A built-in rule by name, a file, or TOML as text of several lines (docs/rules.md)."""
    if isinstance(rule, str) and "\n" in rule:
        return _core.Rule.parse(rule)
    return _core.Rule.find(os.fspath(rule))


def rules() -> Table:
    """The built-in rules, with what each says."""
    found = [_core.Rule.find(name) for name in _core.rule_names()]
    return Table.from_rows([{"name": r.name, "kind": r.kind, "says": "\n".join(r.sentences)} for r in found])


def models() -> Table:
    """The built-in models, and the statistics that each needs."""
    return Table.from_rows([{**m, "needs": ", ".join(m["needs"])} for m in _core.models()])


def metrics() -> Table:
    """All metrics with units and definitions. A name with {} stands for several."""
    return Table.from_rows(_core.metrics())


def analyzers() -> Table:
    """The analyzers, and whether each runs without a request."""
    return Table.from_rows(_core.analyzers())


def statistic_names() -> Table:
    """The counts that models use, with their units."""
    return Table.from_rows(_core.statistic_names())


def _capability(device: Any) -> str:
    """That of a device, or one that is written, such as "9.0"."""
    if isinstance(device, Device):
        return str(device.compute_capability)
    text = str(device)
    return text if text.replace(".", "", 1).isdigit() and "." in text else str(Device(text).compute_capability)


def occupancy(device: Any, threads: int, registers: int = 0, shared: int = 0) -> dict[str, Any]:
    """Resident blocks and warps of a multiprocessor.

    `device`: a device or a compute capability. `threads`: of a block; `registers`: of a thread, 0: no limit; `shared`:
    bytes of a block. Returns blocks, warps, ratio, the limit of each resource, and bound_by.
    """
    return _core.occupancy(_capability(device), threads, registers, shared)


def occupancy_curve(device: Any, vary: str, *, threads: int = 256, registers: int = 32, shared: int = 0) -> Table:
    """The occupancy as a function of `threads`, `registers` or `shared`; 0 where no block fits."""
    capability = _capability(device)
    limits = _core.limits(capability)
    values = {"threads": range(32, limits["threads_per_block"] + 1, 32),
              "registers": range(1, limits["registers_per_thread"] + 1),
              "shared": range(0, limits["shared_bytes_per_block"] + 1, 1024)}
    if vary not in values:
        raise ArgumentError(f"vary: expected one of {', '.join(values)}, found {vary!r}")
    rows = []
    for value in values[vary]:
        query = {"threads": threads, "registers": registers, "shared": shared, vary: value}
        try:
            o = _core.occupancy(capability, query["threads"], query["registers"], query["shared"])
            rows.append({vary: value, "blocks": o["blocks"], "warps": o["warps"], "ratio": o["ratio"],
                         "bound_by": ", ".join(o["bound_by"])})
        except ArgumentError:  # a block does not fit on a multiprocessor
            rows.append({vary: value, "blocks": 0, "warps": 0, "ratio": 0.0, "bound_by": "none fits"})
    return Table.from_rows(rows)


def predict(statistics: Mapping[str, float] | str | os.PathLike[str], device: Any,
            models: Sequence[str] = ()) -> dict[str, Prediction] | list[dict[str, Prediction]]:
    """What the models say without an emulation.

    `statistics`: counts by name (statistic_names()); or a file, as for ``warplens predict``: then the result is a list
    with one element for each launch in the file.
    """
    core = device._core if isinstance(device, Device) else device
    if isinstance(statistics, (str, os.PathLike)):
        launches = json.loads(_core.predict_file(os.fspath(statistics), core, list(models)))["launches"]
    else:
        counts = {name: float(value) for name, value in statistics.items()}
        launches = json.loads(_core.predict(counts, core, list(models)))["launches"]
    all_of = [{p["model"]: Prediction(p) for p in launch["predictions"]} for launch in launches]
    return all_of if isinstance(statistics, (str, os.PathLike)) else all_of[0]


def calibrate(device: Any, runs: Sequence[tuple[Mapping[str, float], float]]) -> tuple[Device, Table]:
    """Fits the parameters of Dasgupta's model to measured runs: pairs of statistics and milliseconds.

    Returns the tuned device, and a table of the parameters.
    """
    core = device._core if isinstance(device, Device) else device
    plain = [({n: float(v) for n, v in statistics.items()}, float(time)) for statistics, time in runs]
    tuned, steps, _ = _core.calibrate(core, plain)
    return Device(tuned), Table.from_rows(steps)


class Run:
    """The result of a launch file: reports, and buffers after the last launch."""

    #: One for each launch.
    reports: list[Report]
    #: Contents by name.
    buffers: dict[str, npt.NDArray[Any]]
    #: Buffers that differ from what the launch file expects.
    mismatches: list[str]

    def __init__(self, reports: list[Report], buffers: dict[str, npt.NDArray[Any]], mismatches: list[str]) -> None:
        self.reports = reports
        self.buffers = buffers
        self.mismatches = mismatches

    def __repr__(self) -> str:
        return "\n\n".join([*map(repr, self.reports), *self.mismatches])


def run(file: str | os.PathLike[str], settings: Mapping[str, Any] | None = None, *, device: str | None = None,
        rules: Sequence[Any] = (), analyzers: Sequence[str] = (), per_block: bool = False) -> Run:
    """Runs a launch file, or the one in a folder, as ``warplens run`` does.

    `settings`: as for --set, such as ``{"grid": 20, "buffer.x.count": 64}``.
    """
    pairs = [(path, _setting(value)) for path, value in (settings or {}).items()]
    named = [os.fspath(rule) if isinstance(rule, os.PathLike) else rule for rule in rules]
    reports, buffers, mismatches = _core.run_file(os.fspath(file), pairs, device, list(analyzers), named, per_block)
    arrays = {name: np.frombuffer(data, dtype=_TYPES[of]).copy() for name, of, data in buffers}
    return Run([Report(r) for r in reports], arrays, mismatches)


def _setting(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_setting, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def sweep(launch: str | os.PathLike[str], axes: Mapping[str, Sequence[Any]] | None = None, *, model: str = "",
          analyzers: Sequence[str] = (), progress: Callable[[int, int], None] | None = None,
          **more: Sequence[Any]) -> Table:
    """Runs one launch under all combinations of settings, and returns a row for each.

    Axes: block, grid, total, shared, registers, device, rule, l1, kernel, index, and paths of the launch file such as
    "buffer.x.count" (docs/sweep.md). `model`: whose milliseconds the rows have.

    >>> wl.sweep("samples/saxpy", block=[64, 128], device=["c1060", "gtx480"])
    """
    file = Path(launch)
    if file.is_dir():
        file /= "launch.toml"
    all_axes = {**(axes or {}), **more}
    for name, values in all_axes.items():
        if isinstance(values, str):
            raise ArgumentError(f"{name}: expected a list of values, found {values!r}")
    configurations = [[("launch", str(file)), *zip(all_axes, map(_axis, values))]
                      for values in product(*all_axes.values())]
    return _sweep_table(_core.sweep(configurations, model, list(analyzers), progress))


def read_sweep(*files: str | os.PathLike[str]) -> Table:
    """The rows of files that ``warplens sweep --results`` has written, or is writing, sorted by their settings.

    >>> wl.read_sweep("rows.jsonl")
    """
    if not files:
        raise ArgumentError("read_sweep() needs a file")
    text, note = _core.read_sweep([os.fspath(file) for file in files])
    if note:
        warnings.warn(note, stacklevel=2)
    return _sweep_table(text)


def _sweep_table(text: str) -> Table:
    rows = []
    for row in json.loads(text)["sweep"]:
        flat = {k: v for k, v in row["settings"].items() if k != "launch"}
        flat["failure"] = row["failure"]
        flat.update({k: row.get(k) for k in ("kernel", "bound", "occupancy_bound")})
        flat["predicted_by"] = row.get("model")
        flat.update(row.get("metrics") or {})
        rows.append(flat)
    return Table.from_rows(rows)


def _axis(value: Any) -> str:
    return "x".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)


class Comparison:
    """A report beside another one: what changed, and which counts explain the change of the predicted time."""

    #: All that ``warplens compare --json`` writes.
    data: dict[str, Any]

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    @property
    def launches(self) -> list[dict[str, Any]]:
        """The launches of the first comparison."""
        return self.data["comparisons"][0]["launches"]  # type: ignore[no-any-return]

    @property
    def metrics(self) -> Table:
        """Changed metrics: name, before, after."""
        return Table.from_rows([{"launch": i, **change} for i, launch in enumerate(self.launches)
                                for change in launch["metrics"]])

    @property
    def factors(self) -> Table:
        """Groups of counts, and the milliseconds of the change that each explains."""
        return Table.from_rows([{"launch": i, **factor} for i, launch in enumerate(self.launches)
                                for factor in launch["factors"]])

    def __repr__(self) -> str:
        return f"{self.factors!r}\n\n{self.metrics!r}"


def compare(before: Report | str | os.PathLike[str], *others: Report | str | os.PathLike[str]) -> Comparison:
    """Compares reports, or files of ``--json`` or ``sweep --results``, with the first one."""
    if not others:
        raise ArgumentError("compare() needs two reports")
    texts = []
    for number, one in enumerate((before, *others)):
        if isinstance(one, Report):
            texts.append((f"{one.name} ({number})", one.to_json()))
        else:
            texts.append((os.fspath(one), Path(one).read_text(encoding="utf-8")))
    return Comparison(json.loads(_core.compare(texts)))
