# SPDX-License-Identifier: Apache-2.0
"""Tables: columns of equal length, for numpy, pandas, Arrow, or plain Python."""

from __future__ import annotations

import difflib
import html
import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

SHOWN_ROWS = 20
_SHOWN_COLUMNS = 12


class Table:
    """Rows with named columns. Needs neither pandas nor Arrow.

    ``table["line"]`` is a column as an array of numpy, ``table[3]`` is a row as a dictionary. ``table[:3]`` and
    ``table[table["line"] > 40]`` are tables of some rows, and ``table[["line", "ptx"]]`` is one of some columns.
    Missing numbers are 0 for counts and NaN for ratios.
    """

    def __init__(self, columns: Mapping[str, Sequence[Any] | npt.NDArray[Any]]) -> None:
        self._columns = {name: np.asarray(values) for name, values in columns.items()}

    @classmethod
    def from_rows(cls, rows: Iterable[Mapping[str, Any]], first: Sequence[str] = ()) -> Table:
        """Columns are in the order in which they appear; those of `first` come first."""
        rows = list(rows)
        names = dict.fromkeys(first)
        for row in rows:
            names.update(dict.fromkeys(row))
        columns: dict[str, npt.NDArray[Any]] = {}
        for name in names:
            values = [row.get(name) for row in rows]
            known = [v for v in values if v is not None]
            if known and all(isinstance(v, int) for v in known):
                columns[name] = np.array([0 if v is None else v for v in values])
            elif known and all(isinstance(v, (int, float)) for v in known):
                columns[name] = np.array([np.nan if v is None else v for v in values], dtype=np.float64)
            else:
                column = np.empty(len(values), dtype=object)
                column[:] = values
                columns[name] = column
        return cls(columns)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()))) if self._columns else 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[i] for i in range(len(self)))

    def _column(self, name: Any) -> npt.NDArray[Any]:
        if name not in self._columns:
            close = difflib.get_close_matches(str(name), self._columns, 1)
            raise KeyError(f"no column {name!r}" + (f"; did you mean {close[0]!r}?" if close else ""))
        return self._columns[name]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._column(key)
        if isinstance(key, (list, tuple)) and key and all(isinstance(name, str) for name in key):
            return self.select(*key)
        if not isinstance(key, (int, np.integer)):  # a slice, a mask, numbers of rows
            return Table({name: values[key] for name, values in self._columns.items()})
        if not -len(self) <= key < len(self):
            raise IndexError(f"row {key} of a table of {len(self)} rows")
        return {name: values[key].item() if values.dtype != object else values[key]
                for name, values in self._columns.items()}

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def select(self, *names: str) -> Table:
        """A table of these columns."""
        return Table({name: self._column(name) for name in names})

    def sort(self, name: str, descending: bool = False) -> Table:
        """The rows in the order of a column."""
        values = self._column(name)
        if values.dtype == object:  # missing values are last
            known = [i for i, value in enumerate(values) if value is not None]
            missing = [i for i, value in enumerate(values) if value is None]
            plain = values.tolist()
            known.sort(key=plain.__getitem__, reverse=descending)
            order = np.array(known + missing, dtype=np.intp)
        else:
            order = np.argsort(values, kind="stable")[::-1 if descending else 1]
        return Table({n: values[order] for n, values in self._columns.items()})

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dictionary for each row, of plain Python objects."""
        return list(self)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame."""
        return _package("pandas").DataFrame(self._columns)

    def to_arrow(self) -> Any:
        """A pyarrow.Table."""
        return _package("pyarrow").table({name: values.tolist() if values.dtype == object else values
                              for name, values in self._columns.items()})

    def _shown(self, most_rows: int, most_columns: int) -> tuple[list[str], list[list[str]], str]:
        """Names, cells, and what is left out."""
        names = self.columns[:most_columns]
        rows = [[_cell(self._columns[n][i]) for n in names] for i in range(min(len(self), most_rows))]
        rest = [f"{len(self) - len(rows)} more rows"] if len(self) > len(rows) else []
        rest += [f"{len(self._columns) - len(names)} more columns"] if len(self._columns) > len(names) else []
        return names, rows, ", ".join(rest)

    def text(self, rows: int | None = None, columns: int | None = None) -> str:
        """The table as text: all of it, or the first rows and columns."""
        names, cells, rest = self._shown(len(self) if rows is None else rows,
                                         len(self._columns) if columns is None else columns)
        widths = [max([len(n), *(len(row[i]) for row in cells)]) for i, n in enumerate(names)]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in [names, *cells]]
        return "\n".join([*lines, f"… {rest}"] if rest else lines)

    def __repr__(self) -> str:
        return self.text(SHOWN_ROWS, _SHOWN_COLUMNS)

    def _repr_html_(self) -> str:
        names, rows, left = self._shown(SHOWN_ROWS, _SHOWN_COLUMNS)
        head = "".join(f"<th>{html.escape(n)}</th>" for n in names)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in rows)
        rest = f"<p>… {left}</p>" if left else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ModuleNotFoundError(f"{name} is not installed\n  hint: to_dicts() and table[\"column\"] need no other package",
                                  name=name) from None


def _cell(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    return "" if value is None else str(value)
