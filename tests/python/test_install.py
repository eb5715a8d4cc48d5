# SPDX-License-Identifier: Apache-2.0
"""pip installs the package from the source tree, without a network."""

import os
import subprocess
import sys
import zipfile

import pytest

from conftest import SOURCE

BUILD = os.environ.get("WARPLENS_BUILD")

SCRIPT = """
import numpy as np, warplens as wl
assert wl.__file__.startswith({target!r}), wl.__file__
y = np.ones(4, np.float32)
wl.load({samples!r} + "/saxpy/saxpy.ptx").saxpy[1, 32](4, 2.0, np.arange(4, dtype=np.float32), y)
print(y)
"""


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    if BUILD is None:
        pytest.skip("WARPLENS_BUILD names no build folder")
    pytest.importorskip("pip")
    folder = tmp_path_factory.mktemp("installed")
    done = subprocess.run([sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--no-cache-dir", "--target",
                           str(folder), str(SOURCE)], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""})
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def python(target, *arguments):
    environment = {k: v for k, v in os.environ.items() if k != "WARPLENS_BUILD"}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True, cwd=target,
                          env={**environment, "PYTHONPATH": str(target)}).stdout


def test_the_installed_package_runs(target):
    script = SCRIPT.format(target=str(target), samples=str(SOURCE / "samples"))
    assert python(target, "-c", script) == "[1. 3. 5. 7.]\n"


def test_the_program_is_inside(target):
    assert python(target, "-m", "warplens", "--version").startswith("warplens ")
    assert (target / "warplens/_install/bin/warplens").exists()
    assert (target / "bin/warplens").exists()  # the script


def test_types_are_declared(target):
    assert (target / "warplens/py.typed").exists() and (target / "warplens/_core.pyi").exists()


def test_two_wheels_are_the_same(tmp_path, monkeypatch):
    if BUILD is None:
        pytest.skip("WARPLENS_BUILD names no build folder")
    monkeypatch.syspath_prepend(str(SOURCE / "python"))
    import backend

    names = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        names.append(folder / backend.build_wheel(str(folder)))
    assert names[0].read_bytes() == names[1].read_bytes()
    with zipfile.ZipFile(names[0]) as wheel:
        assert wheel.testzip() is None
        listed = {line.split(",")[0] for line in wheel.read(wheel.namelist()[-1]).decode().splitlines()}
        assert listed == set(wheel.namelist())
