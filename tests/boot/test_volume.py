"""Boot volumes that are full, write-protected, broken, pulled out, or absent. The serial line must still have the whole
report, with the reason."""
import array
import fcntl
import hashlib
import json
import os
import re
import termios
import time

import pytest

from harness import FROM_SNAPSHOT, NO_SCREEN, QUICK_SCREEN, QUICK_TCG, WHOLE_FIRMWARE, check_schema, load_program
from levers import run_until_in_time, run_while
from machine.transcript import DETAIL
from stick import CD, FAST, FILES, IMAGE, ON_STICK, PARTITION, REAL_TIME_STICK, STICK, block_sums, copy_of_stick, folders, mtools, stick_with_options, volume_of
from boots import EFI, IMAGE_BUILT, NO_REPORT, VERDICT_STATUS, checked, clocks, qemu

pytestmark = IMAGE_BUILT


def check_unsaved(done, *sentences):
    """Return the report of a run that could not write to the volume. Check that the report is in all other places, with
    the reason."""
    report = checked(done)
    notes = [note for note in report["notes"] if note.startswith(NO_REPORT)]
    assert len(notes) == 1 and notes[0] + "\n" in done.stdout, done
    for sentence in sentences:
        assert sentence in notes[0], notes
    assert " ".join(notes[0].split()) in " ".join(done.file("report.txt").decode().split())
    for name, block in FILES.items():
        if block:
            assert hashlib.sha256(done.file(name)).hexdigest().encode() == block_sums(
                done.file("serial.log").replace(b"\r", b""))[block.encode()]
    return report


def test_the_files_on_the_stick_are_those_that_the_runner_leaves(run):
    """The files that the application saves on the stick must equal the files that the runner makes. Both make the HTML
    page from the same report. The CPU's name has characters that are special in JSON and HTML."""
    name = 'A "CPU" \\ </script> @REPORT@'
    done = run(*QUICK_TCG, "--cpus", "2", "--boot", "usb", *qemu("-cpu", f"max,model-id={name}", "-machine", "smbios-entry-point-type=32"),
               "--", "profile=quick", "duration=10ms")
    assert done.report["machine"]["cpu"] == name
    assert done.report["machine"]["identity"]["vendor"] == "QEMU"  # the 32-bit entry point of SMBIOS leads to it
    checked(done, started=2)
    volume = volume_of(done.file("stick.img"))
    saved = folders(volume)["0001"]
    assert {name: saved[name] == done.file(name) for name in ON_STICK} == dict.fromkeys(ON_STICK, True)
    assert sorted(volume.folder("baretick")) == ["0001"]
    assert not [note for note in done.report["notes"] if "on this machine" in note]
    assert len(done.file("report.html")) < 600_000


def fill(stick, folder, leave_bytes):
    """Put a file on the stick that leaves only LEAVE_BYTES free."""
    volume = volume_of(stick.read_bytes())
    filler = folder / "filler"
    with open(filler, "wb") as file:
        file.truncate(len(volume.free()) * volume.cluster_bytes - leave_bytes)
    mtools(stick, "mcopy", filler, "::/filler")
    assert len(volume_of(stick.read_bytes()).free()) * volume.cluster_bytes == leave_bytes


def set_free_count(stick, clusters):
    """Set the number of free clusters that the volume states (FAT specification, FSI_Free_Count)."""
    image = bytearray(stick.read_bytes())
    information = PARTITION + 512 * image[PARTITION + 48]
    image[information + 488:information + 492] = clusters.to_bytes(4, "little")
    stick.write_bytes(image)


def contents_of(stick):
    """Return the stick's files without the times of folders, and its free space."""
    volume = volume_of(stick)
    paths = ["", "baretick"] if "baretick" in volume.folder("") else [""]
    entries = [{name: entry._replace(written=entry.folder or entry.written) for name, entry in volume.folder(path).items()}
               for path in paths]
    return entries, volume.free()


