"""Reads many changed reports, logs and notes. Each must be read, or refused with a sentence, within a short time. HOSTILE_RUNS
sets the number of changed files of each kind (`make fuzz` is for the readers in C)."""
import json
import os
import random
import time
import xml.etree.ElementTree as xml

import pytest

from harness import ROOT
from next import compare
from readers import gather
from results import cases, files, junit, reports, tap
from test_console_log import LOG

RUNS = int(os.environ.get("HOSTILE_RUNS", "150"))
BOUND_S = 20  # longest time for one file; the machine may be busy
ODD = [None, True, 0, -1, 2**63, 2**64, 1e308, "", "x", "\x1b[2J", "ok 1\nok 2", "<script>", "\ud800", [], [[]], [None], {}, {"value": None}, {"id": 5}, "pass", "fail", "absent"]
KERNEL = {"tsc": {"believed_hz": 1e9, "refined_hz": None, "source": None, "unstable": None}, "clocksource": "tsc", "log_is_whole": True}


def list_places(value, found):
    """Append (container, key) of each value in VALUE to FOUND."""
    for key in range(len(value)) if isinstance(value, list) else list(value):
        found.append((value, key))
        if isinstance(value[key], (dict, list)):
            list_places(value[key], found)
    return found


def change_values(document, chosen):
    """Replace or remove some values of DOCUMENT."""
    for _ in range(chosen.randint(1, 4)):
        container, key = chosen.choice(list_places(document, []) or [({"": 0}, "")])
        if chosen.random() < 0.2 and isinstance(container, dict):
            del container[key]
        else:
            container[key] = chosen.choice(ODD)
    return document


def is_clean(lines):
    return all(line.isprintable() for line in lines)


@pytest.fixture(scope="module")
def golden():
    return reports.parse_json((ROOT / "tests" / "goldens" / "sick.json").read_bytes())


@pytest.mark.parametrize("seed", range(3))
def test_a_changed_report_is_refused_or_each_format_of_it_is_sound(golden, seed):
    chosen, accepted = random.Random(seed), 0
    text = json.dumps(golden)
    for _ in range(RUNS // 3):
        data = json.dumps(change_values(json.loads(text), chosen)).encode()
        try:
            report = reports.parse_report(data)
        except ValueError:
            continue
        accepted += 1
        made = cases.make_cases(report, None)
        lines = tap.format_tap(made)
        assert is_clean(lines) and sum(line.startswith(("ok ", "not ok ")) for line in lines) == len(made)
        xml.fromstring(junit.format_junit(made, 1.0, cases.collect_properties(report)))
        assert len(list(compare.format_comparison(KERNEL, report))) >= 2
    assert accepted


def change_bytes(data, chosen):
    """Change, repeat or remove some parts of DATA."""
    for _ in range(chosen.randint(1, 6)):
        at, length = chosen.randrange(len(data)), chosen.choice((1, 8, 72, 500))
        piece = chosen.choice((b"", bytes([chosen.randrange(256)]) * length, data[at:at + length] * chosen.choice((2, 50)), b"BARETICK COMPACT BEGIN\n",
                               b"bt99999:a\n", b"BARETICK COMPACT END sha256=" + b"0" * 64 + b"\n", b"[" * 5000))
        data = data[:at] + piece + data[at + length:]
        data = data or b"\n"
    return data


def test_a_changed_log_of_a_console_is_read_or_refused(tmp_path):
    chosen, path = random.Random(4), tmp_path / "serial.log"
    for _ in range(RUNS):
        path.write_bytes(change_bytes(LOG.encode(), chosen))
        begin = time.monotonic()
        found, refused = gather.read_reports_of_task(("file", str(path)), frozenset(), "")
        assert found or refused
        assert time.monotonic() - begin < BOUND_S


def test_json_of_any_bytes_and_any_depth_gives_a_value_or_a_value_error():
    chosen = random.Random(5)
    for _ in range(RUNS):
        data = change_bytes(chosen.choice((b'{"a": [1]}', b"[" * 100_000, b'{"a":' * 50_000, b'"\xff"', b"1e999", b"9" * 5000)), chosen)
        for parse in files.parse_json, reports.parse_json:
            try:
                parse(data)
            except ValueError:
                pass
