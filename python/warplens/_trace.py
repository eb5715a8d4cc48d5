# SPDX-License-Identifier: Apache-2.0
"""Traces: the events of launches in a file, as structured arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from warplens import _core
from warplens._errors import InputError
from warplens._report import Report
from warplens._research import KINDS, lanes_of
from warplens._table import Table

#: As in python/core/traces.cpp.
ACCESS_DTYPE = np.dtype([("block", "<u8"), ("base", "<u8"), ("stride", "<i8"), ("instruction", "<u4"), ("line", "<u4"),
                         ("mask", "<u4"), ("warp", "<u4"), ("lane_bytes", "<u2"), ("space", "u1"), ("kind", "u1"),
                         ("shape", "u1"), ("unused", "V3")])
CONTROL_DTYPE = np.dtype([("block", "<u8"), ("instruction", "<u4"), ("line", "<u4"), ("mask", "<u4"), ("value", "<u4"),
                          ("warp", "<u4"), ("unused", "<u4")])
SHAPES = ("contiguous", "broadcast", "strided", "irregular")
_EVERYWHERE = (0, (1 << 64) - 1)
_ALL_WARPS = (0, (1 << 32) - 1)


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
        return self.array[field]

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

    def __repr__(self) -> str:
        return f"<{len(self)} accesses>\n{self.to_table()!r}"


class Trace:
    """A trace that ``warplens run --trace`` or a launch with ``trace=`` has written. Nothing is read before it is used.

    >>> trace = wl.Trace("t.h5")
    >>> loads = trace.accesses("transpose", line=60)
    >>> np.bincount(wl.distinct(loads.addresses // 32, loads.active))
    """

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self._core = _core.Trace(os.fspath(file))

    @property
    def launches(self) -> list[dict[str, Any]]:
        """Kernel, grid, block and device of each launch, and whether it is complete."""
        return self._core.launches()

    def _number(self, launch: int | str) -> int:
        launches = self.launches
        if isinstance(launch, str):
            for number, one in enumerate(launches):
                if launch in (one["kernel"], _core.source_name(one["kernel"])):
                    return number
            raise InputError(f"the trace has no launch of a kernel {launch!r}")
        if not 0 <= launch < len(launches):
            raise InputError(f"the trace has {len(launches)} launches: launch {launch} does not exist")
        return launch

    def _query(self, launch: int | str, line: int | str | Iterable[int] | None, blocks: Sequence[int] | int | None,
               warps: Sequence[int] | int | None) -> tuple[int, list[int], tuple[int, int], tuple[int, int]]:
        number = self._number(launch)
        lines: list[int] = []
        if isinstance(line, str):  # "transpose.cu:9"
            lines = sorted({n for n, _, source in self._core.instructions(number) if source == line})
            if not lines:
                raise InputError(f"no instruction of the kernel is from {line!r}")
        elif isinstance(line, (int, np.integer)):
            lines = [int(line)]
        elif line is not None:
            lines = [int(n) for n in line]
        return number, lines, _range(blocks, _EVERYWHERE), _range(warps, _ALL_WARPS)

    def accesses(self, launch: int | str = 0, line: int | str | Iterable[int] | None = None, *,
                 blocks: Sequence[int] | int | None = None, warps: Sequence[int] | int | None = None) -> Accesses:
        """Accesses of a launch, by its number or its kernel.

        `line`: of the PTX, several of them, or a line of the source such as "transpose.cu:9".
        `blocks`, `warps`: a number, or the first and the last.
        """
        query = self._query(launch, line, blocks, warps)
        return Accesses(self, np.frombuffer(self._core.accesses(*query), dtype=ACCESS_DTYPE), query)

    def branches(self, launch: int | str = 0, line: int | str | Iterable[int] | None = None, *,
                 blocks: Sequence[int] | int | None = None,
                 warps: Sequence[int] | int | None = None) -> npt.NDArray[Any]:
        """Branches as a structured array; value: the mask of the lanes that take it."""
        number, lines, of_blocks, of_warps = self._query(launch, line, blocks, warps)
        return np.frombuffer(self._core.control(number, False, lines, of_blocks, of_warps), dtype=CONTROL_DTYPE)

    def barriers(self, launch: int | str = 0, line: int | str | Iterable[int] | None = None, *,
                 blocks: Sequence[int] | int | None = None,
                 warps: Sequence[int] | int | None = None) -> npt.NDArray[Any]:
        """Arrivals at barriers as a structured array; value: the number of the barrier."""
        number, lines, of_blocks, of_warps = self._query(launch, line, blocks, warps)
        return np.frombuffer(self._core.control(number, True, lines, of_blocks, of_warps), dtype=CONTROL_DTYPE)

    def instructions(self, launch: int | str = 0) -> Table:
        """Line of the PTX, text and line of the source of each instruction."""
        rows = self._core.instructions(self._number(launch))
        return Table.from_rows([{"line": n, "ptx": ptx, "source": source or None} for n, ptx, source in rows],
                               ("line", "ptx", "source"))

    def analyze(self, launch: int | str = 0, *, device: Any = None, rules: Sequence[Any] = (),
                analyzers: Sequence[str] = ()) -> Report:
        """The report of a launch, from its events; optionally for another device or under further rules."""
        return Report(self._core.analyze(self._number(launch), device, list(rules), list(analyzers)))

    @property
    def closed(self) -> bool:
        """Whether the file has been closed."""
        return self._core.closed

    def close(self) -> None:
        """Closes the file; later uses raise ClosedError. Arrays remain valid."""
        self._core.close()

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _range(value: Sequence[int] | int | None, otherwise: tuple[int, int]) -> tuple[int, int]:
    if value is None:
        return otherwise
    if isinstance(value, (int, np.integer)):
        return int(value), int(value)
    first, last = value
    return int(first), int(last)