@pytest.mark.parametrize("leave_bytes, has_folder", [(0, False), pytest.param(0, True, marks=pytest.mark.long), (64 << 10, True)])
def test_a_stick_with_too_little_room_is_left_as_it_is(run, tmp_path, leave_bytes, has_folder):
    stick = copy_of_stick(tmp_path)
    if not has_folder:
        mtools(stick, "mrd", "::/baretick")
    fill(stick, tmp_path, leave_bytes)
    done = run(*STICK, "--image", stick, "--", *FAST)
    # the marker file also needs space during the run
    marker_bytes = min(leave_bytes, volume_of(stick.read_bytes()).cluster_bytes)
    check_unsaved(done, f"it is full: {leave_bytes - marker_bytes >> 10} KiB are free, ")
    assert contents_of(done.file("stick.img")) == contents_of(stick.read_bytes())


def test_a_stick_whose_free_count_is_too_low_keeps_the_report(run, tmp_path):
    """A stick that was pulled out earlier states 100 free clusters of 512 bytes, although nearly all clusters are free.
    The report must be saved."""
    stick = copy_of_stick(tmp_path)
    set_free_count(stick, 100)
    done = run(*STICK, "--image", stick, "--", *FAST)
    checked(done)
    assert folders(volume_of(done.file("stick.img")))["0001"]["report.json"] == done.file("report.json")


def test_what_was_begun_on_a_stick_that_turns_out_full_is_removed(run, tmp_path):
    """The stick states too many free clusters, so that a report seems to fit. In fact report.html alone does not fit.
    The run must remove the files that it started to write."""
    stick = copy_of_stick(tmp_path)
    mtools(stick, "mrd", "::/baretick")
    fill(stick, tmp_path, 64 << 10)
    set_free_count(stick, 1000)
    done = run(*STICK, "--image", stick, "--", *FAST)
    check_unsaved(done, "it is full (\\baretick\\0001.new\\report.")
    assert len(done.file("report.html")) > 64 << 10
    assert contents_of(done.file("stick.img")) == contents_of(stick.read_bytes())


def test_a_write_protected_stick_says_so(run):
    done = run(*STICK, *qemu("-set", "drive.stick.readonly=on"), "--", *FAST)
    check_unsaved(done, "it is read-only")
    assert done.file("stick.img") == IMAGE.read_bytes()


def test_the_hybrid_image_on_a_stick_keeps_the_report_too(run):
    done = run(*STICK, "--image", CD, "--", *FAST)
    checked(done)
    stick = done.out / "stick.img"
    starts = [int.from_bytes(stick.read_bytes()[446 + 16 * i + 8:][:4], "little") for i in range(4)
              if stick.read_bytes()[446 + 16 * i + 4] == 0xEF]
    for name in ("report.json", "report.txt"):
        assert mtools(f"{stick}@@{starts[0] * 512}", "mtype", f"::/baretick/0001/{name}") == done.file(name)


@pytest.mark.parametrize("words", [["--boot", "cd", "--"], ["--", "save=auto"]], ids=["cd", "kernel"])
def test_a_cd_and_the_firmwares_volume_for_the_file_of_kernel_are_read_only(run, words):
    check_unsaved(run(*QUICK_TCG, "--cpus", "1", *words, *FAST), "it is read-only")


def test_a_stick_that_was_pulled_out_while_measuring_says_so(tmp_path):
    def pull(machine):
        with machine.monitor() as monitor:
            assert machine.wait_for(b"progress: ")
            monitor.unplug("usb-storage")
            return not machine.has_said(b"Saving the report")

    done = run_until_in_time(pull, tmp_path, *REAL_TIME_STICK, *NO_SCREEN, "--", "profile=quick", "clocks=tsc,hpet", "cores=off", "duration=2s")
    check_unsaved(done, "it was removed")
    volume = volume_of(done.file("stick.img"))
    # only the marker file of the unfinished run exists
    assert not folders(volume) and [name[8:] for name in volume.files("baretick")] == [".run"]


@pytest.mark.long
def test_a_stick_that_is_pulled_out_while_it_is_written_loses_nothing_that_serial_carries(tmp_path):
    """The stick does 48 writes a second, and a report needs more than a hundred. Therefore there is enough time to pull
    the stick out, even on a busy host. Takes 14 to 28 s of processor time, because the firmware waits in real time for
    the missing stick. In the next test a stick refuses writes at once."""
    def pull(machine):
        with machine.monitor() as monitor:
            assert machine.wait_for(b"Saving the report")
            monitor.unplug("usb-storage")

    done = run_while(pull, tmp_path / "out", *REAL_TIME_STICK, *NO_SCREEN, *qemu("-set", "drive.stick.throttling.iops-write=48"), "--", *FAST)
    check_unsaved(done)
    # folder 0001 was an earlier checkpoint of this run, which the run has removed
    assert sorted(folders(volume_of(done.file("stick.img")))) == ["0002"]


