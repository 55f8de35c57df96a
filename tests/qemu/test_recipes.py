"""The README's recipes for CI: as far as they can be tried where none of those services is."""
import hashlib
import re
import shlex
import subprocess

from harness import ROOT, report, spoken
import arguments

README = (ROOT / "README.md").read_text()


def quoted(key):
    value, = re.findall(rf"^ +{key}: '(.*)'$", README, re.M)
    return value


def test_every_call_of_the_runner_is_one_that_it_understands():
    calls = [line.partition("qemu/run")[2] for line in README.splitlines()
             if line.startswith("    ") and re.match(r"(- (run: )?)?qemu/run ", line.strip())]
    assert len(calls) >= 4
    for call in calls:
        arguments.parse(shlex.split(call))


def test_lava_finds_each_clock_of_the_table():
    """As its monitor does: after START what comes first, END or another PATTERN, with . for every character."""
    golden = (ROOT / "tests" / "goldens" / "sick.txt").read_bytes()
    line = spoken(text=golden).decode("ascii")
    at = re.search(quoted("start"), line).end()
    found = {}
    while True:
        end, row = (re.compile(quoted(key), re.S).search(line, at) for key in ("end", "pattern"))
        if row is None or end.start() < row.start():
            break
        found[row["test_case_id"]], at = row["result"], row.end()
    assert end
    told = re.findall(r"^(\w+) .* (pass|warn|fail|absent)$", golden.decode("ascii"), re.M)
    assert found == dict(told) and len(set(found.values())) > 2
    fixup, = re.findall(r"fixupdict: \{(.*)\}", README)
    assert set(found.values()) <= {word.split(":")[0] for word in fixup.split(", ")}


def test_sed_takes_the_report_out_of_the_line(tmp_path):
    (tmp_path / "serial.log").write_bytes(spoken(report("fail", (("hpet", "fail"),))))
    command, = re.findall(r"^ {4}(sed .*)$", README, re.M)
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True, timeout=60)
    told, = re.findall(r"REPORT END sha256=(\w+)", (tmp_path / "serial.log").read_text())
    assert hashlib.sha256((tmp_path / "report.json").read_bytes()).hexdigest() == told
