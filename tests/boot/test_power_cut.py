"""Several runs on one stick, one after another. All writes of each run are logged. The tests calculate the stick's
contents for a power cut after each written sector. There are ten runs, or three without --long."""
import collections
import datetime
import hashlib
import json
import os
import re
import subprocess
import types

import pytest

import blocklog
from fat import Damaged
from harness import Run
from stick import FAST, FILES, IMAGE, ON_STICK, PARTITION, STICK, block_sums, folders, mtools, volume_of
from boots import IMAGE_BUILT, checked

# tests in one worker share the runs
pytestmark = [IMAGE_BUILT, pytest.mark.xdist_group("row")]

WRITE_MAX = 64 << 10  # size of the largest write, in bytes
CLOCK_STEP_S = 2  # resolution of a time on FAT, in seconds
STALE = b"0001    NEW an older file's bytes, in a cluster that is free again. "


def used_stick():
    """Return a stick as after years of use: its free space contains old data."""
    image = bytearray(IMAGE.read_bytes())
    volume = volume_of(image)
    stale = (STALE * volume.cluster_bytes)[:volume.cluster_bytes]
    for cluster in volume.free():
        place = volume.place(cluster)
        image[PARTITION + place.start:PARTITION + place.stop] = stale
    return image


def system(volume):
    return {path: volume.read(path) for path in ("EFI/BOOT/BOOTX64.EFI", "baretick.cfg")}


@pytest.fixture(scope="module")
def row(pytestconfig, tmp_path_factory):
    """Return the first and the last stick, and each run's writes and other results. Each run uses the stick of the run
    before it."""
    folder = tmp_path_factory.mktemp("row")
    first = used_stick()
    stick, log, runs = folder / "stick", folder / "log", []
    stick.write_bytes(first)
    for number in range(1, 11 if pytestconfig.getoption("long") else 4):
        done = Run(folder / "out", [*STICK, "--image", stick, *blocklog.record(log), "--", *FAST])
        checked(done)
        (done.out / "stick.img").rename(stick)
        volume = volume_of(stick.read_bytes())
        entry = volume.folder("baretick").get(f"{number:04}")
        runs.append(types.SimpleNamespace(
            writes=blocklog.read(log), folders=folders(volume), entry=entry, stdout=done.stdout, report=done.report,
            entries=volume.folder(f"baretick/{number:04}"), serial=done.file("serial.log").replace(b"\r", b"")))
    return types.SimpleNamespace(first=first, last=stick.read_bytes(), runs=runs)


def test_runs_in_a_row_give_a_folder_each_and_leave_the_earlier_ones_alone(row):
    for number, run in enumerate(row.runs, 1):
        assert sorted(run.folders) == [f"{i:04}" for i in range(1, number + 1)]
        assert sorted(run.folders[f"{number:04}"]) == ON_STICK
        for earlier in range(1, number):
            assert run.folders[f"{earlier:04}"] == row.runs[earlier - 1].folders[f"{earlier:04}"]
        assert f"Report saved on the boot volume in \\baretick\\{number:04}\n" in run.stdout


def inside(page):
    """Return the report in an HTML page."""
    return without_exact(json.loads(re.search(rb'<script type="application/json" id="report">(.*?)</script>', page, re.S)[1]))


def without_exact(report):
    """Return REPORT without exact durations, which an HTML page does not contain."""
    return {**report, "clocks": [{**clock, "latency": clock["latency"] and {**clock["latency"], "exact": []}}
                                 for clock in report["clocks"]]}


@pytest.mark.parametrize("name", FILES)
def test_each_file_on_the_stick_is_what_serial_carried(row, name):
    for number, run in enumerate(row.runs, 1):
        data = run.folders[f"{number:04}"][name]
        if FILES[name]:
            assert hashlib.sha256(data).hexdigest().encode() == block_sums(run.serial)[FILES[name].encode()]
            continue
        assert inside(data) == without_exact(run.report)