def test_writes_to_a_slow_stick_do_not_count_for_the_deadline(run):
    """The stick does 50 writes a second in the host's time. In the machine's time each write takes many times as long, but
    less on a busy host, so a slower stick is tried then. A run without these writes needs less than half of the deadline."""
    deadline_s = 6
    for writes in (50, 20, 8):
        done = run(*STICK, *qemu("-set", f"drive.stick.throttling.iops-write={writes}"), "--", "profile=quick", "duration=10ms",
                   "clocks=tsc,hpet", "cores=off", "irq=off", f"deadline={deadline_s}s")
        if checked(done)["elapsed_ms"] > 1000 * deadline_s:
            return
    raise AssertionError(f"no run lasted longer than its deadline; the last one: {done}")


def test_a_stick_whose_writes_fail_says_that_it_does_not_answer(run):
    """The report must say that the stick does not answer. After the first failed write the stick is not used any more,
    because a driver may wait long at each failure."""
    done = run(*STICK, *qemu("-set", "drive.stick.format=blkdebug", "-set", "drive.stick.inject-error.0.event=none", "-set",
                             "drive.stick.inject-error.0.iotype=write"), "--", *FAST)
    if "the firmware took an exception in its own code" in done.stderr:
        pytest.skip("this firmware crashes in Open() after a failed write, as OVMF 2025.02 does")
    check_unsaved(done, "it does not answer (")


def test_an_application_that_came_over_the_network_says_that_there_is_no_volume(run, tmp_path):
    """The report must say that the application was not started from a volume. The machine boots by TFTP from QEMU's own
    server, because the disk, which comes first in the boot order, has no loader."""
    stick = tmp_path / "stick"
    # a boot sector without code, so that the firmware tries the next device
    stick.write_bytes(bytes(510) + b"\x55\xaa" + bytes((1 << 20) - 512))
    network = qemu("-netdev", f"user,id=net,tftp={EFI.parent},bootfile={EFI.name}",
                   "-device", "virtio-net-pci,netdev=net,romfile=,bootindex=1")
    check_unsaved(run(*STICK, "--image", stick, *network, "--", *FAST), "the application was not started from a volume.")


# Tests in which the folder \baretick has entries that baretick did not make.

def test_names_that_are_no_numbers_are_passed_over_and_numbers_are_taken_by_files_too(run, tmp_path):
    stick, file = copy_of_stick(tmp_path), tmp_path / "file"
    file.write_bytes(b"mine")
    for folder in ("/0003", "/2024-notes", "/0004 - Copy", "/00099", "/\u00e4\u00f6"):
        mtools(stick, "mmd", f"::/baretick{folder}")
    mtools(stick, "mcopy", file, "::/baretick/0007")
    mtools(stick, "mcopy", file, "::/baretick/9998.txt")
    done = run(*STICK, "--image", stick, "--", *FAST)
    checked(done)
    volume = volume_of(done.file("stick.img"))
    assert sorted(volume.files("baretick/0008")) == ON_STICK
    assert volume.files("baretick") == {"0007": b"mine", "9998.txt": b"mine"}
    assert mtools(done.out / "stick.img", "mtype", "::/baretick/0008/report.json") == done.file("report.json")


@pytest.mark.parametrize("make, sentence", [
    ([["mmd", "::/baretick/9999"]], "The folder \\baretick\\9999 has the highest possible number"),
    ([["mrd", "::/baretick"], ["mcopy", "FILE", "::/baretick"]], "\\baretick is a file, not a folder"),
], ids=["no-number-left", "a-file"])
def test_a_stick_without_a_place_for_the_folder_says_why(run, tmp_path, make, sentence):
    stick, file = copy_of_stick(tmp_path), tmp_path / "file"
    file.write_bytes(b"mine")
    for command in make:
        mtools(stick, *[file if word == "FILE" else word for word in command])
    done = run(*STICK, "--image", stick, "--", *FAST)
    check_unsaved(done, sentence)
    assert done.file("stick.img") == stick.read_bytes()


