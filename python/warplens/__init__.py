# SPDX-License-Identifier: Apache-2.0
"""Warplens: run PTX kernels on the CPU, and see how a GPU would execute them.

>>> import numpy as np, warplens as wl
>>> module = wl.load("saxpy.ptx")
>>> x, y = np.arange(1024, dtype=np.float32), np.ones(1024, np.float32)
>>> report = module.saxpy[4, 256](np.int32(1024), np.float32(2), x, y, device="c1060")
>>> report.metrics["sectors_per_request"], report.predictions["dasgupta"].milliseconds

docs/python.md explains more.
"""

from warplens import _core
from warplens._arrays import DeviceArray, Sampler, Surface, Texture, array, from_dlpack, zeros
from warplens._catalogue import (
    Comparison,
    Device,
    Run,
    analyzers,
    calibrate,
    compare,
    device,
    devices,
    load_rule,
    metrics,
    models,
    occupancy,
    occupancy_curve,
    predict,
    read_sweep,
    rules,
    run,
    statistic_names,
    sweep,
)
from warplens._errors import (
    ArgumentError,
    ClosedError,
    Error,
    ForkError,
    InputError,
    LaunchError,
    ParseError,
    Trap,
)
from warplens._module import Kernel, Launcher, Module, compile, load, load_all, load_ptx
from warplens._report import Finding, LaunchView, Metrics, Prediction, Report
from warplens._research import Analyzer, Batch, Statistics, distinct, lanes_of, model, rule
from warplens._streams import PendingReport, Stream
from warplens._table import Table
from warplens._trace import Accesses, Trace

#: A rule as data; load_rule() makes it.
Rule = _core.Rule

__version__ = _core.version()

__all__ = [
    "Accesses",
    "Analyzer",
    "ArgumentError",
    "Batch",
    "ClosedError",
    "Comparison",
    "Device",
    "DeviceArray",
    "Error",
    "Finding",
    "ForkError",
    "InputError",
    "Kernel",
    "LaunchError",
    "LaunchView",
    "Launcher",
    "Metrics",
    "Module",
    "ParseError",
    "PendingReport",
    "Prediction",
    "Report",
    "Rule",
    "Run",
    "Sampler",
    "Statistics",
    "Stream",
    "Surface",
    "Table",
    "Texture",
    "Trace",
    "Trap",
    "analyzers",
    "array",
    "calibrate",
    "compare",
    "compile",
    "device",
    "devices",
    "distinct",
    "from_dlpack",
    "lanes_of",
    "load",
    "load_all",
    "load_ptx",
    "load_rule",
    "metrics",
    "model",
    "models",
    "occupancy",
    "occupancy_curve",
    "predict",
    "read_sweep",
    "rule",
    "rules",
    "run",
    "statistic_names",
    "sweep",
    "zeros",
]
