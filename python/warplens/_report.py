# SPDX-License-Identifier: Apache-2.0
"""The report of a launch."""

from __future__ import annotations

import html
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warplens import _core
from warplens._checks import names, path
from warplens._errors import InputError
from warplens._table import Table

if TYPE_CHECKING:
    from warplens._research import Statistics
    from warplens._trace import Trace


class Metrics(Mapping[str, "int | float"]):
    """The metrics of a launch by name: counts are int, ratios are float.

    Also has the names of ``--fail-on``: sectors_per_request, passes_per_request, milliseconds, findings, warnings.
    ``wl.metrics()`` lists all metrics with their units and definitions.
    """

    def __init__(self, values: Mapping[str, int | float], core: _core.Report | None) -> None:
        self._values = values
        self._core = core

    def __getitem__(self, name: str) -> int | float:
        if name in self._values:
            return self._values[name]
        text = isinstance(name, str)
        value = self._core.condition(name) if text and self._core is not None and self._core.analyzed else None
        if value is None:
            if self._core is not None and not self._core.analyzed:
                raise KeyError("the launch has no metrics: it was not analysed, or it stopped")
            raise KeyError(text and _core.suggest_metric(name) or f"the launch has no metric {name!r}")
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def to_table(self) -> Table:
        """Name and value of each metric."""
        return Table({"name": list(self._values), "value": list(self._values.values())})

    def __repr__(self) -> str:
        return "\n".join(f"{name}  {value}" for name, value in self._values.items())

    def _repr_html_(self) -> str:
        return self.to_table()._repr_html_()


class Prediction:
    """What a model predicts for a launch."""

    #: The name of the model.
    model: str
    #: Predicted time.
    milliseconds: float
    #: The same in cycles of the model's clock.
    cycles: float
    #: What limits the launch: memory, compute, latency, …
    bound: str
    #: Whether this is the model to rely on.
    trusted: bool
    #: Intermediate results by their names in the publication.
    terms: dict[str, float]
    #: All that the JSON report says.
    data: dict[str, Any]

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.model = data["model"]
        self.milliseconds = data["milliseconds"]
        self.cycles = data["cycles"]
        self.bound = data["bound"]
        self.trusted = data["trusted"]
        self.terms = {t["name"]: t["value"] for t in data["terms"]}

    def to_table(self) -> Table:
        """Name, value and unit of each term."""
        return Table.from_rows(self.data["terms"], ("name", "value", "unit"))

    def __repr__(self) -> str:
        bound = f", limited by {self.bound}" if self.bound else ""
        return f"<{self.model}: {self.milliseconds:.6g} ms{bound}>"


class Predictions(dict[str, Prediction]):
    """Predictions by the name of the model."""

    def __missing__(self, name: object) -> Prediction:
        raise KeyError(f"no prediction by {name!r}: there are " + (", ".join(self) or "none")
                       + "; the other models lack parameters of the device or counts of the launch")


class Finding:
    """A problem of a kernel, and how to solve it."""

    #: Its kind: UncoalescedGlobalAccess, SharedMemoryConflicts, …
    rule: str
    #: "warning" or "note".
    severity: str
    #: What was found.
    message: str
    #: What to do.
    remedy: str
    #: Lines of the PTX.
    lines: list[int]
    #: "saxpy.cu:5", or None.
    source: str | None
    #: Of the launch, predicted for the remedy; None: no model predicts.
    speedup: float | None
    #: All that the JSON report says.
    data: dict[str, Any]

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.rule = data["rule"]
        self.severity = data["severity"]
        self.message = data["message"]
        self.remedy = data["remedy"]
        self.lines = data["lines"]
        self.source = data["source"]
        self.speedup = data["speedup"]

    def __repr__(self) -> str:
        return f"<{self.severity}: {self.rule}, {self.source or self.lines}: {self.message}>"


class LaunchView:
    """One launch of a report: the kernel's own, or one that the kernel made."""

    def __init__(self, data: dict[str, Any], core: _core.Report | None) -> None:
        self._data = data
        self._core_of_metrics = core

    @property
    def kernel(self) -> str:
        """The kernel's name in the PTX."""
        return str(self._data["kernel"])

    @property
    def grid(self) -> tuple[int, int, int]:
        """Blocks: x, y, z."""
        x, y, z = self._data["grid"]
        return x, y, z

    @property
    def block(self) -> tuple[int, int, int]:
        """Threads of a block: x, y, z."""
        x, y, z = self._data["block"]
        return x, y, z

    @property
    def metrics(self) -> Metrics:
        """The metrics of the launch."""
        return Metrics(self._data["metrics"], self._core_of_metrics)

    @property
    def predictions(self) -> dict[str, Prediction]:
        """What each model predicts, by its name."""
        return Predictions((p["model"], Prediction(p)) for p in self._data["predictions"])

    @property
    def prediction(self) -> Prediction | None:
        """That of the model to rely on; None: no model has parameters for the device."""
        return next((p for p in self.predictions.values() if p.trusted), None)

    @property
    def findings(self) -> list[Finding]:
        """Problems, by kind; within a kind the largest first."""
        return [Finding(f) for f in self._data["findings"]]

    @property
    def occupancy(self) -> dict[str, Any] | None:
        """Resident blocks and warps of a multiprocessor, ratio, and the limit of each resource."""
        return self._data["occupancy"]  # type: ignore[no-any-return]

    @property
    def statistics(self) -> Statistics:
        """The counts that models use."""
        from warplens._research import Statistics

        return Statistics(self._data["statistics"])

    @property
    def instructions(self) -> Table:
        """A row for each instruction of the PTX: line, ptx, source, pattern, and its metrics."""
        rows = [{k: v for k, v in row.items() if k not in ("accesses", "inlined")}
                for row in self._data["instructions"]]
        return Table.from_rows(rows, ("line", "ptx", "source"))

    @property
    def lines(self) -> Table:
        """A row for each line of the CUDA source, or of the PTX where no source is known: the sums of its counts."""
        rows: dict[str, dict[str, Any]] = {}
        for instruction in self._data["instructions"]:
            where = instruction["source"] or f"PTX line {instruction['line']}"
            row = rows.setdefault(where, {"line": where})
            for name, value in instruction.items():
                if isinstance(value, int) and name not in ("line", "lane_bytes"):
                    row[name] = row.get(name, 0) + value
        return Table.from_rows(rows.values(), ("line",))

    @property
    def blocks(self) -> Table:
        """A row for each block, with its counters; empty unless the launch had ``per_block=True``."""
        rows = []
        for block in self._data["blocks"]:
            x, y, z = block["block"]
            rows.append({"x": x, "y": y, "z": z, **{k: v for k, v in block.items() if k != "block"}})
        return Table.from_rows(rows, ("x", "y", "z"))


    def __repr__(self) -> str:
        return f"<launch of {self.kernel}: grid {self.grid}, block {self.block}>"