@pytest.mark.parametrize("path", ["baretick", "baretick/0003"])
def test_a_folder_whose_chain_leads_back_to_its_begin_is_left_alone(run, tmp_path, path):
    """The folder's chain of clusters leads back to its start, and some firmware never finds the end of such a folder.
    Therefore neither this folder nor the folder that contains it may be read."""
    stick = copy_of_stick(tmp_path)
    mtools(stick, "mmd", "::/baretick/0003")
    image = bytearray(stick.read_bytes())
    volume = volume_of(image)
    chain = volume.chain(volume.find(path).cluster)
    volume.link(chain[-1], chain[0])
    stick.write_bytes(image)
    done = run(*STICK, "--image", stick, "--", *FAST)
    check_unsaved(done, f"the file system is damaged: the folder \\{path} has no end.".replace("/", "\\"))
    assert done.file("stick.img") == stick.read_bytes()


def test_a_short_name_that_is_a_number_is_passed_over(run, tmp_path):
    """The firmware's Open() finds the file `0001.newer` also by its short name, `0001.NEW`. The run must not change
    this file. The short name is written byte by byte, because mtools would choose another name."""
    stick, file = copy_of_stick(tmp_path), tmp_path / "file"
    file.write_bytes(b"mine")
    mtools(stick, "mcopy", file, "::/baretick/0001.newer")
    image = bytearray(stick.read_bytes())
    volume = volume_of(image)
    place = PARTITION + volume.place(volume.find("baretick").cluster).start
    at = image.index(b"0001~1  NEW", place)
    image[at:at + 11] = b"0001    NEW"
    total = 0
    for byte in image[at:at + 11]:
        total = ((total & 1) << 7 | total >> 1) + byte & 0xFF
    image[at - 32 + 13] = total  # checksum of the short name in the entry of the long name
    stick.write_bytes(image)
    assert b"mine" == mtools(stick, "mtype", "::/baretick/0001.newer")
    done = run(*STICK, "--image", stick, "--", *FAST)
    checked(done)
    volume = volume_of(done.file("stick.img"))
    assert sorted(volume.files("baretick/0002")) == ON_STICK and volume.files("baretick") == {"0001.newer": b"mine"}


def test_options_on_the_stick_are_read_and_those_of_the_runner_win(run, tmp_path):
    stick = stick_with_options(tmp_path, "profile=quick\r\nduration=20ms\r\ncores=off # as on a machine with trouble\r\nclocks=tsc,null\r\n")
    report = checked(run(*QUICK_TCG, "--cpus", "2", "--boot", "usb", "--image", stick, "--", "clocks=tsc,hpet"),
                     started=1)
    assert sorted(clocks(report)) == ["hpet", "null", "tsc"]


@pytest.mark.parametrize("how", ["summary", "off"])
def test_the_serial_line_gets_what_it_is_to_get_and_the_stick_all(run, tmp_path, how):
    """The machine has a screen. Its text must not be sent to the serial line, although the firmware's console uses
    both."""
    stick = stick_with_options(tmp_path, f"serial={how}\n")
    done = run(*QUICK_SCREEN, "--cpus", "1", "--boot", "usb", "--image", stick, "--", *FAST)
    saved = folders(volume_of(done.file("stick.img")))["0001"]
    if how == "off":  # there is no report on the serial line, so the runner took it from the stick
        assert done.status == VERDICT_STATUS[json.loads(saved["report.json"])["verdict"]], done
        assert done.file("report.json") == saved["report.json"]
    else:
        assert done.status == 2 and "its report did not come over the serial line" in done.stderr, done
    assert sorted(saved) == ON_STICK and f"serial={how}" in json.loads(saved["report.json"])["options"]["given"]
    said = done.file("serial.log").replace(b"\r", b"")
    if how == "off":
        # The firmware prints the name of the file that it starts. The application prints its version before it reads the options.
        started = re.findall(rb"^Starting baretick \S+(?: \(\w+\))?$", said, re.M)
        assert len(started) == 1 and b"baretick" not in said.replace(started[0], b"").lower().replace(b"baretick.efi", b"")
        return
    text = said.partition(b"BARETICK TEXT BEGIN\n")[2].partition(b"BARETICK TEXT END")[0]
    assert saved["report.txt"].startswith(text) and b"verdict  " in text and DETAIL not in text
    assert block_sums(said) == {b"TEXT": hashlib.sha256(text).hexdigest().encode()} and b"\nphase: " in said


