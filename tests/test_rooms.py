"""The layers of the code. An object file may use symbols only of its own folder and of the folders that are below it.

`make rooms` prints the folders that each folder may use, as src/rooms.mk and other rooms.mk list them. The tests
compare the #include lines with this list. They also compare the symbols in the object files, for the host and for the
application."""
import collections
import functools
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parent.parent
BUILD = ROOT / "build"
FILES_MAX = 14  # maximum number of code files in a folder: about a dozen, with some reserve
HEADER_LINES_MAX = 300  # maximum number of lines of a header
FIELDS_MAX = 20  # maximum number of fields in a struct, except the structs of the report


@functools.cache
def rooms():
    """Return {folder: folders that it may use directly}, as `make rooms` prints them."""
    lines = subprocess.run(["make", "-s", "rooms"], cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout
    return {room: used.split() for room, used in (line.split(":") for line in lines.splitlines())}


def below(uses, room):
    """Return all folders that ROOM may use directly or indirectly, and ROOM itself. Fails if a folder is below
    itself."""
    seen, path = set(), []

    def walk(at):
        assert at not in path, f"a circle: {' -> '.join(path + [at])}"
        path.append(at)
        seen.add(at)
        for used in uses[at]:
            walk(used)
        path.pop()

    walk(room)
    return seen


def symbols(objects):
    """Return [(path, defined symbols, undefined symbols)] for the object files, as nm prints them."""
    listing = subprocess.run(["nm", "-gA", *objects], check=True, text=True, stdout=subprocess.PIPE).stdout
    found = {path: (set(), set()) for path in objects}
    for path, line in (line.rsplit(":", 1) for line in listing.splitlines()):
        kind, name = line.split()[-2:]
        if kind != "w":
            found[pathlib.Path(path)][kind == "U"].add(name)
    return [(path, *names) for path, names in found.items()]


def interface(uses, room):
    """Return the folder whose headers declare the functions of ROOM. This is ROOM itself, or for example boot/firmware,
    whose headers boot/uefi/firmware implements."""
    shared = re.sub("^boot/(uefi|bare)/", "boot/", room)
    return shared if shared in uses else room


def arrows_up(uses, listed, room_of):
    """Return "folder -> folder: symbol" for each symbol that a folder uses from a folder on which
    the lists do not let it depend."""
    homes, wanted = {}, collections.defaultdict(set)
    for path, defined, undefined in listed:
        for name in defined:
            homes[name] = interface(uses, room_of(path))
        wanted[room_of(path)] |= undefined
    return [f"{room} -> {homes[name]}: {name}" for room in sorted(wanted) for name in sorted(wanted[room])
            if name in homes and homes[name] not in below(uses, room)]


def test_each_folder_in_the_lists_exists_and_is_not_below_itself():
    uses = rooms()
    for room, used in uses.items():
        assert (ROOT / room).is_dir() and all(name in uses for name in used), room
        below(uses, room)


def test_every_c_file_of_the_product_is_in_a_listed_folder():
    uses = rooms()
    found = {str(path.parent.relative_to(ROOT)) for layer in ("src", "drivers", "boot")
             for path in (ROOT / layer).rglob("*.[ch]")}
    assert found == {room for room in uses if list((ROOT / room).glob("*.[ch]"))}


@pytest.mark.parametrize("built, other", [("host", "boot/bare"), ("efi", "boot/bare"), ("efi", "boot/uefi")])
def test_symbols_come_from_folders_below(built, other):
    """Check the image with one of the two boots (UEFI or bare). The code of the OTHER boot is not in it."""
    uses = {room: used for room, used in rooms().items() if not room.startswith(other)}
    folder = BUILD / built
    objects = [folder / path.relative_to(ROOT).with_suffix(".o") for room in uses
               for path in sorted((ROOT / room).iterdir()) if path.suffix in (".c", ".nasm")]
    objects = [path for path in objects if path.exists()]
    assert len(objects) > 60
    up = arrows_up(uses, symbols(objects), lambda path: str(path.parent.relative_to(folder)))
    assert up == []


LAYERS = ("src", "drivers", "boot")


def foreign_headers(uses, room, text):
    """Return the headers that TEXT, a file of ROOM, includes and must not include: headers named without their folder,
    and headers from a folder that is not below ROOM."""
    allowed = below(uses, room)
    named = re.findall(r'^#include "([^"]+)"', text, re.M)
    return [name for name in named
            if not any(str(pathlib.PurePath(layer, name).parent) in allowed and (ROOT / layer / name).is_file() for layer in LAYERS)]


def test_headers_are_included_with_their_folder_and_come_from_folders_below():
    uses = rooms()
    foreign = {str(path.relative_to(ROOT)): found for room in uses for path in sorted((ROOT / room).glob("*.[ch]"))
               if (found := foreign_headers(uses, room, path.read_text()))}
    assert foreign == {}


@pytest.mark.parametrize("line, found", [
    ('#include "sync/offsets.h"', []), ('#include "base/text.h"', []), ('#include <stdint.h>', []),
    ('#include "offsets.h"', ["offsets.h"]), ('#include "judge/judge_internal.h"', ["judge/judge_internal.h"]),
    ('#include "sync/missing.h"', ["sync/missing.h"])])
def test_a_header_from_above_or_without_its_folder_is_found(line, found):
    assert foreign_headers(rooms(), "src/sync", line + "\n") == found


def test_no_two_headers_have_the_same_name():
    """If two headers had the same name, the compiler would use the first one that it finds."""
    names = [str(path.relative_to(ROOT / layer)) for layer in LAYERS for path in (ROOT / layer).rglob("*.h")]
    assert len(names) == len(set(names)) > 100


def test_a_symbol_from_a_folder_above_is_found():
    uses = {"high": ["low"], "low": []}
    listed = [("high/a.o", {"a"}, {"b"}), ("low/b.o", {"b"}, {"a"})]
    assert arrows_up(uses, listed, lambda path: path.split("/")[0]) == ["low -> high: a"]


def test_a_symbol_of_a_shared_header_may_be_defined_above_and_no_other_symbol():
    uses = {"boot/guard": ["boot/firmware"], "boot/firmware": [], "boot/uefi/firmware": ["boot/firmware"],
            "boot/uefi/mp": ["boot/uefi/firmware"]}
    listed = [("boot/guard/guard.o", {"guard"}, {"allocate", "lend"}), ("boot/uefi/firmware/a.o", {"allocate"}, set()),
              ("boot/uefi/mp/mp.o", {"lend"}, {"allocate"})]
    up = arrows_up(uses, listed, lambda path: path.rsplit("/", 1)[0])
    assert up == ["boot/guard -> boot/uefi/mp: lend"]


def test_a_circle_of_folders_is_found():
    with pytest.raises(AssertionError, match="a circle: a -> b -> a"):
        below({"a": ["b"], "b": ["a"]}, "a")


def test_no_folder_has_too_many_files():
    for room in rooms():
        files = [path for path in (ROOT / room).iterdir() if re.search(r"\.(c|nasm)$", path.name)]
        assert len(files) <= FILES_MAX, room


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE)
    return [ROOT / name for name in listed.stdout.splitlines()]


