# SPDX-License-Identifier: Apache-2.0
"""Rules, models and analyzers of one's own, as functions and classes of Python.

Functions get the events of a launch in batches of arrays, so that numpy does the work.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from warplens import _core
from warplens._checks import checked
from warplens._errors import ArgumentError

if TYPE_CHECKING:
    from warplens._catalogue import Device
    from warplens._report import Report

_SPACES = _core.space_names()
KINDS = ("load", "store", "atomic", "reduction")
_COLUMNS = {"block": "<u8", "warp": "<u4", "instruction": "<u4", "line": "<u4", "mask": "<u4", "addresses": "<u8",
            "count": "<u8", "lane_bytes": "<u2", "space": "u1", "kind": "u1", "taken": "<u4", "number": "<u4"}
_LANES = np.arange(32, dtype=np.uint32)
#: More than any access has; greater numbers are those that numpy makes of negative ones.
_MOST = 1 << 32


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

    def __repr__(self) -> str:
        return f"<Batch of {len(self)} events: {', '.join(self._names)}>"

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


def _name_of(function: Callable[..., Any], name: str | None) -> str:
    """The name that the user gave, or that of the function, its class, or the function inside a partial one."""
    if name is not None:
        return str(checked("name", name, str, "a text"))
    inner = getattr(function, "func", function)
    return str(getattr(inner, "__name__", type(inner).__name__))


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
    if isinstance(function, RuleFunction):
        function = function.function
    if not callable(function):
        raise ArgumentError(f"rule: expected a function, found {function!r}")
    if space not in _SPACES:
        raise ArgumentError(f"no such memory: {space!r}; expected one of {', '.join(_SPACES)}")
    return RuleFunction(function, _name_of(function, name), space)


class RuleCounter:
    """Counts the transactions of a launch under a rule."""

    def __init__(self, counted: RuleFunction) -> None:
        self._rule = counted
        self._rows: dict[int, list[int]] = {}  # instruction -> transactions, bytes

    def __call__(self, _: str, columns: Mapping[str, Any]) -> None:
        self.count(Batch._of(columns))

    def count(self, batch: Batch) -> None:
        """Counts these accesses."""
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
        if (array >= _MOST).any():
            raise ArgumentError(f"rule {self._rule.name}: found {array.max()} {what} of one access")
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
        milliseconds = self._number("milliseconds", result["milliseconds"])
        if not 0 <= milliseconds < float("inf"):
            raise ArgumentError(f"model {self.name}: {milliseconds} milliseconds are no time")
        terms = []
        for term, value in checked(f"model {self.name}: terms", result.get("terms", {}), Mapping,
                                   "a dictionary").items():
            number, unit = value if isinstance(value, tuple) and len(value) == 2 else (value, "")
            terms.append((str(term), self._number(str(term), number), str(unit)))
        return milliseconds, str(result.get("bound") or ""), terms

    def _number(self, what: str, value: Any) -> float:
        try:
            if isinstance(value, (str, bytes)):
                raise TypeError
            return float(value)
        except (TypeError, ValueError):
            raise ArgumentError(f"model {self.name}: expected a number as {what}, found {value!r}") from None


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
    if isinstance(function, ModelFunction):
        function = function.function
    if not callable(function):
        raise ArgumentError(f"model: expected a function, found {function!r}")
    return ModelFunction(function, _name_of(function, name))


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

    def _title(self) -> str:
        return self.name or type(self).__name__

    def _pass(self, kind: str, columns: Mapping[str, Any]) -> None:
        getattr(self, kind)(Batch._of(columns))


def _each(what: str, given: Any) -> list[Any]:
    """Several, or one, or None."""
    if given is None:
        return []
    if isinstance(given, (str, os.PathLike, type, Analyzer, _core.Rule)) or callable(given):
        return [given]
    if not isinstance(given, Iterable):
        raise ArgumentError(f"{what}: expected one or a list, found {given!r}")
    return list(given)


def _unique(what: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"two {what} are named {name!r}")


def named_rules(given: Any) -> list[Any]:
    """Rules that are no functions: names, files, and objects, also of TOML as text."""
    return [_named_rule(one) for one in _each("rules", given)]


def _named_rule(one: Any) -> Any:
    if isinstance(one, RuleFunction) or (callable(one) and not isinstance(one, _core.Rule)):
        raise ArgumentError(f"rules: expected names, files or warplens.Rule, found the function {one!r}\n"
                            "  hint: functions are for launches of a kernel, and for Trace.analyze()")
    if isinstance(one, str) and "\n" in one:
        return _core.Rule.parse(one)
    return os.fspath(one) if isinstance(one, os.PathLike) else one


def split_rules(options: dict[str, Any]) -> list[RuleCounter]:
    """Takes the functions out of the rules."""
    named: list[Any] = []
    counters = []
    for one in _each("rules", options.pop("rules", None)):
        if callable(one) and not isinstance(one, _core.Rule):
            counters.append(RuleCounter(one if isinstance(one, RuleFunction) else rule(one)))
        else:
            named.append(_named_rule(one))
    if named:
        options["rules"] = named
    _unique("rules", [counter._rule.name for counter in counters])
    return counters


def split_analyzers(options: dict[str, Any]) -> list[Analyzer]:
    """Takes the objects out of the analyzers."""
    named: list[str] = []
    objects: list[Analyzer] = []
    for one in _each("analyzers", options.pop("analyzers", None)):
        if isinstance(one, str):
            named.append(one)
        elif isinstance(one, Analyzer):
            objects.append(one)
        elif isinstance(one, type) and issubclass(one, Analyzer):
            objects.append(one())
        else:
            raise ArgumentError(f"analyzers: expected a name or a warplens.Analyzer, found {one!r}")
    if named:
        options["analyzers"] = named
    _unique("analyzers", [one._title() for one in objects])
    return objects


def function_models(given: Any) -> list[ModelFunction]:
    """Models that are functions."""
    models = []
    for one in _each("models", given):
        if not callable(one):
            raise ArgumentError(f"models: expected functions, found {one!r}\n"
                                "  hint: reports have all built-in models that have parameters for the device")
        models.append(one if isinstance(one, ModelFunction) else model(one))
    return models


def predict_with(core: _core.Report, report: Report, models: list[ModelFunction], device: Any) -> None:
    """Adds the predictions of functions to a report."""
    from warplens._catalogue import Device

    statistics = Statistics(report.to_dict()["launches"][0]["statistics"])
    of = device if isinstance(device, Device) else Device(device or report.device)
    for one in models:
        milliseconds, bound, terms = one.predict(statistics, of)
        core.add_prediction(one.name, milliseconds, bound, terms)
    report._parsed = None  # the report has more predictions now
