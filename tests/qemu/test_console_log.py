"""Reports in logs of consoles (serial=compact): complete, wrapped, cut, mixed with other lines, or damaged."""
import base64
import hashlib
import json
import zlib

import pytest

from harness import QUICK_BARE, ROOT
from readers import console, gather
from results import reports

GOLDENS = ROOT / "tests" / "goldens"
ELF = ROOT / "build" / "baretick.elf"
LOG_KEPT = 64 << 10  # number of bytes of a console's output that a cloud keeps


def compact(report):
    """Return REPORT as serial=compact prints it. The function uses Python's libraries instead of baretick's code."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_FIXED)
    packed = packer.compress(json.dumps(report, separators=(",", ":")).encode()) + packer.flush()
    text = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    pieces = [text[at:at + console.COLUMNS] for at in range(0, len(text), console.COLUMNS)]
    return framed("".join(f"bt{number:04}:{piece}\n" for number, piece in enumerate(pieces, 1)))


def framed(body):
    return f"BARETICK COMPACT BEGIN\n{body}BARETICK COMPACT END sha256={hashlib.sha256(body.encode()).hexdigest()}\n"


def short(value):
    """Return VALUE without the lists that serial=compact omits."""
    if isinstance(value, dict):
        return {key: None if key in ("exact", "histogram", "matrix") else short(each) for key, each in value.items()}
    return [short(each) for each in value] if isinstance(value, list) else value


def of_64_cores():
    """Return a report about a machine with 64 cores that is as long as a real report."""
    report = short(json.loads((GOLDENS / "clean.json").read_text()))
    core = report["cores"][-1]
    report["cores"] += [{**core, "apic_id": at, "core": at} for at in range(len(report["cores"]), 64)]
    report["machine"].update(cores_listed=64, cores_started=64)
    return report


REPORT = of_64_cores()
LOG = "baretick 0.1.0\nphase: rates\n" + compact(REPORT)
LINES = LOG.splitlines()
FIRST = next(at for at, line in enumerate(LINES) if line.startswith("bt0001:"))
COUNT = sum(line.startswith("bt0") for line in LINES)


def with_kernel_lines(lines):
    return [each for at, line in enumerate(lines) for each in (line, f"[   12.{at:06}] usb 1-1: new device: bt{at}: 0x{at:040x}")]


WRAPPED = {
    "as it is": LOG,
    "CR LF": LOG.replace("\n", "\r\n"),
    "time stamps": "".join(f"[2026-11-24T22:49:{at % 60:02}.123Z] ttyS0: {line}\r\n" for at, line in enumerate(LINES)),
    "other lines between": "\n".join(with_kernel_lines(LINES)),
    "cut before the report": LOG[LOG.index("BARETICK COMPACT") + 9:],
    "escape sequences": "".join(f"\x1b[2K\x1b[1;37m{line}\x1b[0m\r\n" for line in LINES),
    "the next boot": LOG + "SeaBIOS (version 1.16)\nBooting from Hard Disk...\n",
    "a cloud's JSON": json.dumps({"contents": LOG.replace("\n", "\r\n"), "next": "80912", "start": "0"}, indent=1),
    "JSON by line": "".join(json.dumps({"stream": "stdout", "log": line + "\n"}) + "\n" for line in LINES),
    "escaped JSON": json.dumps({"Output": LOG}).replace("=", "\\u003d"),
}


@pytest.mark.parametrize("log", WRAPPED.values(), ids=WRAPPED)
def test_a_report_is_found_in_a_log(log):
    found, = console.find_reports(log.encode())
    assert console.is_console_log(log.encode())
    assert json.loads(found.decode_json()) == REPORT
    reports.parse_report(found.decode_json())


def test_a_log_in_utf_16_is_read():
    found, = console.find_reports(LOG.encode("utf-16"))
    assert console.is_console_log(LOG.encode("utf-16")) and json.loads(found.decode_json()) == REPORT


def without(lines, *gone):
    return "\n".join(line for at, line in enumerate(lines) if at - FIRST + 1 not in gone)


def flipped(line):
    return "".join((LINES[line][:20], "A" if LINES[line][20] != "A" else "B", LINES[line][21:]))


DAMAGED = {
    "cut at the beginning": (LOG[len(LOG) // 2:], "without line 1 and "),
    "cut at the end": (LOG[:len(LOG) // 2], "ends after line"),
    "cut at both": (LOG[len(LOG) // 3:len(LOG) // 2], "or more"),
    "without its last line": ("\n".join(LINES[:-1]), f"ends after line {COUNT}, before its last line"),
    "a line is lost": (without(LINES, 7), f"without line 7 of {COUNT}."),
    "two lines are lost": (without(LINES, 7, 9), f"without line 7 and line 9 of {COUNT}."),
    "three lines are lost": (without(LINES, 7, 9, 10), f"without line 7 and 2 other lines of {COUNT}."),
    "the last line is lost": (without(LINES, COUNT), "its SHA-256 is not"),
    "a kernel's line within one": (LOG.replace(LINES[FIRST + 4], LINES[FIRST + 4][:30] + "[ 1.0] usb\n" + LINES[FIRST + 4][30:]),
                                   f"line 5 of {COUNT} is cut, or has other text in it"),
    "a wrong character": (LOG.replace(LINES[FIRST + 4], flipped(FIRST + 4)), "its SHA-256 is not"),
    "nothing between": ("BARETICK COMPACT BEGIN\n" + LINES[-1], "without lines"),
    "a beginning alone": ("BARETICK COMPACT BEGIN\n", "without lines and without an end"),
    "no deflate": (framed("bt0001:____\n"), "cannot be unpacked"),
    "no base64": (framed("bt0001:A\n"), "cannot be unpacked"),
    "deflate without an end": (framed(LINES[FIRST] + "\n"), "has no end"),
}


@pytest.mark.parametrize("log, sentence", DAMAGED.values(), ids=DAMAGED)
def test_what_is_damaged_is_named(log, sentence):
    assert console.is_console_log(log.encode())
    found, = console.find_reports(log.encode())
    with pytest.raises(ValueError, match="has a (damaged )?compact report") as error:
        found.decode_json()
    assert sentence in str(error.value)


def test_a_text_that_unpacks_to_gigabytes_is_refused():
    with pytest.raises(ValueError, match="is longer than 16 MiB"):
        console.find_reports(compact(" " * (20 << 20)).encode())[0].decode_json()


def test_of_several_reports_in_a_log_a_damaged_one_is_named_and_the_others_are_taken(tmp_path):
    other = {**REPORT, "elapsed_ms": REPORT["elapsed_ms"] + 1}
    (tmp_path / "all.txt").write_text(LOG + without(LINES, 3) + "\n" + compact(other) + LOG)
    found, refused = gather.read_reports_of_task(("file", str(tmp_path / "all.txt")), frozenset(), "2026-01-01T00:00:00")
    assert len(found) == 3 and found[0][0] == found[2][0] != found[1][0]
    assert refused == [(f"{tmp_path}/all.txt, report 2", f"has a compact report without line 3 of {COUNT}.")]


def test_reports_that_lost_beginning_and_end_are_kept_apart():
    cut = "\n".join(LINES[FIRST:FIRST + 9])
    assert [sorted(each.lines) for each in console.find_reports(f"{cut}\n{cut}\n".encode())] == [list(range(1, 10))] * 2


def test_a_report_whose_label_has_such_words_is_no_log():
    assert not console.is_console_log(b'{\n  "schema": "baretick.report/1", "label": "BARETICK COMPACT BEGIN"')


def read_log(tmp_path, data):
    """Return the reports in the log DATA, and the sentences about reports that are not read."""
    (tmp_path / "serial.log").write_bytes(data)
    found, refused = gather.read_reports_of_task(("file", str(tmp_path / "serial.log")), frozenset(), "")
    return found, [sentence for _, sentence in refused]


@pytest.mark.parametrize("lines", [b"bt99999:a\n" * 1000, b"".join(b"bt99999:%d\n" % at for at in range(900)), b"bt99998:a\nbt99999:b\n" * 500])
def test_a_log_with_high_line_numbers_is_refused_without_counting_the_lines_that_it_lacks(tmp_path, monkeypatch, lines):
    monkeypatch.setattr(console, "format_line_numbers", None)  # its argument would be a list of all missing lines
    found, refused = read_log(tmp_path, b"BARETICK COMPACT BEGIN\n" + lines)
    assert not found and set(refused) == {"has a compact report with more than 10,000 lines"}


def test_a_log_with_too_many_reports_is_refused(tmp_path):
    found, refused = read_log(tmp_path, b"BARETICK COMPACT BEGIN\n" * (reports.COUNT_MAX + 2) + b"bt0001:" + b"a" * console.COLUMNS)
    assert not found and refused == ["has more than 1,000 compact reports"]


def test_the_reports_of_a_log_have_limits_together(tmp_path, monkeypatch):
    monkeypatch.setattr(reports, "VALUES_MAX", 50_000)
    parsed = []
    monkeypatch.setattr(reports, "check_report", lambda report: parsed.append(report) or report)
    many = compact({"schema": "baretick.report/1", "verdict": "pass", "clocks": [], "x": [0] * 30_000})
    found, refused = read_log(tmp_path, (many * 20).encode())
    assert len(parsed) == 3 and len(refused) == 17 and set(refused) == {"is not read, because the reports before it are too many or too long"}


def test_reports_that_cannot_be_unpacked_use_up_the_limit(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(console.base64, "urlsafe_b64decode", lambda text: calls.append(text) or b"\xff" * 9)
    found, refused = read_log(tmp_path, (framed("bt0001:" + "a" * console.COLUMNS + "\n") * 50).encode())
    assert not found and len(refused) == 50 and len(calls) <= 3


def full_log():
    """Return the output of a run with serial=full: other blocks, and then the block REPORT."""
    body = json.dumps(REPORT, indent=1) + "\n"
    return (f"baretick 0.1.0\nphase: rates\nBARETICK TEXT BEGIN\nthe table\nBARETICK TEXT END sha256={'0' * 64}\n"
            f"BARETICK REPORT BEGIN\n{body}BARETICK REPORT END sha256={hashlib.sha256(body.encode()).hexdigest()}\n")


FULL_LOG = full_log()


@pytest.mark.parametrize("log", [FULL_LOG.encode(), FULL_LOG.replace("\n", "\r\n").encode(), FULL_LOG.encode("utf-16"), FULL_LOG.encode() * 2],
                         ids=["as it is", "CR LF", "UTF-16", "two runs"])
def test_a_full_log_has_its_block_report(log):
    assert console.is_console_log(log)
    assert all(json.loads(each.decode_json()) == REPORT for each in console.find_reports(log))
    assert len(console.find_reports(log)) == (2 if log == FULL_LOG.encode() * 2 else 1)


@pytest.mark.parametrize("log, sentence", [
    (FULL_LOG.partition("BARETICK REPORT END")[0], "has a block REPORT without an end"),
    (FULL_LOG.replace("clean", "clear").replace('"cores_listed": 64', '"cores_listed": 65'), "has a damaged block REPORT")])
def test_a_full_log_with_a_cut_or_damaged_report_is_refused(tmp_path, log, sentence):
    found, refused = read_log(tmp_path, log.encode())
    assert not found and refused[0].startswith(sentence)


def test_a_log_without_such_lines_is_named_and_next_to_a_report_left(tmp_path):
    task = ("file", str(tmp_path / "serial.log"))
    (tmp_path / "serial.log").write_text("baretick 0.1.0\n{}\n")
    assert gather.read_reports_of_task(task, frozenset(), "") == ([], [(task[1], "has no report: of a console's log, the block REPORT and the "
                                                        "lines of serial=compact are read")])
    assert list(gather.list_read_tasks([str(tmp_path)], None)) == [task]
    (tmp_path / "report.json").write_text("{}")
    assert list(gather.list_read_tasks([str(tmp_path)], None)) == [("file", str(tmp_path / "report.json"))]


def test_the_application_s_lines_are_its_report_without_long_lists():
    found, = console.find_reports(framed((GOLDENS / "sick.compact").read_text()).encode())
    whole = short(json.loads((GOLDENS / "sick.json").read_text()))
    assert json.loads(found.decode_json()) == whole


@pytest.mark.skipif(not ELF.exists(), reason="build/baretick.elf is not there: type make")
def test_a_boot_prints_it_as_its_last_lines_and_the_runner_reads_it(run):
    done = run(*QUICK_BARE, "--cpus", "2", "--", "profile=quick", "duration=10ms", "serial=compact")
    said = done.file("serial.log")
    found, = console.find_reports(said)
    assert json.loads(found.decode_json()) == done.report and done.status < 2, done
    assert len(done.report["cores"]) == 2 and done.report["options"]["given"] and len(said) < LOG_KEPT
    assert said.splitlines()[-1].startswith(b"BARETICK COMPACT END") and b"BARETICK TEXT END" in said
    assert b"BARETICK TEXT" not in done.file("report.txt") and done.file("report.csv").count(b"\n") == 1
