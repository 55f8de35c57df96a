"""Tests of build/baretick-replay: its output, options and errors, and its verdicts on the records of special machines
in tests/records."""
import json
import lzma
import os
import pathlib
import re
import signal
import subprocess
import time
import zlib

import pytest

from record_writer import RUN, SCALE, change_fact, change_fixed_part, pack_number, read_entries, write_record

TESTS = pathlib.Path(__file__).parent
ROOT = TESTS.parent
PROGRAM = ROOT / "build" / "baretick-replay"
RECORDS = TESTS / "records"
ROWS = re.findall(r"^\| `(\S+)` \| [^|]+ \| (\w+) \| ([^|]*)\|$", (RECORDS / "README.md").read_text(), re.M)
STATUS = {"pass": 0, "warn": 0, "fail": 1, "incomplete": 2}
FILES = ["report.csv", "report.html", "report.json", "report.txt"]
SIZE_MAX = 100_000
BOUND_S = 60
# sizes of the format in src/record/README.md
HEADER_BYTES, BLOCK_BYTES, ENTRY_BYTES = 16, 12, 8

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="there is no build/baretick-replay: type make")


def replay(*words, **more):
    return subprocess.run([PROGRAM, *map(str, words)], text=True, capture_output=True, timeout=60, **more)


def unpack(name, folder):
    path = folder / "report.record"
    path.write_bytes(lzma.decompress((RECORDS / name).read_bytes()))
    return path


@pytest.fixture
def record(tmp_path):
    return unpack("bare.record.xz", tmp_path)


def with_version(record, version):
    """Return the bytes of RECORD with the version of baretick in it replaced by VERSION."""
    data = bytearray(record.read_bytes())
    text = HEADER_BYTES + BLOCK_BYTES + ENTRY_BYTES  # position of the version, which is at the start of the first entry
    data[text:text + 24] = version.encode().ljust(24, b"\0")
    length = int.from_bytes(data[HEADER_BYTES + 4:HEADER_BYTES + 8], "little")
    start = HEADER_BYTES + BLOCK_BYTES
    crc = zlib.crc32(data[start:start + length], zlib.crc32(data[HEADER_BYTES:HEADER_BYTES + 4]))
    data[HEADER_BYTES + 8:HEADER_BYTES + 12] = crc.to_bytes(4, "little")
    return bytes(data)


def test_each_record_has_a_row_in_the_list_of_verdicts():
    assert [row[0] for row in ROWS] == sorted(path.name for path in RECORDS.glob("*.xz"))
    assert all(path.stat().st_size <= SIZE_MAX for path in RECORDS.iterdir())


@pytest.mark.parametrize("name, verdict, findings", ROWS, ids=[row[0] for row in ROWS])
def test_a_record_gives_the_verdict_and_the_findings_of_its_row(tmp_path, name, verdict, findings):
    done = replay(unpack(name, tmp_path), "--out", tmp_path / "out")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["verdict"] == verdict and done.returncode == STATUS[verdict], done.stderr
    assert [f"{each['rule']} {each['clock']}" for each in report["findings"]] == [each.strip() for each in findings.split(",") if each.strip()]
    assert "identity" not in report


DURATIONS = "\nDurations of each clock's reads with the bracket, in pg_test_timing's format"


def test_the_report_is_printed_without_its_long_last_section(record, tmp_path):
    done = replay(record)
    replay(record, "--out", tmp_path)
    summary, _, rest = (tmp_path / "report.txt").read_text().partition(DURATIONS + "\n")
    assert done.returncode == 0 and done.stdout == summary + DURATIONS + ": report.txt, with --out FOLDER\n"
    assert summary.startswith("baretick") and rest.count("\n") > 1000


def test_out_writes_four_files_and_prints_the_verdict(record, tmp_path):
    out = tmp_path / "out"
    done = replay(record, "--out", out)
    assert (done.returncode, done.stdout) == (0, f"{out}: pass\n")
    assert sorted(path.name for path in out.iterdir()) == FILES
    assert (out / "report.csv").read_text().startswith("run,")
    page = (out / "report.html").read_text()
    assert "@REPORT@" not in page and page.endswith("</html>\n")


