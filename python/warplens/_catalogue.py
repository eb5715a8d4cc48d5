# SPDX-License-Identifier: Apache-2.0
"""Devices, rules, models and metrics; predictions, occupancy, sweeps and comparisons without a module in hand."""

from __future__ import annotations

import html
import json
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from warplens import _core
from warplens._checks import checked, counts, function, integer, names, path, read_text
from warplens._errors import ArgumentError
from warplens._report import Prediction, Predictions, Report
from warplens._research import ModelFunction, Statistics, function_models, named_rules
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
            self._core = _core.Device.load(path("device", device))
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

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._facts]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.toml == other.toml

    def __hash__(self) -> int:
        return hash(self.toml)

    def __reduce__(self) -> Any:
        return Device, (self.toml,)

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
    return _core.Rule.find(path("rule", rule))


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
    return _core.occupancy(_capability(device), integer("threads", threads), integer("registers", registers),
                           integer("shared", shared))


def occupancy_curve(device: Any, vary: str, *, threads: int = 256, registers: int = 32, shared: int = 0) -> Table:
    """The occupancy as a function of `threads`, `registers` or `shared`; 0 where no block fits."""
    capability = _capability(device)
    limits = _core.limits(capability)
    values = {"threads": range(32, limits["threads_per_block"] + 1, 32),
              "registers": range(1, limits["registers_per_thread"] + 1),
              "shared": range(0, limits["shared_bytes_per_block"] + 1, 1024)}
    if vary not in values:
        raise ArgumentError(f"vary: expected one of {', '.join(values)}, found {vary!r}")
    if vary != "threads":
        integer("threads", threads, 1, limits["threads_per_block"])
    if vary != "registers":
        integer("registers", registers, 0, limits["registers_per_thread"])
    if vary != "shared":
        integer("shared", shared, 0, limits["shared_bytes_per_block"])
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


def predict(statistics: Mapping[str, float] | Report | str | os.PathLike[str], device: Any,
            models: Any = ()) -> dict[str, Prediction] | list[dict[str, Prediction]]:
    """What the models say without an emulation.

    `statistics`: counts by name (statistic_names()), or those of a report; or a file, as for ``warplens predict``: then
    the result is a list with one element for each launch in the file. `models`: names and functions; default: all
    built-in models.
    """
    core = device._core if isinstance(device, Device) else device
    given = [models] if isinstance(models, str) or callable(models) else list(models or ())
    named = [one for one in given if isinstance(one, str)]
    functions = function_models([one for one in given if not isinstance(one, str)])
    if isinstance(statistics, (str, os.PathLike)):
        launches = json.loads(_core.predict_file(os.fspath(statistics), core, named))["launches"]
    else:
        launches = json.loads(_core.predict(counts("statistics", statistics), core, named))["launches"]
    only_functions = bool(functions) and not named
    all_of = [_predictions([] if only_functions else launch["predictions"], functions, Statistics(launch["statistics"]),
                           device) for launch in launches]
    return all_of if isinstance(statistics, (str, os.PathLike)) else all_of[0]


def _predictions(built_in: list[dict[str, Any]], functions: list[ModelFunction], statistics: Statistics,
                 device: Any) -> dict[str, Prediction]:
    found = Predictions((p["model"], Prediction(p)) for p in built_in)
    of = device if isinstance(device, Device) else Device(device)
    for one in functions:
        milliseconds, bound, terms = one.predict(statistics, of)
        found[one.name] = Prediction({
            "model": one.name, "milliseconds": milliseconds, "cycles": milliseconds * 1e6 * of.clock_ghz,
            "bound": bound, "trusted": False, "terms": [{"name": n, "value": v, "unit": u} for n, v, u in terms]})
    return found


def calibrate(device: Any, runs: Sequence[tuple[Mapping[str, float] | Report, float]]) -> tuple[Device, Table]:
    """Fits the parameters of Dasgupta's model to measured runs: pairs of statistics, or reports, and milliseconds.

    Returns the tuned device, and a table of the parameters.
    """
    core = device._core if isinstance(device, Device) else device
    plain = []
    for number, run in enumerate(runs):
        if not isinstance(run, (tuple, list)) or len(run) != 2:
            raise ArgumentError(f"run {number}: expected statistics and milliseconds, found {run!r}")
        plain.append((counts(f"run {number}", run[0]), counts(f"run {number}", {"milliseconds": run[1]})["milliseconds"]))
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

    def _repr_html_(self) -> str:
        return "".join([*(report._repr_html_() for report in self.reports),
                        *(f"<p>{html.escape(one)}</p>" for one in self.mismatches)])


