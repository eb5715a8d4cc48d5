# SPDX-License-Identifier: Apache-2.0
"""Streams: launches that run in order, beside those of other streams and of this thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from warplens import _core
from warplens._errors import ClosedError

if TYPE_CHECKING:
    from warplens._report import Report


class PendingReport:
    """A launch of a stream. Its results are in the arrays once result() has returned."""

    def __init__(self, future: Future[Report]) -> None:
        self._future = future

    def done(self) -> bool:
        """Whether the launch has ended."""
        return self._future.done()

    def __repr__(self) -> str:
        return f"<pending report, {'done' if self.done() else 'not done'}>"

    def result(self, timeout: float | None = None) -> Report:
        """Waits, at most `timeout` seconds, and returns the report or raises what the launch has raised.

        Ctrl-C stops the launches of all streams.
        """
        try:
            return self._future.result(timeout)
        except KeyboardInterrupt:
            _core.stop_launches()
            try:
                self._future.exception()
            finally:
                _core.resume_launches()
            raise


class Stream:
    """Launches run in the order in which they were made; ``module.kernel[grid, block](…, stream=stream)``.

    Arrays of numpy are copied to device memory when the launch begins, and back when it ends.
    """

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="warplens-stream")
        self._lock = threading.Lock()
        self._last: PendingReport | None = None
        self._closed = False

    def _submit(self, launch: Callable[[], Report]) -> PendingReport:
        with self._lock:
            if self._closed:
                raise ClosedError("the stream is closed")
            self._last = PendingReport(self._executor.submit(launch))
            return self._last

    def synchronize(self) -> None:
        """Waits for all launches so far. Their errors are raised by their result()."""
        with self._lock:
            last = self._last
        if last is None:
            return
        try:
            last.result()
        except Exception:  # the launch's own; see result()
            pass

    def close(self) -> None:
        """Waits for all launches; later ones raise ClosedError."""
        with self._lock:
            self._closed = True
        self.synchronize()
        self._executor.shutdown(wait=True)

    def __repr__(self) -> str:
        last = self._last
        state = "closed" if self._closed else "idle" if last is None or last.done() else "busy"
        return f"<stream, {state}>"

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
