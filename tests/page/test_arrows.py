"""The page's scripts are joined to one text. Each script may use only names that earlier scripts define."""
import pathlib
import re

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "src" / "page"
SCRIPTS = re.findall(r'"([\w/]+\.js)"', (PAGE / "build").read_text())
FLOORS = ["lib", "sections", "compare", "."]
DEFINED = re.compile(r"^(?:async )?(?:function|const|let) (\w+)", re.MULTILINE)
# A regular expression is recognised by what stands before it, because a slash may also divide.
COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|(?:(?<=\()|(?<=[=,:] ))/(?:[^/\\\n]|\\.)+/', re.DOTALL)
KEY = re.compile(r"([{,]\s*)[\w$]+\s*:")
# Matches a name that is used, also after the dots of a spread (...name). A member of an object (object.name) is not
# matched.
USED = re.compile(r"(?<![\w$])(?<!(?<!\.)\.)[A-Za-z_$][\w$]*")


def plain(text):
    """Return TEXT without comments, quoted strings, regular expressions and keys of objects. Expressions in ${} of a template string
    stay."""
    return KEY.sub(r"\1", COMMENT_OR_STRING.sub(" ", text))


def arrows_up(texts):
    """Return (file, name, later file) for each name that a file uses and a later file defines. A local variable with
    such a name counts too, because it hides the other name."""
    texts = [(name, plain(text)) for name, text in texts]
    return [(name, word, later) for i, (name, text) in enumerate(texts) for later, other in texts[i + 1:]
            for word in sorted(set(DEFINED.findall(other)) & set(USED.findall(text)))]


def test_each_script_uses_only_what_stands_before_it():
    assert arrows_up((name, (PAGE / name).read_text()) for name in SCRIPTS) == []


def test_scripts_stand_floor_by_floor_and_none_is_left_out():
    floors = [FLOORS.index(str(pathlib.PurePath(name).parent)) for name in SCRIPTS]
    assert floors == sorted(floors)
    assert sorted(SCRIPTS) == sorted(str(path.relative_to(PAGE)) for path in PAGE.rglob("*.js"))


@pytest.mark.parametrize("use, found", [
    ("up();", True), ("const a = {b: up};", True), ("f(...up)", True), ("a ? up : b", True), ("`${up(1)}`", True), ("const up = 1;", True),
    ("/* up() */", False), ('"up"', False), ("a.up()", False), ("a = {up: 1}", False), ("upper()", False),
    ("const a = /up/;", False), ("a.replace(/up|\\/up/g, b)", False), ("a = b / up / c", True), ("f(1) / up", True),
])
def test_an_arrow_up_is_seen(use, found):
    assert arrows_up([("low.js", use), ("high.js", "function up() {\n}\n")]) == ([("low.js", "up", "high.js")] if found else [])


def test_no_two_scripts_define_the_same_name():
    names = [name for script in SCRIPTS for name in DEFINED.findall((PAGE / script).read_text())]
    assert sorted(set(names)) == sorted(names)
