# SPDX-License-Identifier: Apache-2.0
"""Traces: the events of launches in a file, as structured arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from warplens import _core
from warplens._checks import integer, path
from warplens._errors import ArgumentError, InputError
from warplens._report import Report
from warplens._research import (KINDS, Analyzer, Batch, RuleCounter, function_models, lanes_of, predict_with,
                                split_analyzers, split_rules)
from warplens._table import SHOWN_ROWS, Table

if TYPE_CHECKING:
    from warplens._module import Kernel

#: As in python/core/traces.cpp.
ACCESS_DTYPE = np.dtype([("block", "<u8"), ("base", "<u8"), ("stride", "<i8"), ("instruction", "<u4"), ("line", "<u4"),
                         ("mask", "<u4"), ("warp", "<u4"), ("lane_bytes", "<u2"), ("space", "u1"), ("kind", "u1"),
                         ("shape", "u1"), ("unused", "V3")])
CONTROL_DTYPE = np.dtype([("block", "<u8"), ("instruction", "<u4"), ("line", "<u4"), ("mask", "<u4"), ("value", "<u4"),
                          ("warp", "<u4"), ("unused", "<u4")])
SHAPES = ("contiguous", "broadcast", "strided", "irregular")
_EVERYWHERE = (0, (1 << 64) - 1)
_ALL_WARPS = (0, (1 << 32) - 1)
_BATCH = 1 << 14


class Accesses:
    """Accesses of a launch, in the order of the blocks and within a block in the order of execution.

    `array` is a structured array with the fields block (linear), base (address of the first active lane), stride
    (bytes from lane to lane, where the shape has one), instruction, line (of the PTX), mask, warp, lane_bytes, space,
    kind and shape (numbers).
    """

    #: One element for each access.
    array: npt.NDArray[Any]

    def __init__(self, trace: Trace, array: npt.NDArray[Any],
                 query: tuple[int, list[int], tuple[int, int], tuple[int, int]]) -> None:
        self._trace = trace
        self._query = query
        self._addresses: npt.NDArray[np.uint64] | None = None
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, field: str) -> npt.NDArray[Any]:
        try:
            return self.array[field]
        except ValueError:
            raise KeyError(f"no field {field!r}; the fields are {', '.join(ACCESS_DTYPE.fields or ())}") from None

    @property
    def active(self) -> npt.NDArray[np.bool_]:
        """The active lanes, shape (n, 32)."""
        return lanes_of(self.array["mask"])

    @property
    def addresses(self) -> npt.NDArray[np.uint64]:
        """The address of each lane, shape (n, 32), 0 for inactive ones; read from the file on first use."""
        if self._addresses is None:
            rows = self._trace._core.addresses(*self._query, len(self.array))
            self._addresses = np.frombuffer(rows, dtype="<u8").reshape(-1, 32)
        return self._addresses

    def to_table(self) -> Table:
        """A table with names in place of numbers."""
        names = {number: name for name, number in _core.space_names().items()}
        columns: dict[str, Any] = {n: self.array[n] for n in ("block", "warp", "line", "lane_bytes", "base", "stride",
                                                              "mask")}
        columns["space"] = np.array([names.get(int(s), "") for s in range(256)])[self.array["space"]]
        columns["kind"] = np.array(KINDS)[self.array["kind"]]
        columns["shape"] = np.array(SHAPES)[self.array["shape"]]
        return Table(columns)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of to_table()."""
        return self.to_table().to_pandas()

    def _first(self) -> Table:
        return Accesses(self._trace, self.array[:SHOWN_ROWS], self._query).to_table()

    def __repr__(self) -> str:
        more = "\n…" if len(self) > SHOWN_ROWS else ""
        return f"<{len(self)} accesses>\n{self._first().text()}{more}"

    def _repr_html_(self) -> str:
        return f"<p>{len(self)} accesses</p>{self._first()._repr_html_()}"


