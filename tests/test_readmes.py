"""The READMEs: their links are valid, the top README is short, and their samples of output match the printed report."""
import re
import subprocess
import textwrap

import pytest

from harness import ROOT

README_LINES_MAX = 160
README_WORDS_MAX = 1350
FIRST = ROOT / "README.md"
LINK = re.compile(r"""\]\(([^)\s]+)\)|(?:href|src)="([^"]+)\"""")


def readmes():
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE)
    return [ROOT / name for name in listed.stdout.splitlines()]


def heading_ids(path):
    """Return the anchors of a README's headings, as GitHub makes them."""
    readme = path / "README.md" if path.is_dir() else path
    headings = re.findall(r"^#+ (.*)$", readme.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def is_dead(path, link):
    name, _, part = link.partition("#")
    target = path.parent / name if name else path
    return not target.exists() or part and part not in heading_ids(target)


def test_every_link_in_a_readme_is_valid():
    found = [(path, first or second) for path in readmes() for first, second in LINK.findall(path.read_text())]
    links = [(path, link) for path, link in found if not re.match(r"https?:", link)]
    assert len(readmes()) > 50 and len(links) > 150
    assert [(str(path.relative_to(ROOT)), link) for path, link in links if is_dead(path, link)] == []


@pytest.mark.parametrize("link", ["nowhere.md", "#nothing", "src/judge#nothing"])
def test_a_dead_link_is_found(link):
    assert is_dead(FIRST, link)
    assert not is_dead(FIRST, "src/judge#the-rules")


def test_the_top_readme_is_short_and_starts_with_purpose_reason_command_and_sample():
    lines = FIRST.read_text().splitlines()
    assert len(lines) <= README_LINES_MAX and sum(len(line.split()) for line in lines) <= README_WORDS_MAX
    assert all(len(line) <= 150 for line in lines)
    top = "\n".join(lines[:40])
    for word in ("UEFI application", "**Why.**", "`sudo`", "    make run\n", "verdict  PASS", "\n    clock   ", "\n    null   ", "tests/pictures/light.png"):
        assert word in top, word


def test_the_top_readme_warns_before_the_command_that_writes_a_stick():
    assert "writes only into `\\baretick` on its own stick" in FIRST.read_text().partition("sudo dd")[0]


def parts(text):
    """Return the labels in a report's heading, the header lines of its table of clocks, and the table's rows by
    clock."""
    heading, table = (part.splitlines() for part in text.replace("[...]\n", "").split("\n\n")[:2])
    return ([line.split()[0] for line in heading if not line.startswith(" ")], table[:2],
            {row.split()[0]: row for row in table[2:]})


def test_the_sample_in_the_top_readme_matches_the_printed_report():
    """Compare the sample in the README with the golden text report, which unit tests compare with the printed report.
    Figures may differ. [...] marks omitted lines."""
    block = textwrap.dedent(re.search(r"^    baretick [\s\S]*?^    null .*\n", FIRST.read_text(), re.M)[0])
    assert block.count("[...]\n") == 3
    labels, head, rows = parts(block)
    printed_labels, printed_head, printed = parts((ROOT / "tests" / "goldens" / "clean.txt").read_text())
    assert head == printed_head and list(rows) == ["tsc", "hpet_32", "acpi_pm", "pit", "null"]
    assert labels == [label for label in printed_labels if label in labels] and {"skew", "verdict"} < set(labels)
    for name, row in rows.items():
        assert len(row) == len(printed[name])
        assert row.split()[-1] in ("pass", "n.d.", "warn", "fail") and printed[name].endswith(" pass")


def test_the_sample_of_explain_analyze_matches_the_printed_report():
    shown = re.search(r"^    What EXPLAIN ANALYZE.*\n(?:    \S.*\n)+", (ROOT / "src" / "render" / "README.md").read_text(), re.M)[0]
    title, head, *rows = textwrap.dedent(shown).splitlines()
    printed = (ROOT / "tests" / "goldens" / "clean.txt").read_text().partition(title + "\n\n")[2].partition("\n\n")[0].splitlines()
    names = {row.split()[0]: row for row in printed}
    assert head == printed[0] and [row.split()[0] for row in rows] == ["tsc", "tsc_lfence", "tsc_rdtscp", "hpet_32", "acpi_pm"]
    assert all(len(row) == len(names[row.split()[0]]) for row in rows)


C_TYPES = {"uint8_t": "u8", "uint16_t": "u16", "uint32_t": "u32", "uint64_t": "u64", "int64_t": "i64"}


def test_each_recipe_for_a_kind_of_machine_says_whether_it_was_tried():
    part = (ROOT / "qemu" / "README.md").read_text().partition("\n## Where machines are\n")[2].partition("\n## ")[0]
    recipes = [each for each in part.split("\n\n") if each.startswith("**")]
    assert len(recipes) > 15
    assert [each for each in recipes if not re.search(r"\*(tried here|from (its|their) documentation)\*", each)] == []


SIZES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "i64": 8}
# the fields of structs inside an item
INNER = {"sample": ["begin u64", "ticks u64", "end u64"], "record_rate": ["value u64", "low u64", "high u64"],
         "record_apart": ["low i64", "high i64", "tsc u64"], "record_resident": ["c1 u64", "c3 u64", "c6 u64", "c7 u64"]}


def record_fields(header, name):
    """Return the fields of one kind of entry or item as "`name` type", and its size in bytes."""
    body = re.search(rf"struct record_{name} \{{.*?\n\}} ", header, re.DOTALL).group(0)
    fields, size = [], 0
    for declared, members in re.findall(r"^\t(char|u?int\d+_t|struct \w+) ([^;]+);", body, re.MULTILINE):
        for member in members.split(", "):
            plain, _, length = member.rstrip("]").partition("[")
            inner = INNER.get(declared.removeprefix("struct "))
            typed = [f"{plain}.{each}" for each in inner] if inner else [
                f"{plain} " + (f"text[{length}]" if length else C_TYPES[declared])]
            for name, kind in (each.split() for each in typed):
                fields.append(f"`{name}` {kind}")
                size += int(length) if length else SIZES[kind]
    return ", ".join(fields), size


def test_the_readme_describes_a_records_entries_as_the_code_defines_them():
    folder = ROOT / "src" / "record"
    header = (folder / "record.h").read_text()
    expected = []
    for number, name, item in re.findall(r"^\tROW\(RECORD_\w+, (\d+), (\w+), (\w+)\)", header, re.MULTILINE):
        fields, size = record_fields(header, name)
        expected.append(f"| {number} | {name} | {size} | {fields} | {item if item != 'none' else ''}".rstrip() + " |")
        if item != "none":
            fields, size = record_fields(header, item)
            expected.append(f"| {item} | {size} | {fields} |")
    assert len(expected) > 13
    told = (folder / "README.md").read_text().splitlines()
    assert [row for row in expected if row not in told] == []
