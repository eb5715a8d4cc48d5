# SPDX-License-Identifier: Apache-2.0
"""The code of docs/python.md and of the notebooks runs; the types of the package are complete."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

import warplens as wl
from conftest import SOURCE

PAGE = SOURCE / "docs/python.md"
NOTEBOOKS = sorted((SOURCE / "docs/notebooks").glob("*.ipynb"))


def test_the_code_of_the_page_runs(monkeypatch):
    monkeypatch.chdir(SOURCE)
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    assert len(blocks) > 5
    names = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)


def test_the_page_has_each_option():
    text = PAGE.read_text()
    for option in re.findall(r"^          (\w+) +[a-z\"TFr]", wl.Launcher.__call__.__doc__, re.M):
        assert f"`{option}`" in text, option


def test_every_public_name_has_a_docstring():
    for name in wl.__all__:
        assert getattr(wl, name).__doc__, name


def outputs(notebook):
    """The text that each cell shows."""
    return ["".join(text for output in cell.get("outputs", []) for text in
                    output.get("text", output.get("data", {}).get("text/plain", [])) if "Figure" not in text)
            for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[p.stem for p in NOTEBOOKS])
def test_notebooks_run_and_show_what_they_say(path, tmp_path):
    pytest.importorskip("nbconvert")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    folder = tmp_path / "docs/notebooks"
    folder.mkdir(parents=True)
    (tmp_path / "samples").symlink_to(SOURCE / "samples")
    shutil.copy(path, folder)
    done = subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output", "out.ipynb",
                           str(folder / path.name)], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "IPYTHONDIR": str(tmp_path / "ipython"),
                               "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"), "MPLBACKEND": "module://matplotlib_inline.backend_inline"})
    assert done.returncode == 0, done.stderr[-3000:]
    executed = json.loads((folder / "out.ipynb").read_text())
    assert outputs(executed) == outputs(json.loads(path.read_text())), "the notebook is stale: execute it again"


def test_types():
    if shutil.which("mypy") is None:
        pytest.skip("mypy is missing")
    done = subprocess.run(["mypy", "--strict", "--python-version", "3.11", "--cache-dir", os.devnull,
                           "warplens", str(SOURCE / "tests/python/typed.py")], cwd=SOURCE / "python", capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stdout


def test_types_refuse_what_is_wrong(tmp_path):
    if shutil.which("mypy") is None:
        pytest.skip("mypy is missing")
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import warplens as wl\nreport = wl.load('k.ptx').k[1, 1]()\nx: int = wl.zeros(3).shape\n"
                     "wl.occupancy('9.0', threads='many')\n")
    done = subprocess.run(["mypy", "--strict", "--python-version", "3.11", "--cache-dir", os.devnull, str(wrong)],
                          cwd=SOURCE / "python", capture_output=True, text=True)
    assert done.stdout.count(": error:") == 2, done.stdout


def test_the_stub_names_what_the_module_has():
    from warplens import _core

    stub = (SOURCE / "python/warplens/_core.pyi").read_text()
    known = set(re.findall(r"^(?:class|def) (\w+)", stub, re.M))
    present = {name for name in dir(_core) if not name.startswith("_")}
    assert present - {"Column", "Rows", "View"} == known
    for name in known & {n for n in present if isinstance(getattr(_core, n), type)}:
        body = re.search(rf"^class {name}.*?:\n(.*?)(?=^\S|\Z)", stub, re.M | re.S).group(1)
        methods = set(re.findall(r"^    def (\w+)", body, re.M)) - {"__init__"}
        assert methods == {m for m in vars(getattr(_core, name)) if not m.startswith("_")}, name
