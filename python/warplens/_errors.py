# SPDX-License-Identifier: Apache-2.0
"""The exceptions of Warplens: one hierarchy, with the messages of the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warplens._report import Report


class Error(Exception):
    """The base of all exceptions of Warplens.

    The text is what the command line prints: with the line of the source, a caret, and a hint.
    """

    #: One dictionary for each message: severity, message, hint, file, line, column.
    diagnostics: list[dict[str, Any]]

    def __init__(self, message: str, diagnostics: list[dict[str, Any]] | None = None) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics or []


class InputError(Error, ValueError):
    """A name, a file or a text that cannot be used: no such device, a rule with an error, a damaged trace, …"""


class ParseError(InputError):
    """PTX that ptxas would refuse, too."""


class ArgumentError(Error, TypeError, ValueError):
    """An argument of a kernel or of a function that does not fit; the message names it."""


class LaunchError(Error):
    """The device or the kernel does not allow the launch. Nothing has run."""


class Trap(Error):
    """The kernel stopped: out of bounds, misaligned, a failed assertion, …

    Arrays contain what the kernel had written up to there.
    """

    #: "out_of_bounds", "misaligned", "deadlock", …
    kind: str
    #: The report of the launch, without counts.
    report: Report

    def __init__(self, message: str, kind: str, report: Report,
                 diagnostics: list[dict[str, Any]] | None = None) -> None:
        super().__init__(message, diagnostics)
        self.kind = kind
        self.report = report


class ClosedError(Error, RuntimeError):
    """A module, an array, a texture or a trace is used after it was closed."""


class ForkError(Error, RuntimeError):
    """Warplens is used in a process that was forked after Warplens had been used."""