class Report(LaunchView):
    """The report of a launch. In a notebook it is the HTML report, in a terminal the short text."""

    #: What the tools of the launch (memcheck, …) have found, one text for each message.
    messages: list[str]
    #: The number of errors that the tools have found.
    tool_errors: int
    #: Results of analyzers of Python, by name.
    analyses: dict[str, Any]

    def __init__(self, core: _core.Report, messages: list[str] | None = None, tool_errors: int = 0,
                 trace: str | None = None, temporary: Any = None) -> None:
        self._core = core
        self._parsed: dict[str, Any] | None = None
        self._trace_file = trace
        self._temporary = temporary
        self._trace: Trace | None = None
        self.messages = messages or []
        self.tool_errors = tool_errors
        self.analyses = {}

    @property
    def _core_of_metrics(self) -> _core.Report:  # type: ignore[override]
        return self._core

    @property
    def _data(self) -> dict[str, Any]:  # type: ignore[override]
        return self.to_dict()["launches"][0]  # type: ignore[no-any-return]

    def to_dict(self) -> dict[str, Any]:
        """The JSON report as dictionaries and lists."""
        if self._parsed is None:
            self._parsed = json.loads(self._core.json(False))
        return self._parsed

    @property
    def name(self) -> str:
        """The kernel's name in the CUDA source."""
        return self._core.name

    @property
    def printed(self) -> str:
        """What the kernel has printed."""
        return self._core.printed

    @property
    def remarks(self) -> list[str]:
        """What is missing in the report, and why."""
        return self._core.remarks

    @property
    def steps(self) -> int:
        """Warp instructions that were emulated."""
        return self._core.steps

    @property
    def seconds(self) -> float:
        """How long the emulation took."""
        return self._core.seconds

    @property
    def device(self) -> str:
        """The id of the device."""
        return self._core.device_id

    @property
    def launches(self) -> list[LaunchView]:
        """This launch, and those that its kernel made."""
        return [LaunchView(data, None) for data in self.to_dict()["launches"]]

    @property
    def trace(self) -> Trace:
        """The trace of a launch with ``trace=True`` or ``trace="file.h5"``."""
        from warplens._trace import Trace

        if self._trace_file is None:
            raise InputError("the launch has no trace\n  hint: launch with trace=True, or trace=\"file.h5\"")
        if self._trace is None:
            self._trace = Trace(self._trace_file)
        return self._trace

    def text(self, *details: str | Sequence[str], counters: bool = False, columns: int | None = None) -> str:
        """The text report; `details`: further sections, as for ``warplens run --details``."""
        width = columns if columns is not None else shutil.get_terminal_size((100, 24)).columns
        sections = [name for one in details for name in names("details", one)]
        return self._core.text(sections, bool(counters), max(width, 40))

    def to_json(self, *, accesses: bool = False) -> str:
        """The JSON report, as ``warplens run --json`` writes it."""
        return self._core.json(accesses)

    def to_html(self) -> str:
        """The HTML report: one page without references to others."""
        return self._core.html()

    def save(self, file: str | os.PathLike[str], conditions: Sequence[str] | str = ()) -> None:
        """Writes the report; the suffix gives the format: .html, .json, .csv, .sarif, .xml (JUnit) or .txt.

        `conditions`: for JUnit, such as "sectors_per_request>8".
        """
        target = Path(path("file", file))
        suffix = target.suffix.lstrip(".").lower()
        if suffix == "html":
            text = self.to_html()
        elif suffix == "txt":
            text = self.text()
        else:
            text = self._core.file("junit" if suffix == "xml" else suffix, names("conditions", conditions))
        try:
            target.write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot write {str(target)!r}: {error.strerror}") from None

    def __repr__(self) -> str:
        if self._core.trap is not None:
            return f"{self.name}: stopped\n{self._core.trap[1]}"
        if not self._core.analyzed:
            return f"{self.name}: not analysed, {self.steps} warp instructions"
        return self.text().rstrip("\n")

    def _repr_html_(self) -> str:
        if self._core.trap is not None or not self._core.analyzed:
            return f"<pre>{html.escape(repr(self))}</pre>"
        try:
            page = self.to_html()
        except _core_error():
            return f"<pre>{html.escape(self.text(columns=100))}</pre>"
        return (f'<iframe srcdoc="{html.escape(page)}" title="Warplens report" '
                'style="width:100%;height:720px;border:1px solid #ccc"></iframe>')


def _core_error() -> type[Exception]:
    from warplens._errors import Error

    return Error
