"""qemu/fleet --rejudge judges reports with a record again. It counts other reports and damaged records."""
import json
import lzma
import shutil
import subprocess

import pytest

from harness import ROOT, write_script
from lab import engine
from readers import rejudge as reader

FLEET, REPLAY = ROOT / "qemu" / "fleet", ROOT / "build" / "baretick-replay"
RECORDS = ROOT / "tests" / "records"
WAIT_S = 120  # longest wait; the machine may be busy

pytestmark = pytest.mark.skipif(not REPLAY.exists(), reason="there is no build/baretick-replay: type make")


@pytest.fixture
def rejudge(tmp_path, duckdb):
    """Return a function that calls qemu/fleet --rejudge for tmp_path/in."""
    def call(*words, out="out"):
        return subprocess.run([FLEET, *words, tmp_path / "in", "--out", tmp_path / out, "--db", tmp_path / "db"], capture_output=True,
                              text=True, timeout=WAIT_S)
    return call


def judged_run(folder, name="bare", limit="limit.clock-slow=1"):
    """Make a folder with a record and its report, which was judged with another limit."""
    folder.mkdir(parents=True)
    record = folder / "report.record"
    record.write_bytes(lzma.decompress((RECORDS / f"{name}.record.xz").read_bytes()))
    done = subprocess.run([REPLAY, record, "--out", folder / "made", limit], capture_output=True, timeout=WAIT_S)
    assert done.returncode in (0, 1), done
    shutil.move(folder / "made" / "report.json", folder / "report.json")
    shutil.rmtree(folder / "made")
    return record


def verdicts(tmp_path):
    with engine.connect_to_duckdb(str(tmp_path / "db")) as base:
        return sorted(verdict for verdict, in base.execute("SELECT verdict FROM runs").fetchall())


def test_the_new_report_takes_the_place_of_the_old_one(rejudge, tmp_path):
    record = judged_run(tmp_path / "in" / "a")
    report = record.with_suffix(".json")
    before = report.read_bytes()
    assert json.loads(before)["verdict"] == "warn"
    rejudge(out="other")
    assert verdicts(tmp_path) == ["warn"]
    done = rejudge("--rejudge")
    assert done.returncode == 0 and "1 report added" in done.stdout, done.stderr
    assert done.stdout.startswith("1 judged again, 0 without a record, 0 with a damaged record (not judged again)\n")
    assert verdicts(tmp_path) == ["pass"]
    assert report.read_bytes() == before and sorted(path.name for path in record.parent.iterdir()) == ["report.json", "report.record"]


def test_reports_without_a_record_and_damaged_records_keep_their_reports(rejudge, tmp_path):
    judged_run(tmp_path / "in" / "a")
    judged_run(tmp_path / "in" / "b", "two-cores").unlink()
    damaged = judged_run(tmp_path / "in" / "c", "stopped")
    damaged.write_bytes(damaged.read_bytes()[:-1])
    link = judged_run(tmp_path / "in" / "d", "kvm")
    link.rename(tmp_path / "elsewhere")
    link.symlink_to(tmp_path / "elsewhere")
    done = rejudge("--rejudge")
    assert "4 reports added" in done.stdout, done.stderr
    assert done.stdout.splitlines()[:2] == ["1 judged again, 2 without a record, 1 with a damaged record (not judged again)",
                                            f"  {damaged}: The record ends within a block."]
    assert verdicts(tmp_path) == ["pass", "warn", "warn", "warn"]


def test_a_record_of_another_run_is_not_used(rejudge, tmp_path):
    record = judged_run(tmp_path / "in")
    record.write_bytes(lzma.decompress((RECORDS / "two-cores.record.xz").read_bytes()))
    done = rejudge("--rejudge")
    assert f"  {record}: It is not the record of the report next to it.\n" in done.stdout
    assert verdicts(tmp_path) == ["warn"]


@pytest.mark.parametrize("end, reason", [
    ("kill -SEGV $$", "baretick-replay: signal 11 ended the program."), ("exit 134", "baretick-replay: the program ended with status 134."),
    ("exit 1", "baretick-replay: the program ended with status 1."), ("echo 'baretick-replay: full disk' >&2; exit 2", "full disk"),
    ("rm $3/report.json; exit 0", "baretick-replay: the program ended with status 0."),
], ids=range(5))
def test_a_replay_that_dies_after_its_report_has_not_judged_again(tmp_path, end, reason):
    record = judged_run(tmp_path / "in")
    program = write_script(tmp_path / "replay", f'#!/bin/sh\n{REPLAY} "$@"\necho "The record is from baretick 0.1.0." >&2\n{end}\n')
    with pytest.raises(reader.Damaged) as raised:
        reader.make_report_from_record(str(program), str(record))
    assert str(raised.value) == reason


def test_a_data_set_with_reports_is_refused(rejudge, tmp_path):
    judged_run(tmp_path / "in")
    rejudge()
    done = rejudge("--rejudge")
    assert done.returncode == 2 and "--rejudge: " in done.stderr and "name another folder with --out" in done.stderr
    assert verdicts(tmp_path) == ["warn"]


def test_a_server_does_not_judge_again(tmp_path):
    done = subprocess.run([FLEET, "--serve", tmp_path, "--rejudge"], capture_output=True, text=True, timeout=WAIT_S)
    assert done.returncode == 2 and "--serve takes no reports, no --db and no --rejudge" in done.stderr
