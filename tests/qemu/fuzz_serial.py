#!/usr/bin/python3
"""Tests the runner with random output of a guest. Usage: fuzz_serial.py COUNT [SEED]

The output of a guest is cut, joined, repeated and damaged. In half of the trials its checksums are corrected. All parts
of the runner then process this output: transcript, verdict, comparison, JUnit, TAP, Markdown, page, terminal. No
exception may be raised, only text may be shown, only complete reports may give the exit statuses 0 and 1, and memory
must stay limited. For a failure, the program prints SEED and a number. `fuzz_serial.py 1 SEED:NUMBER` repeats the
trial."""
import copy
import json
import pathlib
import random
import re
import sys
import types
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parents[1] / "lib"), str(HERE.parents[2] / "qemu")]

from harness import block, spoken  # noqa: E402
from machine.boot import judge_run  # noqa: E402
from machine.transcript import Transcript  # noqa: E402
from results import baseline, cases, junit, page, reports, sanitize, summary, tap  # noqa: E402

MEMORY_MAX_KIB = 500 << 10
GOLDENS = HERE.parents[1] / "goldens"
SPOIL = [b"\x00", b"\xff", b"\x1b[2J", b"\x9b31m", b"\r", b"\n", b"\r\n", b" ", b"\\", b'"', b"{", b"}", b"[", b"]", b",",
         b":", b"1e400", b"-", b"9" * 400, b"NaN", b"null", b"true", b'"\\ud800"', b"\\u202e", b"phase: rates\n",
         b"progress: 1%\n", b"error: \x1b[31m\n", b"BARETICK REPORT BEGIN\n", b"BARETICK TEXT END sha256=", b"baretick 1\n"]
VALUES = [None, True, False, 0, -1, 1, 10 ** 300, -10 ** 300, 5e-324, 1.5, "", "a", "\x1b]0;x\x07", "\u202e\ud800", [], {}, [[]],
          [None], {"a": 1}, [{"id": "x", "verdict": "pass"}], "pass", "warn", "fail", "absent", "incomplete", "x" * 5000]
LARGE = 4 << 20  # size in bytes of a large part of the output, which is sometimes repeated
LINES_MAX = 100_000  # largest number of lines in it: the runner needs 2 us for each, and test_attack.py floods it with more


def enlarge(part):
    return part * (min(LARGE // len(part), LINES_MAX) if b"\n" in part else LARGE // len(part))


def seeds():
    """Return the reports that the trials change. Most are small, so that a trial takes little time."""
    small = {"schema": "baretick.report/1", "verdict": "fail", "options": {"clocks": ["tsc"]}, "machine": {
        "cpu": "A CPU", "hypervisor": None, "firmware": "EDK II", "accelerator": "tcg", "cores_started": 4, "tsc_hz": 1e9},
        "clocks": [{"id": "tsc", "verdict": "pass", "reason": None, "resolution_ns": 0.4, "step_ticks": 1, "claimed_hz": None,
                    "measured_hz": {"value": 2e9, "low": 1.9e9, "high": 2.1e9}, "error_ppm": None,
                    "latency": {"min_ns": 20, "p50_ns": 30, "p99_ns": 50, "loop_ns": 27.8, "clean": {"hit": 0}, "exact": []}},
                   {"id": "pit", "verdict": "absent", "reason": "not there"}],
        "behaviours": [{"rule": "a", "clock": "tsc", "severity": "fail", "outcome": "failed", "text": "3."},
                       {"rule": "b", "clock": None, "severity": "warn", "outcome": "not_checked", "text": "no."}],
        "findings": [{"rule": "a", "severity": "fail", "clock": "tsc", "text": "tsc is wrong"}],
        "skew": {"pairs": 6, "warps": 0, "within_ns": 42}, "advice": [{"clock": "tsc", "avoid": False, "reason": "fast"}]}
    well = {**small, "verdict": "pass", "findings": [], "behaviours": []}
    whole = [json.loads((GOLDENS / name).read_text()) for name in ("clean.json", "sick.json")]
    return [small, well], whole


def places(value, path=()):
    yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], (*path, key))


def spoil_document(draw, document):
    """Return a copy of DOCUMENT in which a few values are changed, removed or exchanged."""
    document = json.loads(json.dumps(document))
    for _ in range(draw.choice([0, 1, 1, 2, 5])):
        path = draw.choice(list(places(document))[1:] or [()])
        if not path:
            return draw.choice(VALUES)
        inner = document
        for key in path[:-1]:
            inner = inner[key]
        how = draw.random()
        if how < 0.15:
            del inner[path[-1]]
        elif how < 0.25 and isinstance(inner, list):
            inner *= draw.choice([0, 2, 7, 300])
        else:
            inner[path[-1]] = copy.deepcopy(draw.choice(VALUES))
    return document


