# SPDX-License-Identifier: Apache-2.0
"""Rules, models and analyzers of one's own, as functions and classes of Python.

Functions get the events of a launch in batches of arrays, so that numpy does the work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from warplens import _core
from warplens._errors import ArgumentError

if TYPE_CHECKING:
    from warplens._catalogue import Device

_SPACES = _core.space_names()
KINDS = ("load", "store", "atomic", "reduction")
_COLUMNS = {"block": "<u8", "warp": "<u4", "instruction": "<u4", "line": "<u4", "mask": "<u4", "addresses": "<u8",
            "count": "<u8", "lane_bytes": "<u2", "space": "u1", "kind": "u1", "taken": "<u4", "number": "<u4"}
_LANES = np.arange(32, dtype=np.uint32)


def lanes_of(masks: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Masks of 32 bits, shape (n,), as truth values, shape (n, 32)."""
    return (masks[:, None] >> _LANES & 1).astype(np.bool_)


def distinct(values: npt.NDArray[Any], active: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """How many different values the active lanes of each row have: shape (n, 32) -> (n,).

    The number of segments of 128 bytes that each access touches is ``distinct(addresses // 128, active)``.
    """
    first = np.take_along_axis(values, active.argmax(axis=1)[:, None], axis=1)
    ordered = np.sort(np.where(active, values, first), axis=1)  # inactive lanes repeat an active one
    changes: npt.NDArray[np.int64] = (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1, dtype=np.int64)
    return 1 + changes


class Batch:
    """Events of a launch: arrays of equal length, one element for each event.

    All events: `instruction` (index in the kernel), `line` (of the PTX), `mask` (active lanes, lane 0 is the lowest
    bit), and for analyzers `block` (linear) and `warp`.
    Accesses: `addresses`, shape (n, 32), of bytes, 0 for inactive lanes; `lane_bytes`, `space`, `kind` (numbers; see
    in_space() and of_kind()), `count` (how many such accesses the row stands for).
    Branches: `taken`, the lanes that take the branch. Barriers: `number`.
    """

    instruction: npt.NDArray[np.uint32]
    line: npt.NDArray[np.uint32]
    mask: npt.NDArray[np.uint32]
    block: npt.NDArray[np.uint64]
    warp: npt.NDArray[np.uint32]
    addresses: npt.NDArray[np.uint64]
    lane_bytes: npt.NDArray[np.uint16]
    space: npt.NDArray[np.uint8]
    kind: npt.NDArray[np.uint8]
    count: npt.NDArray[np.uint64]
    taken: npt.NDArray[np.uint32]
    number: npt.NDArray[np.uint32]

    def __init__(self, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        self._names = tuple(columns)
        for name, values in columns.items():
            setattr(self, name, values)

    @classmethod
    def _of(cls, columns: Mapping[str, Any]) -> Batch:
        arrays = {name: np.frombuffer(column, dtype=_COLUMNS[name]) for name, column in columns.items()}
        if "addresses" in arrays:
            arrays["addresses"] = arrays["addresses"].reshape(-1, 32)
        return cls(arrays)

    def __len__(self) -> int:
        return len(self.instruction)

    @property
    def active(self) -> npt.NDArray[np.bool_]:
        """The active lanes, shape (n, 32)."""
        return lanes_of(self.mask)

    def in_space(self, name: str) -> npt.NDArray[np.bool_]:
        """Whether each access is to this memory: global, shared, local, const, param."""
        if name not in _SPACES:
            raise ArgumentError(f"no such memory: {name!r}; expected one of {', '.join(_SPACES)}")
        found: npt.NDArray[np.bool_] = self.space == _SPACES[name]
        return found

    def of_kind(self, name: str) -> npt.NDArray[np.bool_]:
        """Whether each access is of this kind: load, store, atomic, reduction."""
        if name not in KINDS:
            raise ArgumentError(f"no such kind of access: {name!r}; expected one of {', '.join(KINDS)}")
        found: npt.NDArray[np.bool_] = self.kind == KINDS.index(name)
        return found

    def where(self, condition: npt.NDArray[np.bool_]) -> Batch:
        """The events for which the condition, shape (n,), is true."""
        return Batch({name: getattr(self, name)[condition] for name in self._names})


RuleResult = npt.NDArray[Any] | tuple[npt.NDArray[Any], npt.NDArray[Any]]


class RuleFunction:
    """A rule that is a function of Python; the decorator `rule` makes it."""

    def __init__(self, function: Callable[[Batch], RuleResult], name: str, space: str) -> None:
        self.function = function
        self.name = name
        self.space = space
        self.__doc__ = function.__doc__

    def __call__(self, batch: Batch) -> RuleResult:
        return self.function(batch)

    def __repr__(self) -> str:
        return f"<rule {self.name} of {self.space} memory>"


def rule(function: Callable[[Batch], RuleResult] | None = None, *, name: str | None = None,
         space: str = "global") -> Any:
    """Makes a function a rule: it gets a Batch of accesses to `space`, and returns the transactions of each.

    The result is an array of integers, shape (n,), or two: transactions and the bytes that they move. Accesses that
    differ only by a multiple of 256 bytes are passed once, with their number in `count`; the function returns the
    transactions of one of them.

    >>> @wl.rule
    ... def lines(batch):
    ...     return wl.distinct(batch.addresses // 128, batch.active)
    >>> report = module.saxpy[40, 256](n, a, x, y, rules=[lines])
    >>> report.metrics["rule.lines.transactions"]
    """
    if function is None:
        return lambda f: rule(f, name=name, space=space)
    if space not in _SPACES:
        raise ArgumentError(f"no such memory: {space!r}; expected one of {', '.join(_SPACES)}")
    return RuleFunction(function, name or function.__name__, space)


class RuleCounter:
    """Counts the transactions of a launch under a rule."""

    def __init__(self, counted: RuleFunction) -> None:
        self._rule = counted
        self._rows: dict[int, list[int]] = {}  # instruction -> transactions, bytes

    def __call__(self, _: str, columns: Mapping[str, Any]) -> None:
        batch = Batch._of(columns)
        chosen = batch.in_space(self._rule.space)
        if not chosen.all():
            batch = batch.where(chosen)
        if len(batch) == 0:
            return
        result = self._rule.function(batch)
        moved: npt.NDArray[Any] | None = None
        if isinstance(result, tuple):
            result, moved = result
        counts = self._checked(result, len(batch), "transactions")
        sizes = self._checked(moved, len(batch), "bytes") if moved is not None else np.zeros_like(counts)
        times = batch.count.astype(np.int64)
        for instruction in np.unique(batch.instruction):
            of = batch.instruction == instruction
            row = self._rows.setdefault(int(instruction), [0, 0])
            row[0] += int((counts[of] * times[of]).sum())
            row[1] += int((sizes[of] * times[of]).sum())

    def _checked(self, values: Any, count: int, what: str) -> npt.NDArray[np.int64]:
        array = np.asarray(values)
        if array.shape != (count,):
            raise ArgumentError(f"rule {self._rule.name}: expected {what} of shape ({count},), found {array.shape}")
        if array.dtype.kind not in "iub":
            raise ArgumentError(f"rule {self._rule.name}: expected integers as {what}, found {array.dtype}")
        if (array < 0).any():
            raise ArgumentError(f"rule {self._rule.name}: found negative {what}")
        return array.astype(np.int64)

    def add_to(self, report: _core.Report) -> None:
        rows = [(i, n, b) for i, (n, b) in sorted(self._rows.items())]
        report.add_rule(self._rule.name, sum(n for _, n, _ in rows), sum(b for _, _, b in rows), rows)


class Statistics(dict[str, float]):
    """The counts that models use, also as attributes; those that are not known are None as attributes.

    ``wl.statistic_names()`` lists them with their units.
    """

    def __getattr__(self, name: str) -> float | None:
        if name in _statistic_names():
            return self.get(name)
        raise AttributeError(f"no such statistic: {name!r}")


def _statistic_names() -> frozenset[str]:
    global _known
    if not _known:
        _known = frozenset(s["name"] for s in _core.statistic_names())
    return _known


_known: frozenset[str] = frozenset()


class ModelFunction:
    """A model that is a function of Python; the decorator `model` makes it."""

    def __init__(self, function: Callable[[Statistics, Device], Any], name: str) -> None:
        self.function = function
        self.name = name
        self.__doc__ = function.__doc__

    def __call__(self, statistics: Statistics, device: Device) -> Any:
        return self.function(statistics, device)

    def predict(self, statistics: Statistics, device: Device) -> tuple[float, str, list[tuple[str, float, str]]]:
        """Milliseconds, what limits the launch, and the terms."""
        result = self.function(statistics, device)
        if not isinstance(result, Mapping):
            result = {"milliseconds": result}
        unknown = set(result) - {"milliseconds", "bound", "terms"}
        if unknown or "milliseconds" not in result:
            raise ArgumentError(f"model {self.name}: expected milliseconds, or a dictionary with milliseconds, bound "
                                f"and terms, found {sorted(result)}")
        milliseconds = float(result["milliseconds"])
        if not 0 <= milliseconds < float("inf"):
            raise ArgumentError(f"model {self.name}: {milliseconds} milliseconds are no time")
        terms = []
        for term, value in dict(result.get("terms", {})).items():
            number, unit = value if isinstance(value, tuple) else (value, "")
            terms.append((str(term), float(number), str(unit)))
        return milliseconds, str(result.get("bound", "")), terms


def model(function: Callable[[Statistics, Device], Any] | None = None, *, name: str | None = None) -> Any:
    """Makes a function a model: it gets Statistics and a Device, and returns milliseconds.

    It may also return a dictionary: milliseconds; bound, what limits the launch; terms, numbers or (number, unit) by
    name. Reports show it beside the built-in models.

    >>> @wl.model
    ... def bandwidth(s, device):
    ...     return s.global_bytes / device.bandwidth_gb_s * 1e-6
    """
    if function is None:
        return lambda f: model(f, name=name)
    return ModelFunction(function, name or function.__name__)


class Analyzer:
    """A base for analyzers. An instance sees all events of one launch, in order: block after block.

    Override what you need. The launch then runs in one thread, so that the order of the events is always the same.
    The result of end() is ``report.analyses[name]``.

    >>> class Barriers(wl.Analyzer):
    ...     def begin(self): self.n = 0
    ...     def barriers(self, batch): self.n += len(batch)
    ...     def end(self): return self.n
    """

    #: The name in Report.analyses; by default that of the class.
    name: str = ""

    def begin(self) -> None:
        """Called before the launch."""

    def accesses(self, batch: Batch) -> None:
        """Gets accesses of all memories."""

    def branches(self, batch: Batch) -> None:
        """Gets branches of warps, also those that do not diverge."""

    def barriers(self, batch: Batch) -> None:
        """Gets arrivals of warps at barriers."""

    def end(self) -> Any:
        """Called after the launch; returns the result."""

    def _pass(self, kind: str, columns: Mapping[str, Any]) -> None:
        getattr(self, kind)(Batch._of(columns))