def test_the_root_has_no_other_files():
    """A file that was committed by mistake is usually in the root folder."""
    found = {path.relative_to(ROOT).parts[0] for path in tracked()}
    assert {name for name in found if not name.startswith(".")} == {
        "CHANGELOG.md", "LICENSE", "Makefile", "README.md", "boot", "drivers", "qemu", "src", "tests"}


def test_no_line_is_wider_than_120_columns():
    wide = [f"{path.relative_to(ROOT)}:{number}" for path in tracked("*.[ch]", "*.nasm", "*.asm")
            for number, line in enumerate(path.read_text().splitlines(), 1) if len(line) > 120]
    assert wide == []


def conditionals(text):
    """Return the preprocessor's conditions in TEXT, except for the include guard of a header."""
    return [line for line in re.findall(r"^[ \t]*#[ \t]*(?:if|elif).*$", text, re.M) if not re.fullmatch(r"#ifndef BARETICK_\w+_H", line)]


def test_src_and_drivers_are_the_same_code_for_each_boot():
    files = tracked("src/*.[ch]", "drivers/*.[ch]")
    assert len(files) > 100
    assert {path: found for path in files if (found := conditionals(path.read_text()))} == {}


def test_a_condition_of_the_preprocessor_is_found():
    assert conditionals("#ifndef BARETICK_A_H\n#ifdef BARE\n# if 1\n") == ["#ifdef BARE", "# if 1"]


def test_every_folder_of_code_has_a_readme():
    """GitHub shows a folder's README. tests/unit has one README for all its folders, because they have the same names
    as folders of the code."""
    folders = {path.parent for path in tracked("*.c", "*.py", "*.js", "*.nasm")} - {ROOT}
    assert len(folders) > 40
    assert [str(folder) for folder in sorted(folders) if not (folder / "README.md").exists()
            and folder.parent != ROOT / "tests" / "unit"] == []


def count_fields(text):
    """Return {tag: number of fields} of the structs and unions that TEXT, a C file, defines. The fields of a struct
    without a tag count as fields of the struct around it."""
    text = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', "", text, flags=re.M | re.S)
    counts = {}
    while match := re.search(r"(\b(?:struct|union)\s*(\w*)\s*)?\{([^{}]*)\}", text):
        start, tag, body = match.groups()
        count = 0
        for field in body.split(";"):
            inner = re.search(r"@(\d+)@", field)
            count += int(inner.group(1)) if inner else 0
            names = field[inner.end():] if inner else field
            while names != (names := re.sub(r"\([^()]*\)|\[[^][]*\]", "", names)):
                pass
            count += names.count(",") + 1 if names.strip() else 0
        if start and tag:
            counts[tag] = count
        text = text[:match.start()] + (f"{start} " if tag else f"@{count}@" if start else "") + text[match.end():]
    return counts


def test_no_struct_outside_the_report_has_too_many_fields():
    """A struct with many fields has several purposes, and each function that gets it can use all of them."""
    counts = {(path.name, tag): count for path in tracked("src/*.[ch]", "drivers/*.[ch]", "boot/*.[ch]")
              if path.parent != ROOT / "src" / "report" for tag, count in count_fields(path.read_text()).items()}
    assert len(counts) > 300 and counts["clock.h", "clock"] > 10
    assert {at: count for at, count in counts.items() if count > FIELDS_MAX} == {}


def test_no_header_is_too_long():
    lines = {str(path.relative_to(ROOT)): len(path.read_text().splitlines())
             for path in tracked("src/*.h", "drivers/*.h", "boot/*.h")}
    assert len(lines) > 100
    # the format of the record, and the state of the measurements
    assert {path for path, count in lines.items() if count > HEADER_LINES_MAX} == {"src/record/record.h", "src/measure/survey.h"}


def test_fields_are_counted():
    text = """
    #define UNUSED(x) \\
        { x; }
    struct outer {
        int one, *two; /* a comment; with signs, and { */
        void (*three)(int a, int b);
        struct { int six[2], seven; } five;
        struct { int eight; };
        struct named { int a; } nine;
        enum { A, B } ten;
    };
    static const struct outer made = { 1, 2 };
    static int f(void) { struct local { int b; } c; return c.b; }
    """
    assert count_fields(text) == {"outer": 9, "named": 1, "local": 1}
