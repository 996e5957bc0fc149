"""What does `python script.py` or `python -m module` do, in a process that is up already?"""

from __future__ import annotations

import io
import os
import runpy
import sys
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType
from typing import NoReturn

_CANNOT_OPEN = 2  # Python's exit code for a script that is not there


def run(arguments: list[str]) -> NoReturn:
    """Run it as `__main__`; ends by SystemExit, so that the interpreter ends as it always does."""
    sys.orig_argv = [sys.executable, *arguments]
    main = sys.modules["__main__"] = ModuleType("__main__")
    main.__dict__.update({"__annotations__": {}, "__builtins__": sys.modules["builtins"]})
    try:
        if arguments[0] == "-m":
            _run_module(arguments)
        else:
            _run_script(arguments, main)
    except SystemExit as ending:
        sys.exit(ending.code)  # whoever watches `sys.exit` sees `raise SystemExit`, too
    except Exception as error:  # noqa: BLE001 - whatever the script lets pass
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_globals is globals():
            trace = trace.tb_next  # a script's traceback begins in the script
        sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        sys.exit(1)
    sys.exit(0)


def _run_module(arguments: list[str]) -> None:
    sys.argv = arguments[1:]
    _begin_path_with(os.getcwd())  # noqa: PTH109 - a string, like all of sys.path
    runpy._run_module_as_main(arguments[1])  # type: ignore[attr-defined] # noqa: SLF001 - what `-m` calls


def _run_script(arguments: list[str], main: ModuleType) -> None:
    path = os.path.abspath(arguments[0])  # noqa: PTH100 - as Python does, dots and links stay
    code = _compiled(path)
    sys.argv = list(arguments)
    _begin_path_with(os.path.dirname(os.path.realpath(path)))  # noqa: PTH120
    main.__file__ = path
    main.__loader__ = SourceFileLoader("__main__", path)
    main.__dict__["__cached__"] = None
    exec(code, main.__dict__)  # noqa: S102 - our purpose


def _begin_path_with(folder: str) -> None:
    """Instead of the folder in which this process was started."""
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _compiled(path: str) -> CodeType:
    try:
        with io.open_code(path) as file:
            source = file.read()
    except OSError as problem:
        why = f"[Errno {problem.errno}] {problem.strerror}"
        sys.stderr.write(f"{sys.executable}: can't open file {path!r}: {why}\n")
        sys.exit(_CANNOT_OPEN)
    code: CodeType = compile(source, path, "exec", dont_inherit=True)
    return code
