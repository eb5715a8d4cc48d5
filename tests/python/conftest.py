# SPDX-License-Identifier: Apache-2.0
"""Paths, and the modules that several tests use."""

import os
from pathlib import Path

import pytest

import warplens as wl

SOURCE = Path(os.environ.get("WARPLENS_SOURCE", Path(__file__).parents[2]))


@pytest.fixture(scope="session")
def samples():
    return SOURCE / "samples"


@pytest.fixture(scope="session")
def kernels():
    """tests/python/kernels.ptx"""
    return wl.load(SOURCE / "tests/python/kernels.ptx")


@pytest.fixture()
def saxpy(samples):
    return wl.load(samples / "saxpy/saxpy.ptx")
