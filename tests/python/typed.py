# SPDX-License-Identifier: Apache-2.0
"""What users write, for mypy: it is checked, not run."""

import numpy as np

import warplens as wl


def look(file: str) -> float:
    module = wl.load(file)
    x = wl.zeros((4, 4), np.float32, name="x")
    shape: tuple[int, ...] = x.shape
    report: wl.Report = module.kernel[(1, 2), 32](x, np.int32(shape[0]), rules=["1.2"])
    table: wl.Table = report.lines
    count: int = len(table)
    predicted: dict[str, wl.Prediction] = report.predictions
    names: list[str] = [finding.rule for finding in report.findings]
    accesses: wl.Accesses = wl.Trace("t.h5").accesses(0, 12)
    return predicted["dasgupta"].milliseconds + count + len(names) + float(accesses.addresses.sum())


class Count(wl.Analyzer):
    def begin(self) -> None:
        self.n = 0

    def accesses(self, batch: wl.Batch) -> None:
        self.n += int(batch.in_space("global").sum())
