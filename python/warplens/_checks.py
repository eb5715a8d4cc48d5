# SPDX-License-Identifier: Apache-2.0
"""Checks of what users pass. All raise ArgumentError, or InputError for a name that cannot be used."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from warplens._errors import ArgumentError, InputError

def checked(what: str, value: Any, kind: type | tuple[type, ...], expected: str) -> Any:
    """The value, if it is of the type."""
    if not isinstance(value, kind):
        raise ArgumentError(f"{what}: expected {expected}, found {value!r}")
    return value


def integer(what: str, value: Any, least: int = 0, most: int = (1 << 63) - 1) -> int:
    """An integer of Python or numpy in this range."""
    try:
        number = value.__index__()
    except (AttributeError, TypeError):
        raise ArgumentError(f"{what}: expected an integer, found {value!r}") from None
    if not least <= number <= most:
        raise ArgumentError(f"{what}: expected an integer from {least} to {most}, found {number}")
    return int(number)


def path(what: str, value: Any) -> str:
    """The name of a file."""
    try:
        name = os.fsdecode(value)
    except TypeError:
        raise ArgumentError(f"{what}: expected the name of a file, found {value!r}") from None
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError(f"{what}: the name {name!r} is not UTF-8") from None
    return name


def dtype_of(value: npt.DTypeLike) -> np.dtype[Any]:
    """A dtype whose elements have bytes, and no objects of Python."""
    try:
        made = np.empty(0, value).dtype  # gives "S" a size
    except TypeError as error:
        raise ArgumentError(f"dtype: {error}") from None
    if made.hasobject:
        raise ArgumentError(f"dtype: {made} contains objects of Python")
    if made.itemsize == 0:
        raise ArgumentError(f"dtype: elements of {made} have no bytes")
    return made


def counts(what: str, value: Any) -> dict[str, float]:
    """Statistics by name, or those of a report."""
    given = getattr(value, "statistics", value)
    if not isinstance(given, Mapping):
        raise ArgumentError(f"{what}: expected counts by name, or a report, found {value!r}")
    found: dict[str, float] = {}
    for name, count in given.items():
        if isinstance(count, (str, bytes)) or not hasattr(count, "__float__"):
            raise ArgumentError(f"{what}: expected a number as {name!r}, found {count!r}")
        found[str(name)] = float(count)
    return found


def names(what: str, value: Any) -> list[str]:
    """Several names, or one; None: none."""
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    try:
        found = list(value)
    except TypeError:
        raise ArgumentError(f"{what}: expected names, found {value!r}") from None
    for one in found:
        if not isinstance(one, str):
            raise ArgumentError(f"{what}: expected names, found {one!r}")
    return found


def function(what: str, value: Any) -> Callable[..., Any] | None:
    """A function, or None."""
    if value is not None and not callable(value):
        raise ArgumentError(f"{what}: expected a function, found {value!r}")
    return value  # type: ignore[no-any-return]


def read_text(file: str) -> str:
    """The text of a file. InputError: it cannot be read, or is no text."""
    try:
        with open(file, encoding="utf-8") as opened:
            return opened.read()
    except OSError as error:
        raise InputError(f"cannot read {file!r}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{file!r} is not a text of UTF-8") from None