class Trace:
    """A trace that ``warplens run --trace`` or a launch with ``trace=`` has written. Nothing is read before it is used.

    >>> trace = wl.Trace("t.h5")
    >>> loads = trace.accesses("transpose", line=60)
    >>> np.bincount(wl.distinct(loads.addresses // 32, loads.active))
    """

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self._file = path("file", file)
        self._core = _core.Trace(self._file)

    @property
    def launches(self) -> list[dict[str, Any]]:
        """Kernel, grid, block and device of each launch, and whether it is complete."""
        return self._core.launches()

    def _number(self, launch: Any) -> int:
        launches = self.launches
        if not isinstance(launch, str):
            launch = getattr(launch, "name", launch)  # of a Kernel
        if isinstance(launch, str):
            for number, one in enumerate(launches):
                if launch in (one["kernel"], _core.source_name(one["kernel"])):
                    return number
            raise InputError(f"the trace has no launch of a kernel {launch!r}")
        number = integer("launch", launch, -(1 << 63))
        if not 0 <= number < len(launches):
            raise InputError(f"the trace has {len(launches)} launches: launch {number} does not exist")
        return number

    def _query(self, launch: int | str | Kernel, line: int | str | Iterable[int | str] | None, blocks: Sequence[int] | int | None,
               warps: Sequence[int] | int | None) -> tuple[int, list[int], tuple[int, int], tuple[int, int]]:
        number = self._number(launch)
        lines: list[int] = []
        if isinstance(line, str):  # "transpose.cu:9"
            lines = sorted({n for n, _, source in self._core.instructions(number) if source == line})
            if not lines:
                raise InputError(f"no instruction of the kernel is from {line!r}")
        elif isinstance(line, Iterable):
            for one in line:
                lines += self._query(number, one, None, None)[1]
        elif line is not None:
            lines = [integer("line", line, 0, _ALL_WARPS[1])]
        return number, lines, _range("blocks", blocks, _EVERYWHERE), _range("warps", warps, _ALL_WARPS)

    def accesses(self, launch: int | str | Kernel = 0, line: int | str | Iterable[int | str] | None = None, *,
                 blocks: Sequence[int] | int | None = None, warps: Sequence[int] | int | None = None) -> Accesses:
        """Accesses of a launch, by its number or its kernel.

        `line`: of the PTX, a line of the source such as "transpose.cu:9", or several of them.
        `blocks`, `warps`: a number, the first and the last, or a range.
        """
        query = self._query(launch, line, blocks, warps)
        return Accesses(self, np.frombuffer(self._core.accesses(*query), dtype=ACCESS_DTYPE), query)

    def branches(self, launch: int | str | Kernel = 0, line: int | str | Iterable[int | str] | None = None, *,
                 blocks: Sequence[int] | int | None = None,
                 warps: Sequence[int] | int | None = None) -> npt.NDArray[Any]:
        """Branches as a structured array; value: the mask of the lanes that take it."""
        number, lines, of_blocks, of_warps = self._query(launch, line, blocks, warps)
        return np.frombuffer(self._core.control(number, False, lines, of_blocks, of_warps), dtype=CONTROL_DTYPE)

    def barriers(self, launch: int | str | Kernel = 0, line: int | str | Iterable[int | str] | None = None, *,
                 blocks: Sequence[int] | int | None = None,
                 warps: Sequence[int] | int | None = None) -> npt.NDArray[Any]:
        """Arrivals at barriers as a structured array; value: the number of the barrier."""
        number, lines, of_blocks, of_warps = self._query(launch, line, blocks, warps)
        return np.frombuffer(self._core.control(number, True, lines, of_blocks, of_warps), dtype=CONTROL_DTYPE)

    def instructions(self, launch: int | str | Kernel = 0) -> Table:
        """Line of the PTX, text and line of the source of each instruction."""
        rows = self._core.instructions(self._number(launch))
        return Table.from_rows([{"line": n, "ptx": ptx, "source": source or None} for n, ptx, source in rows],
                               ("line", "ptx", "source"))

    def analyze(self, launch: int | str | Kernel = 0, *, device: Any = None, rules: Any = (), analyzers: Any = (),
                models: Any = ()) -> Report:
        """The report of a launch, from its events; optionally for another device, or with further rules, analyzers and
        models, which can be functions and classes as those of a launch."""
        number = self._number(launch)
        options = {"rules": rules, "analyzers": analyzers}
        counters, watchers, functions = split_rules(options), split_analyzers(options), function_models(models)
        core = self._core.analyze(number, device, options.get("rules", []), list(options.get("analyzers", [])))
        report = Report(core)
        if counters or watchers:
            self._pass_events(number, counters, watchers)
        for counter in counters:
            counter.add_to(core)
        if functions:
            predict_with(core, report, functions, device)
        for watcher in watchers:
            report.analyses[watcher._title()] = watcher.end()
        return report

    def _pass_events(self, launch: int, counters: list[RuleCounter], watchers: list[Analyzer]) -> None:
        """Passes the events of a launch to functions, in batches as a launch does."""
        for watcher in watchers:
            watcher.begin()
        accesses = self.accesses(launch)
        for first in range(0, len(accesses), _BATCH):
            rows, lanes = accesses.array[first:first + _BATCH], accesses.addresses[first:first + _BATCH]
            batch = Batch({**{name: rows[name] for name in ("block", "warp", "instruction", "line", "mask", "lane_bytes",
                                                            "space", "kind")},
                           "addresses": lanes, "count": np.ones(len(rows), np.uint64)})
            for counter in counters:
                counter.count(batch)
            for watcher in watchers:
                watcher.accesses(batch)
        for watcher in watchers:
            for events, value, see in ((self.branches(launch), "taken", watcher.branches),
                                       (self.barriers(launch), "number", watcher.barriers)):
                for first in range(0, len(events), _BATCH):
                    rows = events[first:first + _BATCH]
                    see(Batch({**{name: rows[name] for name in ("block", "warp", "instruction", "line", "mask")},
                               value: rows["value"]}))

    @property
    def closed(self) -> bool:
        """Whether the file has been closed."""
        return self._core.closed

    def close(self) -> None:
        """Closes the file; later uses raise ClosedError. Arrays remain valid."""
        self._core.close()

    def __len__(self) -> int:
        return len(self.launches)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        if self.closed:
            return f"<trace {self._file}, closed>"
        return f"<trace {self._file}: {', '.join(one['kernel'] for one in self.launches)}>"

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _range(what: str, value: Any, all_of_them: tuple[int, int]) -> tuple[int, int]:
    if value is None:
        return all_of_them
    if isinstance(value, range) and value.step == 1 and len(value) > 0:
        value = (value[0], value[-1])
    if not isinstance(value, Sequence) or isinstance(value, str):
        value = (value, value)
    if len(value) != 2:
        raise ArgumentError(f"{what}: expected a number, or the first and the last, found {value!r}")
    first, last = (integer(what, one, *all_of_them) for one in value)
    return first, last