def test_mtools_and_fsck_find_nothing_wrong_with_the_stick(row, tmp_path):
    stick, partition = tmp_path / "stick", tmp_path / "partition"
    stick.write_bytes(row.last)
    partition.write_bytes(row.last[PARTITION:])
    for number, run in enumerate(row.runs, 1):
        for name, data in run.folders[f"{number:04}"].items():
            assert mtools(stick, "mtype", f"::/baretick/{number:04}/{name}") == data
    done = subprocess.run(["fsck.fat", "-n", partition], capture_output=True, text=True,
                          env={**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin"})
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 2, done.stdout


def test_folder_and_files_bear_the_date_of_the_firmwares_clock(row):
    for run in row.runs:
        begun = datetime.datetime.fromisoformat(run.report["started_at"]) - datetime.timedelta(seconds=CLOCK_STEP_S)
        ended = begun + datetime.timedelta(minutes=10)  # each run takes less than this time
        for entry in (run.entry, *run.entries.values()):
            assert begun <= entry.made <= ended and begun <= entry.written <= ended


# parts of a run that may exist after a power cut, in the order in which a run creates them
ORDER = ["nothing", "checkpoint", "report"]


def test_a_power_cut_at_any_moment_leaves_every_numbered_folder_whole(row):
    """The folders are checked after each written sector. From a run's first checkpoint on, a folder of this run must
    exist. The test also checks that the log has all writes."""
    image, cuts = bytearray(row.first), collections.Counter()
    kept = system(volume_of(row.first))
    for number, run in enumerate(row.runs, 1):
        earlier, rests_on, left = row.runs[number - 2].folders if number > 1 else {}, None, "nothing"
        for sector in blocklog.cuts(image, run.writes):
            if rests_on is None or sector in rests_on:  # after other sectors the result is the same
                before = left
                left, rests_on = what_is_left(image, kept, earlier, run.folders)
                assert ORDER.index(left) >= ORDER.index(before)
            cuts[left] += 1
    assert image == row.last
    assert min(cuts["nothing"], cuts["checkpoint"]) > 100 * len(row.runs) and cuts["report"] >= len(row.runs)


def check(is_so, sentence):
    """Fail with SENTENCE if IS_SO is false. This replaces `assert` for large values: if the variable CI is set, pytest
    explains a failed comparison line by line, which takes minutes for reports of 100 KB."""
    if not is_so:
        raise AssertionError(sentence)


def what_is_left(image, kept, earlier, later):
    """Return the element of ORDER that exists on IMAGE for one run, and the sectors that were read to find it. EARLIER
    has the folders before this run, and LATER the folders after it. All folders must be complete."""
    volume = volume_of(image)
    check(system(volume) == kept, "of the system something is not as it was")
    found = folders(volume)
    check(found.items() >= earlier.items(), f"{sorted(earlier)} were whole; are {sorted(found)}")
    new = {name: found[name] for name in sorted(found.keys() - earlier.keys())}
    for name, files in new.items():
        if name in later:
            check(files == later[name], f"{name} is not as it was in the end")
        else:
            check_checkpoint(files)
    left = "report" if new.keys() & later.keys() else "checkpoint" if new else "nothing"
    return left, volume.looked_at


def check_checkpoint(files):
    """Check the files of one unfinished report."""
    check(sorted(files) == ON_STICK, f"its files are {sorted(files)}")
    report = json.loads(files["report.json"])
    check(report["verdict"] in ("incomplete", "fail"), f"its verdict is {report['verdict']}")
    note, = [note for note in report["notes"] if note.startswith("Saved in the phase ")]
    check(" ".join(note.split()) in " ".join(files["report.txt"].decode().split()), "report.txt lacks the note")
    check(inside(files["report.html"]) == without_exact(report), "report.html is of another report")
    check(hashlib.sha256(files["report.record"]).hexdigest() == report["record"]["sha256"], "the record is of another report")
    check(files["report.csv"].endswith(b"\n"), "report.csv is cut")


def test_a_write_that_a_device_forgets_is_seen_by_that_test(row):
    """The last run is repeated without one of its writes, for each write in turn. The check must fail for some of these
    writes, otherwise it would test nothing."""
    run, earlier, image = row.runs[-1], row.runs[-2].folders, bytearray(row.first)
    kept, missed = system(volume_of(row.first)), 0
    for past in row.runs[:-1]:
        blocklog.apply(image, past.writes)
    for number, forgotten in enumerate(run.writes, 1):
        undo = blocklog.apply(image, run.writes[number:])
        try:
            what_is_left(image, kept, earlier, run.folders)
        except (AssertionError, Damaged):
            missed += 1
        blocklog.apply(image, undo)
        blocklog.apply(image, [forgotten])
    assert image == row.last
    # each write that is full of report.html's data is missed
    assert missed >= len(run.folders[f"{len(row.runs):04}"]["report.html"]) // WRITE_MAX >= 2


def test_the_run_after_a_power_cut_takes_the_next_number_and_leaves_the_rest_alone(row, run, tmp_path):
    """The power is cut before the last folder is renamed. The next run must not change this unfinished folder."""
    image, stick, last = bytearray(row.first), tmp_path / "stick", f"{len(row.runs):04}"
    for past in row.runs[:-1]:
        blocklog.apply(image, past.writes)
    for write in row.runs[-1].writes:
        undo = blocklog.apply(image, [write])
        if last in volume_of(image).folder("baretick"):
            blocklog.apply(image, undo)
            break
    stick.write_bytes(image)
    leftover = f"{last}.new"
    before = volume_of(image).files(f"baretick/{leftover}")
    assert sorted(before) == ON_STICK
    left = folders(volume_of(image))
    done = run(*STICK, "--image", stick, "--", *FAST)
    assert any("did not finish: it stopped in its phase report" in note for note in checked(done)["notes"])
    volume = volume_of(done.file("stick.img"))
    assert volume.files(f"baretick/{leftover}") == before
    new = f"{int(max(left)) + 1:04}"
    assert folders(volume) == {**left, new: volume.files(f"baretick/{new}")}
    assert volume.files(f"baretick/{new}")["report.json"] == done.file("report.json")
