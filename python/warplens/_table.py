# SPDX-License-Identifier: Apache-2.0
"""Tables: columns of equal length, for numpy, pandas, Arrow, or plain Python."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_SHOWN_ROWS = 20
_SHOWN_COLUMNS = 12


class Table:
    """Rows with named columns. Needs neither pandas nor Arrow.

    ``table["line"]`` is a column as an array of numpy, ``table[3]`` is a row as a dictionary.
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

    def __getitem__(self, key: str | int) -> Any:
        if isinstance(key, str):
            return self._columns[key]
        if not -len(self) <= key < len(self):
            raise IndexError(f"row {key} of a table of {len(self)} rows")
        return {name: values[key].item() if values.dtype != object else values[key]
                for name, values in self._columns.items()}

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def select(self, *names: str) -> Table:
        """A table of these columns."""
        return Table({name: self._columns[name] for name in names})

    def sort(self, name: str, descending: bool = False) -> Table:
        """The rows in the order of a column."""
        order = np.argsort(self._columns[name], kind="stable")
        if descending:
            order = order[::-1]
        return Table({n: values[order] for n, values in self._columns.items()})

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dictionary for each row, of plain Python objects."""
        return list(self)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame."""
        import pandas  # type: ignore[import]

        return pandas.DataFrame(self._columns)

    def to_arrow(self) -> Any:
        """A pyarrow.Table."""
        import pyarrow  # type: ignore[import]

        return pyarrow.table({name: values.tolist() if values.dtype == object else values
                              for name, values in self._columns.items()})

    def _shown(self) -> tuple[list[str], list[list[str]]]:
        names = self.columns[:_SHOWN_COLUMNS]
        rows = [[_cell(self._columns[n][i]) for n in names] for i in range(min(len(self), _SHOWN_ROWS))]
        return names, rows

    def _rest(self) -> str:
        more_rows = len(self) - _SHOWN_ROWS
        more_columns = len(self._columns) - _SHOWN_COLUMNS
        parts = [f"{more_rows} more rows"] if more_rows > 0 else []
        parts += [f"{more_columns} more columns"] if more_columns > 0 else []
        return ", ".join(parts)

    def __repr__(self) -> str:
        names, rows = self._shown()
        widths = [max([len(n), *(len(row[i]) for row in rows)]) for i, n in enumerate(names)]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in [names, *rows]]
        if self._rest():
            lines.append(f"… {self._rest()}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        names, rows = self._shown()
        head = "".join(f"<th>{html.escape(n)}</th>" for n in names)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in rows)
        rest = f"<p>… {self._rest()}</p>" if self._rest() else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _cell(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    return "" if value is None else str(value)