LONG_WORDS = ["clocks=tsc,hpet"] * 640  # 10 KiB, including the blanks between the words


def test_options_that_are_too_long_are_named_and_the_run_ends(run):
    done = run(*QUICK_TCG, "--cpus", "1", "--", *LONG_WORDS)
    sentence = re.search(r"qemu/run: the options are (\d+) bytes long; the maximum is 8192 bytes", done.stderr)
    assert sentence and int(sentence[1]) >= 10240 and done.status == 2, done


def test_an_options_file_that_is_too_long_leaves_its_error_on_the_stick_once(run, tmp_path):
    """The options file is too long. If the machine restarts after this error, the second boot must add nothing to the
    stick, because repeated restarts would fill it."""
    stick = stick_with_options(tmp_path, "\n".join(LONG_WORDS) + "\n")
    error = "In baretick.cfg: the options are 10240 bytes long; the maximum is 8192 bytes."
    for _ in range(2):
        done = run(*STICK, "--image", stick, "--", *FAST)
        assert f"qemu/run: {error[:-1]}\n" in done.stderr and done.status == 2, done
        stick = done.out / "stick.img"
        saved = folders(volume_of(stick.read_bytes()))
        report = json.loads(saved["0001"]["report.json"])
        check_schema(report)
        assert sorted(saved) == ["0001"] and sorted(saved["0001"]) == sorted(FILES)
        assert report["notes"] == [error, "Nothing was measured."] and report["verdict"] == "incomplete"
        # the report names the options that were obeyed, and the core that ran
        assert "exit=debug-exit" in report["options"]["given"] and report["machine"]["cores_started"] == 1
        assert error in " ".join(saved["0001"]["report.txt"].decode().split())


# In most tests, a snapshot replaces the start of the firmware (tests/lib/qemu_from_snapshot). This test compares both.

@pytest.mark.long
def test_a_start_from_a_snapshot_has_the_figures_of_a_whole_start(run):
    """The report must be the same as after a whole start of the firmware. The second start uses the snapshot, so the
    serial line lacks the bytes that the firmware sends before the snapshot. The times of the firmware's calls depend on
    the phase of its tick, which is another one after the snapshot, and wakes the core from its sleep."""
    whole = run(*STICK, "--qemu", "qemu-system-x86_64", "--", *FAST, "sleep=off")
    later = [run(*STICK, "--", *FAST, "sleep=off") for _ in range(2)][1]
    said, after = (done.file("serial.log").partition(b"BdsDxe")[0] for done in (whole, later))
    assert said != after and said.endswith(after)
    assert {**whole.report, "record": None, "firmware_times": None} == {**later.report, "record": None, "firmware_times": None}


BYTES_AT_PHASES = 400  # what the machine has printed when baretick measures: the firmware prints about 100 bytes


@pytest.mark.skipif(not os.path.exists(WHOLE_FIRMWARE), reason="no firmware in one file is there")
@pytest.mark.parametrize("is_late", [False, True], ids=["without-baretick", "late"])
def test_no_snapshot_is_made_of_a_machine_that_was_stopped_after_baretick_started(tmp_path, is_late):
    """A busy host stops the machine late. Then baretick may have read its options already, or have ended. The state of a
    machine without baretick must be saved, however late the host stops it."""
    def wait(line):
        said, waiting, end = snapshots.read_first_byte(line), array.array("i", [0]), time.monotonic() + snapshots.BOUND_S
        while is_late and waiting[0] < BYTES_AT_PHASES and time.monotonic() < end:
            time.sleep(0.01)
            fcntl.ioctl(line, termios.FIONREAD, waiting)
        return said

    snapshots, state = load_program(FROM_SNAPSHOT[-1]), tmp_path / "state"
    monitor = ["-chardev", "socket,id=monitor,fd=8", "-qmp", "chardev:monitor"]
    snapshots.save_snapshot(["-machine", "q35", "-m", "512M", "-accel", "tcg", "-nodefaults", "-display", "none", "-vga", "none",
                             "-chardev", "stdio,id=line,signal=off", "-serial", "chardev:line", *monitor, "-bios", WHOLE_FIRMWARE,
                             *(["-kernel", EFI] if is_late else [])], state, wait)
    assert state.exists() != is_late
