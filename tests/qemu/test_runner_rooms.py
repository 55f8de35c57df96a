"""The layers of the runner. A file may import only from its own folder and from the folders of lower layers."""
import ast
import pathlib
import re

import pytest

QEMU = pathlib.Path(__file__).resolve().parents[2] / "qemu"
# The layers from top to bottom. Files in a folder may import from this folder and from later folders in this list. The
# SCRIPTS may import from all folders.
ROOMS = ["next", "runner", "machine", "lab", "serve", "readers", "results"]
SCRIPTS = ["run", "fleet", "nextboot"]
FILES_MAX = 12
# Largest number of commands in qemu. Only commands, and files whose paths users rely on, are in this folder.
COMMANDS_MAX = 18


def files():
    return [*(QEMU / name for name in SCRIPTS), *sorted(QEMU.rglob("*.py"))]


def name_of(path):
    return ".".join(path.relative_to(QEMU).with_suffix("").parts)


def imports(text, known):
    """Yield the modules among KNOWN that the source TEXT imports, by `import` or by `from ... import`."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (name for name in names if name in known)


def arrows(sources):
    return {name: set(imports(text, sources)) - {name} for name, text in sources.items()}


def up(uses):
    """Return each import from a folder of a higher layer."""
    def floor(name):
        room, _, file = name.partition(".")
        return ROOMS.index(room) if file else -1
    return [f"{name} -> {used}" for name in sorted(uses) for used in sorted(uses[name]) if floor(used) < floor(name)]


def circle(uses):
    """Return a chain of imports that leads from a file back to itself, or None."""
    def walk(path):
        for used in sorted(uses[path[-1]]):
            if used in path:
                return path[path.index(used):] + [used]
            found = walk(path + [used])
            if found:
                return found
        return None
    return next(filter(None, (walk([name]) for name in sorted(uses))), None)


def test_imports_run_down_and_in_no_circle():
    uses = arrows({name_of(path): path.read_text() for path in files()})
    assert len(uses) > 12 and "results.reports" in uses["machine.transcript"]
    assert up(uses) == []
    assert circle(uses) is None


@pytest.mark.parametrize("sources, arrow", [
    ({"results.a": "from machine import b", "machine.b": ""}, "results.a -> machine.b"),
    ({"results.a": "def f():\n    from machine.b import c", "machine.b": ""}, "results.a -> machine.b"),
    ({"machine.a": "import runner.b", "runner.b": ""}, "machine.a -> runner.b"),
    ({"runner.a": "import run", "run": ""}, "runner.a -> run"),
])
def test_an_import_from_a_folder_above_is_found(sources, arrow):
    assert up(arrows(sources)) == [arrow]


def test_a_circle_of_imports_is_found():
    assert circle(arrows({"results.a": "from results import b", "results.b": "import results.a"})) == [
        "results.a", "results.b", "results.a"]


def test_each_file_is_in_a_listed_folder_and_each_folder_has_a_readme():
    assert {path.parent.name for path in files()} == {"qemu", *ROOMS}
    for folder in (QEMU, *(QEMU / room for room in ROOMS)):
        assert (folder / "README.md").is_file(), folder
        most = COMMANDS_MAX if folder == QEMU else FILES_MAX
        assert len([path for path in folder.iterdir() if path.is_file()]) <= most, folder


# The modules that may write to a terminal. Both of them remove control characters.
PRINTERS = {"results.sanitize", "machine.console"}
PRINTS = re.compile(r"print|input|sys\.(stdout|stderr|__stdout__|__stderr__)\.(write|writelines|buffer.*)|traceback\.print_\w+|os\.write|"
                    r"argparse\.ArgumentParser|logging\.\w+|warnings\.warn|faulthandler\.\w+")


def calls(text):
    """Yield the names of the functions that the source TEXT calls, or uses as base classes."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)
        elif isinstance(node, ast.ClassDef):
            yield from map(ast.unparse, node.bases)


def test_one_module_prints():
    found = {name_of(path): list(filter(PRINTS.fullmatch, calls(path.read_text()))) for path in files()}
    assert {name for name, printed in found.items() if printed} == PRINTERS


@pytest.mark.parametrize("text", ["print(line)", "sys.stderr.write(line)", "traceback.print_exc()", "os.write(1, data)",
                                  "class Parser(argparse.ArgumentParser):\n    pass"])
def test_a_line_that_is_printed_elsewhere_is_found(text):
    assert list(filter(PRINTS.fullmatch, calls(text)))