def test_two_replays_are_equal(record, tmp_path):
    for name in ("first", "second"):
        replay(record, "--out", tmp_path / name)
    assert all((tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes() for name in FILES)


def test_compare_prints_differences(record, tmp_path):
    replay(record, "--out", tmp_path)
    path = tmp_path / "report.json"
    done = replay(record, "--compare", path)
    assert (done.returncode, done.stdout) == (0, "")
    path.write_text(path.read_text().replace('"verdict": "pass"', '"verdict": "fail"', 1))
    done = replay(record, "--compare", path)
    assert done.returncode == 1
    assert re.search(r'^-.*"verdict": "fail"', done.stdout, re.M) and re.search(r'^\+.*"verdict": "pass"', done.stdout, re.M)
    assert replay(record, "--compare", tmp_path / "none.json").returncode == 2


def test_no_diff_is_left_if_nobody_reads_the_differences(record, tmp_path):
    """Its pipe to baretick-replay must close, or diff waits for ever to write the rest. A process group finds diff."""
    replay(record, "--out", tmp_path)
    path = tmp_path / "report.json"
    path.write_text(re.sub(r"(\d)", r"\g<1>1", path.read_text()))
    with subprocess.Popen([PROGRAM, record, "--compare", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        assert process.stdout.readline()
        process.stdout.close()
        process.wait(BOUND_S)
    end = time.monotonic() + BOUND_S
    while time.monotonic() < end:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    pytest.fail("diff goes on")


def test_a_limit_changes_the_findings(record, tmp_path):
    done = replay(record, "--out", tmp_path / "out", "limit.clock-slow=1")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert done.returncode == 0 and report["verdict"] == "warn"
    assert {each["rule"] for each in report["findings"]} == {"clock-slow"}


@pytest.mark.parametrize("words, sentence", [
    (["--nothing"], "--nothing is no option"), (["--out"], "--out needs a value"), (["--compare"], "--compare needs a value"),
    (["--options", "/none/such"], "/none/such: No such file"),
    (["profile=quick"], "after a run only limits can be changed"), (["limit.no-such-rule=1"], "no-such-rule"),
    (["limit.clock-slow=x"], "limit.clock-slow"),
])
def test_a_wrong_word_gives_a_sentence(record, words, sentence):
    done = replay(record, *words)
    assert (done.returncode, done.stdout) == (2, "") and sentence in done.stderr
    assert done.stderr.count("baretick-replay: ") == 1


@pytest.mark.parametrize("text, status, lines", [
    ('clocks=hpet,tsc profile=quick # a comment\nlabel="a b"\n', 0, ['clocks=hpet,tsc profile=quick label="a b"']), ("", 0, [""]),
    ("irq=on gap=1ms pic=1", 2, ['"irq=on" is not valid: irq= takes off, auto or all.', '"pic=1" is not valid: pic= takes off or on.']),
    ("limit.tsc-wrap=3", 2, ['"limit.tsc-wrap=3" names no rule that has a limit (did you mean tsc-warp?); ']),
    ("clocks=hv_pages", 2, ['"clocks=hv_pages" is not valid (did you mean hv_page?): ']),
    ("a " * 4096, 2, ['"a" is not an option; the options are '] * 4096),
])
def test_options_are_checked_without_a_record(text, status, lines):
    done = replay("--options", "/dev/stdin", input=text)
    said = done.stdout.splitlines()
    assert (done.returncode, done.stderr, len(said)) == (status, "", len(lines))
    assert all(line.startswith(start) for line, start in zip(said, lines))


def test_a_record_is_needed():
    done = replay()
    assert done.returncode == 2 and "no record is given" in done.stderr


def test_help_and_version():
    assert replay("--help").stdout.startswith("usage: baretick-replay RECORD") and replay("--help").returncode == 0
    assert re.fullmatch(r"baretick-replay \d\S* \(\w+\)\n", replay("--version").stdout)


def test_a_file_that_cannot_be_read_gives_a_sentence(tmp_path):
    assert "No such file" in replay(tmp_path / "none").stderr and replay(tmp_path / "none").returncode == 2
    assert "directory" in replay(tmp_path).stderr and replay(tmp_path).returncode == 2


def test_a_folder_that_cannot_be_written_gives_a_sentence(record, tmp_path):
    for folder in (record, tmp_path / "none" / "out", "/proc/none"):
        done = replay(record, "--out", folder)
        assert done.returncode == 2 and done.stderr.splitlines()[-1].startswith(f"baretick-replay: {folder}"), folder


def test_a_full_disk_gives_a_sentence(record):
    with open("/dev/full", "w") as full:
        done = subprocess.run([PROGRAM, record], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 2 and "No space left" in done.stderr


def test_a_record_of_another_version_is_judged_by_this_one(record, tmp_path):
    record.write_bytes(with_version(record, "0.0.9"))
    done = replay(record, "--out", tmp_path / "out")
    assert done.returncode == 0 and done.stderr.startswith("The record is from baretick 0.0.9 (")
    assert json.loads((tmp_path / "out" / "report.json").read_text())["verdict"] == "pass"


@pytest.mark.parametrize("change, sentence", [
    (lambda data: b"", "The record ends within its header."), (lambda data: b"{}\n" + data, "This file is no record of baretick."),
    (lambda data: data[:-1], "The record ends within a block."), (lambda data: data + b"\0", "More bytes follow the record's last entry."),
    (lambda data: data[:5000] + b"\xff\0" + data[5002:], "The checksum of a block is wrong."),
    (lambda data: data[:8] + b"\2\0\0\0" + zlib.crc32(data[:8] + b"\2\0\0\0").to_bytes(4, "little") + data[16:], "The record's format has another version."),
])
def test_a_damaged_record_gives_a_sentence(record, change, sentence):
    record.write_bytes(change(record.read_bytes()))
    done = replay(record)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"baretick-replay: {record}: {sentence}\n")


CORES, INTERVALS = 3, 4  # numbers of lists in analysis/facts.h
ABOVE = pack_number(2**63 - 1)


@pytest.fixture
def entries():
    return read_entries(lzma.decompress((RECORDS / "two-cores.record.xz").read_bytes()))


@pytest.mark.parametrize("change, sentence", [
    (lambda entries: change_fact(entries, INTERVALS, 3, [4], None), "intervals[3].test.route_kind is missing"),
    (lambda entries: change_fact(entries, INTERVALS, 3, [4], b"\x1b[2J"), 'intervals[3].test.route_kind is "?[2J"'),
    (lambda entries: change_fact(entries, INTERVALS, 2, [9], None), "intervals[2].test.asked_ns is 0"),
    (lambda entries: change_fact(entries, INTERVALS, 2, [9], pack_number(2**64 - 1)), "intervals[2].test.asked_ns is 18446744073709551615"),
    (lambda entries: change_fact(entries, INTERVALS, 1, [1], b""), "intervals[1].test.source is empty"),
    (lambda entries: change_fact(entries, CORES, 0, [8, 5], ABOVE), "cores[0].latency[0].typical_ps is 9223372036854775807"),
    (lambda entries: change_fact(entries, CORES, 0, [8, 5], pack_number(2**62)), "cores[0].latency[0].typical_ps is 4611686018427387904"),
    (lambda entries: change_fixed_part(entries, SCALE, 32, ABOVE), "step_ticks in entry 62 of the record is 9223372036854775807"),
    (lambda entries: change_fixed_part(entries, SCALE, 0, pack_number(1).ljust(8, b"\0")), "it is impossible"),
])
def test_an_impossible_value_gives_a_sentence_that_names_it(tmp_path, entries, change, sentence):
    path = tmp_path / "report.record"
    path.write_bytes(write_record(change(entries)))
    done = replay(path, "--out", tmp_path / "out")
    assert (done.returncode, done.stdout) == (2, "") and not (tmp_path / "out").exists()
    assert sentence in done.stderr and len(done.stderr.splitlines()) == 1


def test_text_from_outside_is_printed_without_control_characters(tmp_path, entries):
    path, compared = tmp_path / "a\x1b]0;title\a\x9b.record", tmp_path / "\x1b[31m.json"
    path.write_bytes(write_record(change_fixed_part(entries, RUN, 0, b"\x1b[2J".ljust(24, b"\x9b") + b"\x1bc\n".ljust(16, b"\0"))))
    compared.write_bytes(b"{\n\x1b[2J\0\x9b\r}\n")
    done = [replay(path), replay(path, "--out", tmp_path / "\x1bout"), replay(path, "--compare", compared),
            replay(path, "--compare", tmp_path / "\x1b[none"), replay(path, path, "--\x1b"), replay(path, "\x1b=1"),
            replay(tmp_path / "\x1b[none")]
    assert [each.returncode for each in done] == [0, 0, 1, 2, 2, 2, 2]
    printed = "".join(each.stdout + each.stderr for each in done)
    assert "The record is from baretick ?[2J???" in printed and not re.search(r"[^\n\t\x20-\x7e]", printed)


def test_a_link_or_a_fifo_in_the_folder_is_replaced(record, tmp_path):
    out, other = tmp_path / "out", tmp_path / "other"
    out.mkdir()
    other.write_text("mine")
    for name in ("report.json", "report.txt.new"):
        (out / name).symlink_to(other)
    os.mkfifo(out / "report.csv")
    os.link(other, out / "report.html")
    done = replay(record, "--out", out)
    assert done.returncode == 0 and other.read_text() == "mine"
    assert sorted(path.name for path in out.iterdir()) == FILES and not any(path.is_symlink() for path in out.iterdir())
    assert all(path.is_file() for path in out.iterdir())