def spoil_bytes(draw, data):
    for _ in range(draw.choice([0, 0, 1, 1, 3, 9])):
        at, to = sorted(draw.randrange(len(data) + 1) for _ in range(2))
        how = draw.random()
        if how < 0.3:
            data = data[:at] + draw.choice(SPOIL) + data[at:]
        elif how < 0.45:
            data = data[:at] + data[at + draw.choice([1, 1, 40, 400]):]
        elif how < 0.6:
            data = data[:at] + bytes([draw.randrange(256)]) + data[at + 1:]
        elif how < 0.75:
            data = data[:at] + data[to:to + 300] + data[at:]
        elif how < 0.85:
            data = data[:at]
        else:
            piece = draw.choice([*SPOIL, data[at:at + draw.choice([1, 8, 80])] or b"x"])
            data = data[:at] + piece * draw.choice([2, 30, LARGE // len(piece) // 1000]) + data[at:]
    return data


def stream(draw, small, whole):
    document = spoil_document(draw, draw.choice(whole if draw.random() < 0.05 else small))
    how = draw.random()
    if how < 0.5:  # a change before the checksum is calculated reaches the JSON reader
        body = spoil_bytes(draw, json.dumps(document, indent=draw.choice([None, 1])).encode() + b"\n")
        if draw.random() < 0.004:
            part = draw.choice([b"[", b"[],", b'{"a":1},', b" ", b"\n", b'"a",', b"1.5,", b'{"rule":"a"},'])
            at = draw.randrange(len(body))
            body = body[:at] + enlarge(part) + body[at:]
        body = body if body.endswith(b"\n") else body + b"\n"
        text = draw.choice([b"the table\n", b"\x1b[31mred\n", b"\xff\xfe\n", b"\n"])
        data = b"baretick 1\n" + block("TEXT", text) + draw.choice([b"", block("CSV", b"a,b\n"), block("RECORD", text)]) + block("REPORT", body)
    else:
        data = spoken(document) if how < 0.9 else draw.choice(SPOIL) * draw.choice([1, 100, 10_000])
        data = spoil_bytes(draw, data)
    if draw.random() < 0.004:
        data += enlarge(draw.choice(SPOIL))
    return data


def fed(draw, data, shown):
    said = Transcript(shown)
    size = draw.choice([1 << 16, 1 << 16, 4096, 100, 7])
    for at in range(0, len(data), max(size, len(data) // 2000)):
        said.parse_bytes(data[at:at + max(size, len(data) // 2000)])
        if draw.random() < 0.001:
            said.restore_state(said.save_state())
    said.close()
    return said


def one(draw, small, whole, before):
    data, lines = stream(draw, small, whole), []
    said = fed(draw, data, lines.append)
    assert all(line.isprintable() for line in lines), "a line that is not printable is shown"
    guest = types.SimpleNamespace(transcript=said, accelerator=draw.choice(["kvm", "tcg"]), status=draw.choice([33, 35, 37, 39, 0, 1, -9, None]), state="",
                                  secure_boot=draw.choice([True, False, None]), left_checkpoint=draw.choice([True, False]),
                                  ending=draw.choice(["exit"] * 9 + ["timeout", "complete", "flood", "mute"]),
                                  qemu_messages=types.SimpleNamespace(list_lines=list))
    run = types.SimpleNamespace(rules=False, list=False, event=(), timeout=3, qemu="qemu", boot="efi", image=draw.choice([HERE, HERE.parent / "none"]))
    status, problem = judge_run(run, guest)
    assert status in (0, 1, 2, 124) and (problem is None) == (status < 2), (status, problem)
    assert status > 1 or said.is_report_complete and said.report["verdict"] in ("pass", "warn", "fail")
    assert sanitize.clean_text(problem or "").isprintable()
    ok = said.report is not None and not said.faults
    report = said.report if ok else reports.make_incomplete_report(problem, "tcg", 1)
    comparison = baseline.Comparison(before, report, 2) if ok and not problem else None
    if ok and said.report["verdict"] in baseline.ORDER:
        baseline.Comparison(report, before, 2)
    found = cases.make_cases(report, problem, comparison)
    suite = xml.fromstring(junit.format_junit(found, 1, cases.collect_properties(report)))
    assert len(suite.findall("testcase")) == len(found)
    assert all(line.isprintable() for line in tap.format_tap(found))
    text = summary.format_summary(report, problem, comparison)
    assert text.isascii() and text.replace("\n", "").isprintable() and len(text) < 1 << 20
    body = said.blocks["REPORT"] if ok else json.dumps(report).encode()
    assert page.insert_report(b"<" + page.MARK + b">", body).count(b"<") == 1
    return status


def peak_kib():
    """Return the peak memory of this process in KiB. getrusage() would return the peak of the parent process if that is
    higher."""
    return int(re.search(r"^VmHWM:\s+(\d+) kB$", pathlib.Path("/proc/self/status").read_text(), re.MULTILINE)[1])


def main(words):
    count, seed = int(words[0]), words[1] if len(words) > 1 else str(random.SystemRandom().randrange(1 << 32))
    first = 0
    if ":" in seed:
        seed, _, number = seed.partition(":")
        first = int(number)
    print(f"fuzz_serial: {count} streams, seed {seed}", flush=True)
    small, whole = seeds()
    before = reports.parse_report(json.dumps(small[1]).encode())
    ended = dict.fromkeys((0, 1, 2, 124), 0)
    for number in range(first, first + count):
        try:
            ended[one(random.Random(f"{seed}:{number}"), small, whole, before)] += 1
        except BaseException:
            print(f"fuzz_serial: failed: python3 {re.sub('.*/tests', 'tests', str(HERE))} 1 {seed}:{number}", flush=True)
            raise
    used = peak_kib()
    print(f"fuzz_serial: exit statuses {ended}; peak memory {used >> 10} MiB")
    assert used < MEMORY_MAX_KIB
    assert count < 1000 or min(ended.values()) > 0, "not every kind of ending was seen"


if __name__ == "__main__":
    main(sys.argv[1:])
