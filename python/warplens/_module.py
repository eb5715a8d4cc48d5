# SPDX-License-Identifier: Apache-2.0
"""Modules and kernels."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from warplens import _core
from warplens._checks import checked, dtype_of, path
from warplens._errors import ArgumentError, Error, InputError, Trap
from warplens._report import Report
from warplens._research import function_models, predict_with, split_analyzers, split_rules

if TYPE_CHECKING:
    from warplens._streams import PendingReport

Extent = int | Sequence[int]
#: Options that the core takes as they are.
_PLAIN = frozenset(("device", "shared", "cluster", "cooperative", "per_block", "l1", "registers", "analyze", "footprint",
                    "tools", "workers", "max_steps", "progress"))


class Launcher:
    """A kernel with a grid and a block: call it with the arguments of the kernel."""

    __slots__ = ("_block", "_grid", "_kernel", "_of")

    def __init__(self, kernel: Kernel, grid: Extent, block: Extent) -> None:
        self._kernel = kernel._core
        self._of = kernel
        self._grid = grid
        self._block = block

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Launches, and returns the Report; with a stream, a PendingReport.

        Arguments: arrays of numpy, which are copied to device memory and back; DeviceArrays; textures; scalars of
        numpy by their dtype; numbers of Python, which take the type of the parameter; structures as structured scalars
        of numpy, bytes, or ctypes.Structure. Warplens checks them against the parameters.

        Options:
          device        a name, a file or a Device; default: C1060 for targets before sm_20, else H200
          rules         rules to count under, too: names, files, Rule, or functions
          analyzers     names of analyzers, instances or classes of Analyzer
          models        functions, see ``model``
          trace         True, or a file: records the events; see Report.trace
          shared        dynamic shared memory of a block in bytes
          cluster       blocks of a cluster
          cooperative   all blocks run at the same time
          per_block     also count for each block
          l1            "on", "off", "enlarged": whether global loads use the first-level cache
          registers     of a thread, for the occupancy
          analyze       False: only run
          footprint     count distinct sectors, for the lower bounds
          tools         "memcheck", "racecheck", …: see Report.messages
          workers       threads of the emulator; 0: one for each processor
          max_steps     warp instructions after which the kernel is stopped; 0: no limit
          progress      a function that is called with the number of finished blocks and of all
          stream        a Stream
        """
        if _PLAIN.issuperset(options):
            core, messages, errors = self._kernel.launch(self._grid, self._block, arguments, options)
            return _checked(Report(core, messages, errors))
        stream = options.pop("stream", None)
        if stream is not None:
            from warplens._streams import Stream

            pending: PendingReport = checked("stream", stream, Stream, "a warplens.Stream")._submit(
                lambda: self._launch(arguments, options))
            return pending
        return self._launch(arguments, options)

    def __repr__(self) -> str:
        return f"<launch of {self._of.source_name}: grid {self._grid}, block {self._block}>"

    def _launch(self, arguments: tuple[Any, ...], options: dict[str, Any]) -> Report:
        options = dict(options)
        counters = split_rules(options)
        watchers = split_analyzers(options)
        models = function_models(options.pop("models", None))
        if (counters or watchers or models) and options.get("analyze") is False:
            raise ArgumentError("rules, analyzers and models need analyze=True")
        temporary = None
        trace = options.get("trace")
        if trace is True:
            temporary = tempfile.TemporaryDirectory(prefix="warplens-")
            options["trace"] = os.path.join(temporary.name, "trace.h5")
        elif trace is False or trace is None:
            options.pop("trace", None)
        else:
            options["trace"] = path("trace", trace)
        if counters:
            options["_merged"] = counters
        if watchers:
            options["_each"] = [w._pass for w in watchers]
            for watcher in watchers:
                watcher.begin()
        core, messages, errors = self._kernel.launch(self._grid, self._block, arguments, options)
        report = Report(core, messages, errors, options.get("trace"), temporary)
        _checked(report)
        for counter in counters:
            counter.add_to(core)
        if models:
            predict_with(core, report, models, options.get("device"))
        for watcher in watchers:
            report.analyses[watcher._title()] = watcher.end()
        return report


def _checked(report: Report) -> Report:
    trap = report._core.trap
    if trap is not None:
        kind, text, diagnostics = trap
        raise Trap(text, kind, report, diagnostics)
    return report


class Kernel:
    """A kernel: ``kernel[grid, block](arguments…)`` launches it.

    grid and block are numbers or tuples of up to three: blocks, and threads of a block.
    """

    def __init__(self, core: _core.Kernel) -> None:
        self._core = core

    @property
    def name(self) -> str:
        """The name in the PTX."""
        return self._core.name

    @property
    def source_name(self) -> str:
        """The name in the CUDA source."""
        return self._core.source_name

    @property
    def parameters(self) -> list[dict[str, Any]]:
        """Name, type and bytes of each parameter, whether it is a structure, and its type in the source if known."""
        keys = ("name", "type", "bytes", "is_struct", "source_type")
        return [dict(zip(keys, one)) for one in self._core.parameters]

    def __getitem__(self, extents: tuple[Extent, Extent]) -> Launcher:
        if not isinstance(extents, tuple) or len(extents) != 2:
            raise ArgumentError(f"expected kernel[grid, block], found kernel[{extents!r}]\n"
                                "  hint: the rest are options: kernel[grid, block](…, shared=…, stream=…)")
        return Launcher(self, *extents)

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise ArgumentError(f"kernel {self.source_name} needs a grid and a block: "
                            f"module.{self.source_name}[grid, block](…)")

    def __repr__(self) -> str:
        types = [p["source_type"] or f"{p['type']}, {p['bytes']} bytes" for p in self.parameters]
        return f"<kernel {self.source_name}({', '.join(types)})>"


