# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel for pip (PEP 517) with CMake, and needs nothing but the standard library.

The environment variable WARPLENS_BUILD names a build folder that exists; otherwise build-python/ is used.
"""

import base64
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUMMARY = "Emulates NVIDIA PTX kernels on the CPU and reports how a GPU would execute them"


def version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(warplens VERSION ([0-9.]+)", text).group(1)


def metadata():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return (f"Metadata-Version: 2.1\nName: warplens\nVersion: {version()}\nSummary: {SUMMARY}\nLicense: Apache-2.0\n"
            f"Requires-Python: >=3.11\nRequires-Dist: numpy\nProvides-Extra: pandas\n"
            f"Requires-Dist: pandas; extra == 'pandas'\nDescription-Content-Type: text/markdown\n\n{readme}")


def tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = re.sub(r"[^0-9a-zA-Z_]", "_", sysconfig.get_platform())
    return f"{python}-{python}-{platform}"


def run(*command):
    print("+", *command, file=sys.stderr)
    subprocess.run(command, check=True, stdout=sys.stderr)


def build():
    """The build folder, with the package and the program."""
    given = os.environ.get("WARPLENS_BUILD")
    folder = Path(given) if given else ROOT / "build-python"
    if not given:
        if shutil.which("cmake") is None:
            raise SystemExit("warplens: cmake is missing; docs/install.md lists the packages that the build needs")
        run("cmake", "-S", str(ROOT), "-B", str(folder), *(["-G", "Ninja"] if shutil.which("ninja") else []),
            "-DCMAKE_BUILD_TYPE=Release", "-DWARPLENS_PYTHON=ON", "-DWARPLENS_TESTS=OFF", "-DWARPLENS_BENCHMARKS=OFF",
            f"-DPython_EXECUTABLE={sys.executable}")
        run("cmake", "--build", str(folder), "--parallel", str(os.cpu_count() or 1))
    return folder


def files_of_wheel(folder, stage):
    """(name in the wheel, path) of each file; `stage` is a folder for installed files."""
    package = folder / "python/warplens"
    for path in sorted(package.iterdir()):
        if path.suffix in (".py", ".pyi", ".so", ".typed") or path.name == "py.typed":
            yield f"warplens/{path.name}", path
    for component in ("program", "runtime"):
        run("cmake", "--install", str(folder), "--prefix", str(stage), "--component", component)
    for path in sorted(stage.rglob("*")):
        relative = path.relative_to(stage).as_posix()
        if path.is_file() and not relative.startswith("share/"):
            yield f"warplens/_install/{relative}", path


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    folder = build()
    info = f"warplens-{version()}.dist-info"
    name = f"warplens-{version()}-{tag()}.whl"
    records = []
    with tempfile.TemporaryDirectory() as stage, zipfile.ZipFile(
            Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(path, data, mode=0o644):
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))  # the same wheel from the same files
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            records.append(f"{path},sha256={digest},{len(data)}")

        for path, file in files_of_wheel(folder, Path(stage)):
            add(path, file.read_bytes(), 0o755 if os.access(file, os.X_OK) else 0o644)
        add(f"{info}/METADATA", metadata().encode())
        add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: warplens\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode())
        add(f"{info}/entry_points.txt", b"[console_scripts]\nwarplens = warplens.__main__:main\n")
        add(f"{info}/LICENSE", (ROOT / "LICENSE").read_bytes())
        records.append(f"{info}/RECORD,,")
        entry = zipfile.ZipInfo(f"{info}/RECORD", (2020, 1, 1, 0, 0, 0))
        entry.external_attr = 0o100644 << 16
        wheel.writestr(entry, "\n".join(records) + "\n")
    return name


def build_sdist(sdist_directory, config_settings=None):
    base = f"warplens-{version()}"
    name = f"{base}.tar.gz"

    def keep(entry):
        relative = entry.name[len(base) + 1:]
        first = relative.split("/", 1)[0]
        return None if first.startswith("build") or first == ".git" or "__pycache__" in relative else entry

    with tarfile.open(Path(sdist_directory) / name, "w:gz") as archive:
        archive.add(ROOT, base, filter=keep)
        info = tarfile.TarInfo(f"{base}/PKG-INFO")
        data = metadata().encode()
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return name