@contextmanager
def _device_names(devices: Sequence[Any]) -> Iterator[list[Any]]:
    """Names of devices: that of a file for a Device."""
    with tempfile.TemporaryDirectory(prefix="warplens-") as folder:
        found = []
        for number, one in enumerate(devices):
            if isinstance(one, Device):
                file = Path(folder) / f"{number}.toml"
                file.write_text(one.toml, encoding="utf-8")
                one = str(file)
            found.append(one)
        yield found


def run(file: str | os.PathLike[str], settings: Mapping[str, Any] | None = None, *, device: Any = None,
        rules: Any = (), analyzers: Any = (), per_block: bool = False) -> Run:
    """Runs a launch file, or the one in a folder, as ``warplens run`` does.

    `settings`: as for --set, such as ``{"grid": 20, "buffer.x.count": 64}``.
    """
    given = checked("settings", settings or {}, Mapping, "a dictionary")
    pairs = [(str(key), _setting(value)) for key, value in given.items()]
    with _device_names([device]) as (name,):
        if name is not None:
            name = path("device", name)
        reports, buffers, mismatches = _core.run_file(path("file", file), pairs, name, names("analyzers", analyzers),
                                                      named_rules(rules), bool(per_block))
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
    file = Path(path("launch", launch))
    if file.is_dir():
        file /= "launch.toml"
    both = set(axes or ()) & set(more)
    if both:
        raise ArgumentError(f"{both.pop()}: given twice")
    all_axes: dict[str, list[Any]] = {}
    for name, values in {**(axes or {}), **more}.items():
        if isinstance(values, str) or not hasattr(values, "__iter__"):
            raise ArgumentError(f"{name}: expected a list of values, found {values!r}")
        all_axes[name] = list(values)
    if model and model not in {m["id"] for m in _core.models()}:
        raise ArgumentError(f"model: expected one of {', '.join(m['id'] for m in _core.models())}, found {model!r}")
    named_rules(all_axes.get("rule", ()))
    with _device_names(all_axes.get("device", [])) as files:
        ids = {name: one.id for name, one in zip(files, all_axes.get("device", [])) if isinstance(one, Device)}
        if files:
            all_axes["device"] = files
        configurations = [[("launch", str(file)), *zip(all_axes, map(_axis, values))]
                          for values in product(*all_axes.values())]
        text = _core.sweep(configurations, model, names("analyzers", analyzers), function("progress", progress))
    return _sweep_table(text, ids)


def read_sweep(*files: str | os.PathLike[str]) -> Table:
    """The rows of files that ``warplens sweep --results`` has written, or is writing, sorted by their settings.

    >>> wl.read_sweep("rows.jsonl")
    """
    if not files:
        raise ArgumentError("read_sweep() needs a file")
    text, note = _core.read_sweep([path("file", file) for file in files])
    if note:
        warnings.warn(note, stacklevel=2)
    return _sweep_table(text)


def _sweep_table(text: str, devices: Mapping[str, str] | None = None) -> Table:
    """`devices`: the id of a device by its file."""
    found = json.loads(text)["sweep"]
    settings = {k: [row["settings"].get(k, "") for row in found] for row in found for k in row["settings"]}
    whole = {k for k, values in settings.items() if all(v.isdecimal() and v.isascii() for v in values)}
    rows = []
    for row in found:
        flat = {k: int(v) if k in whole else v for k, v in row["settings"].items() if k != "launch"}
        if "device" in flat:
            flat["device"] = (devices or {}).get(flat["device"], flat["device"])
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
        parts = [repr(table) for table in (self.factors, self.metrics) if len(table)]
        return "\n\n".join(parts) or "no differences"

    def _repr_html_(self) -> str:
        parts = [table._repr_html_() for table in (self.factors, self.metrics) if len(table)]
        return "".join(parts) or "<p>no differences</p>"


def compare(before: Report | str | os.PathLike[str], *others: Report | str | os.PathLike[str]) -> Comparison:
    """Compares reports, or files of ``--json`` or ``sweep --results``, with the first one."""
    if not others:
        raise ArgumentError("compare() needs two reports")
    texts = []
    for number, one in enumerate((before, *others)):
        if isinstance(one, Report):
            texts.append((f"{one.name} ({number})", one.to_json()))
        else:
            file = path(f"report {number}", one)
            texts.append((file, read_text(file)))
    return Comparison(json.loads(_core.compare(texts)))