class Module:
    """A module: its kernels are attributes, and ``module["scale<float>"]`` finds those with other names."""

    def __init__(self, core: _core.Module, name: str) -> None:
        self._core = core
        self._name = name
        self._found: dict[str, Kernel] = {}

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("__") or "_core" not in self.__dict__:  # of Python; a copy that is being made
            raise AttributeError(name)
        try:
            found = self.__dict__[name] = self[name]  # the next time, Python finds it first
        except InputError as error:
            raise AttributeError(str(error)) from None
        except Error as error:  # notebooks ask for _repr_html_ of a closed module, too
            if name.startswith("_"):
                raise AttributeError(str(error)) from None
            raise
        return found

    def __getitem__(self, name: str) -> Kernel:
        found = self._found.get(checked("kernel", name, str, "the name of a kernel"))
        if found is None:
            found = self._found[name] = Kernel(self._find(name))
        return found

    def __dir__(self) -> list[str]:
        names = [] if self.closed else [k.source_name for k in self.kernels if k.source_name.isidentifier()]
        return [*super().__dir__(), *names]

    def _find(self, name: str) -> _core.Kernel:
        try:
            return self._core.kernel(name)
        except InputError:
            instances = [k.source_name for k in self.kernels if k.source_name.startswith(name + "<")]
            if not instances:
                raise
            raise InputError(f"no kernel {name!r}, but instances of this template: {', '.join(instances)}\n"
                             f"  hint: module[{instances[0]!r}]") from None

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and self[name] is not None
        except InputError:
            return False

    def __iter__(self) -> Iterator[Kernel]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self._core.kernel_names())

    def __bool__(self) -> bool:
        return True

    @property
    def kernels(self) -> list[Kernel]:
        """All kernels, in the order of the PTX."""
        return [self[name] for name in self._core.kernel_names()]

    @property
    def warnings(self) -> str:
        """What loading could not do."""
        return self._core.warnings()

    def summary(self) -> list[dict[str, Any]]:
        """Registers and memory of each kernel, and in `blocked_by` why it cannot be launched; see ``warplens check``."""
        return self._core.summary()

    def variable(self, name: str, dtype: npt.DTypeLike = np.uint8) -> npt.NDArray[Any]:
        """A .global or .const variable as an array of numpy, without a copy: read and write it between launches."""
        element = dtype_of(dtype)
        view = _core.variable_view(self._core, checked("name", name, str, "the name of a variable"))
        if len(view) % element.itemsize:
            raise ArgumentError(f"dtype: variable {name!r} has {len(view)} bytes, which are no elements of {element}")
        return np.frombuffer(view, dtype=element)

    def bind(self, name: str, texture: _core.Texture) -> None:
        """Binds a texture, surface or sampler to the variable of that name. Keep the texture while kernels use it."""
        self._core.bind(checked("name", name, str, "the name of a variable"),
                        checked("texture", texture, _core.Texture, "a texture, surface or sampler"))

    @property
    def closed(self) -> bool:
        """Whether the module has been closed."""
        return self._core.closed

    def close(self) -> None:
        """Gives the memory of the variables back; later uses raise ClosedError."""
        self._core.close()
        self._found.clear()

    def __enter__(self) -> Module:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return f"<module {self._name}, closed>"
        return f"<module {self._name}: {', '.join(k.source_name for k in self.kernels)}>"


def load_all(file: str | os.PathLike[str], *, device: Any = None) -> list[Module]:
    """The modules of a file: PTX, CUDA source, a fat binary, an object file, a program, or output of cuobjdump.

    `device`: selects the PTX of a fat binary, and the target for CUDA source; default: the newest.
    """
    name = path("file", file)
    modules, notes = _core.read_code(name, device)
    for note in notes:
        warnings.warn(note, stacklevel=3)
    return [_module(_core.Module.load(sources), name) for sources in modules]


def load(file: str | os.PathLike[str], *, device: Any = None) -> Module:
    """The module of a file; see load_all(). InputError: the file has several."""
    modules = load_all(file, device=device)
    if len(modules) != 1:
        raise InputError(f"{os.fspath(file)} has {len(modules)} modules: expected one\n  hint: warplens.load_all()")
    return modules[0]


def load_ptx(*texts: str | bytes, name: str = "<ptx>") -> Module:
    """A module from PTX as text; several texts are linked."""
    for text in texts:
        checked("text", text, (str, bytes), "PTX as str or bytes")
    sources = [(text.encode(errors="replace") if isinstance(text, str) else text, name if len(texts) == 1 else f"{name} {i}")
               for i, text in enumerate(texts)]
    return _module(_core.Module.load(sources), name)


def compile(source: str | os.PathLike[str], *, device: Any = None) -> Module:
    """Compiles CUDA source with nvcc or clang++, whichever is installed. `source`: a file, or the text."""
    if isinstance(source, str) and ("\n" in source or "{" in source and not os.path.exists(source)):
        with tempfile.TemporaryDirectory(prefix="warplens-") as folder:
            file = Path(folder) / "kernel.cu"
            file.write_text(source, encoding="utf-8")
            return load(file, device=device)
    return load(source, device=device)


def _module(core: _core.Module, name: str) -> Module:
    text = core.warnings()
    if text:
        warnings.warn(text, stacklevel=4)
    return Module(core, name)

