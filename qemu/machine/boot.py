"""Boots the guest, and decides on the exit status of qemu/run. If KVM does not work, boots the guest again without KVM."""
import base64
import contextlib
import copy
import os
import re
import time

from readers import stick
from machine import command
from machine.command import UserError
from machine.guest import Guest
from machine.transcript import Transcript
from machine.variables import secure_boot_is_on
from machine.qemu_messages import QemuMessages
from results import files, reports

EXIT_PASS, EXIT_FAIL, EXIT_NOT_DONE, EXIT_TIMEOUT = 0, 1, 2, 124
# If the guest writes VALUE to the port of QEMU's device isa-debug-exit, QEMU ends with the exit status (value << 1 | 1) & 255.
ENDINGS = {(value << 1 | 1) & 255: word for value, word in
           {0x10: "pass", 0x11: "fail", 0x12: "incomplete", 0x13: "error"}.items()}
APPLICATION_READ = 4096  # bytes of an application that contain its header
# The word in ENDINGS that must come with each verdict in a report. QEMU's exit status gives no such word if the application did
# not end QEMU by isa-debug-exit.
VERDICTS = {"pass": "pass", "warn": "pass", "fail": "fail", "incomplete": "incomplete"}


def list_reports_on_stick(run, image):
    """Return {(partition, name)} of the reports on IMAGE. The set is empty if the run has no stick, or mtools cannot read it."""
    if run.boot not in command.STICKS:
        return set()
    try:
        return set(stick.list_report_names(image))
    except stick.UnreadableStick:
        return set()


def read_missing_report_from_stick(run, guest, before):
    """If no report came over the serial line, use the new report on the stick. For example, applications have no serial line
    under U-Boot. After the time-out this is the run's last checkpoint. BEFORE lists the reports that were on the stick before the
    guest started.
    """
    transcript = guest.transcript
    is_timeout = guest.ending == "timeout"
    if transcript.blocks or transcript.faults or transcript.error or (guest.status not in ENDINGS and not is_timeout):
        return
    image = os.path.join(run.out, command.STICK)
    # The run saves its report in the new folder with the lowest number. Checkpoints during the run have higher numbers. The
    # time-out may stop the run while it writes or removes one of its three folders. Another folder is then complete.
    for partition, name in sorted(list_reports_on_stick(run, image) - before)[:3 if is_timeout else 1]:
        files_of = {"REPORT": "json", "TEXT": "txt", "CSV": "csv"}
        with contextlib.suppress(ValueError):
            transcript.use_blocks_from_stick({
                block: stick.read_file(image, partition, f"{name.rpartition('.')[0]}.{suffix}", reports.SIZE_MAX)
                for block, suffix in files_of.items()})
            record = stick.read_file(image, partition, f"{name.rpartition('.')[0]}.record", reports.SIZE_MAX)
            transcript.blocks["RECORD"] = base64.encodebytes(record)
        if transcript.report is not None:
            break
    guest.left_checkpoint = is_timeout and transcript.report is not None


def boot_once(run, accelerator, console, words, deadline, check_hang):
    transcript = run.transcript = Transcript(console.show_line)
    before = list_reports_on_stick(run, run.image)
    private = command.PrivateFiles()
    with files.create_file(os.path.join(run.out, "serial.log")) as serial_log, contextlib.closing(private):
        guest = Guest(transcript, serial_log, words, accelerator)
        try:
            guest.run_until_end(lambda fd: command.build_command(run, accelerator, private, fd), deadline, keep=private.fds,
                      poll_state=accelerator == "kvm", picture=run.screenshot, ends_after_report=run.ends_after_report,
                      check_hang=check_hang and "-serial" not in run.qemu_arg,
                      events=run.event, say=console.print_sentence, attended=bool(run.display),
                      keyboard=run.boot != "bare")
            guest.secure_boot = secure_boot_is_on(private.read_file("variables", command.VARIABLES_MAX))
        finally:
            transcript.close()
            console.erase_progress()
    read_missing_report_from_stick(run, guest, before)
    if guest.screenshot_error:
        console.print_sentence(f"no screenshot: {guest.screenshot_error}")
    return guest


def explain_kvm_failure(run, guest):
    """Return the reason why baretick did not start, or is too slow, under KVM. Return None if KVM has no such fault."""
    if guest.ending == "slow":
        return guest.state
    if guest.transcript.has_started:
        return None
    if guest.ending == "stuck":
        return f"the guest stopped with {guest.state}"
    if guest.ending == "still":
        return guest.state
    if guest.ending == "exit" and guest.status not in ENDINGS and not has_qemu_error_unrelated_to_kvm(guest):
        return f"QEMU {format_qemu_exit_status(guest.status)}{format_last_error(run, guest)}"
    return None


def has_qemu_error_unrelated_to_kvm(guest):
    """Return True if QEMU ended by itself with a message that is not about KVM, for example about an error in its command line.
    """
    words = "\n".join(guest.qemu_messages.list_lines()).lower()
    return guest.status > 0 and words and "kvm" not in words


def format_qemu_exit_status(status):
    if status is not None and status < 0:
        return f"was killed by signal {-status}"
    return f"ended with status {status}"


def explain_signal_that_ended_qemu(guest):
    """Return a sentence if a signal ended QEMU, otherwise None. Only QEMU's message shows the signal, because QEMU ends with
    status 0 (softmmu/runstate.c)."""
    number = re.search(r"^\S+: terminating on signal (\d+)\b", "\n".join(guest.qemu_messages.list_lines()), re.MULTILINE)
    return f"QEMU was ended by signal {number[1]}" if number else None


def format_last_error(run, guest):
    """Return QEMU's last error message, without warnings. It need not be QEMU's last line, because a hint may follow it."""
    lines = guest.qemu_messages.list_lines()
    name = f"{os.path.basename(run.qemu)}: "
    errors = [line for line in lines if line.startswith(name) and not line.startswith(f"{name}warning: ")]
    return f": {(errors or lines)[-1]}" if lines else ""


def boot_guest(run, console):
    """Boot until the guest ends or the run's time-out is over. Return the guest and its accelerator."""
    deadline = console.deadline = time.monotonic() + run.timeout
    own = command.uses_accelerator(run.qemu_arg)
    accelerator = run.accel
    if accelerator == "auto":
        usable = os.access("/dev/kvm", os.R_OK | os.W_OK) and "-icount" not in run.qemu_arg
        accelerator = "kvm" if usable and not own else "tcg"
    elif accelerator == "kvm" and not os.access("/dev/kvm", os.R_OK | os.W_OK):
        raise UserError("--accel kvm: /dev/kvm cannot be opened here")
    if run.display == "vnc":
        run.vnc = command.find_free_vnc_display()
        console.print_sentence(f"the screen is on VNC, port {command.VNC_PORT + run.vnc} of this machine: "
                    f"vncviewer localhost:{run.vnc}")
    with files.create_file(os.path.join(run.out, "qemu.log")) as qemu_log, contextlib.closing(QemuMessages(qemu_log)) as words:
        check_hang = accelerator == "kvm" and run.accel == "auto"
        guest = boot_once(run, accelerator, console, words, deadline, check_hang)
        reason = explain_kvm_failure(run, guest) if accelerator == "kvm" else None
        if reason and run.accel == "auto":
            fault = "is slower than emulation" if guest.ending == "slow" else "does not work"
            console.print_sentence(f"KVM {fault} here ({reason}), so the run continues with emulation (TCG); you need not do "
                                   "anything")
            run.fell_back = True
            accelerator, reason = "tcg", None
            guest = boot_once(run, accelerator, console, words, deadline, check_hang=False)
    if reason:
        guest.transcript.faults.append(f"--accel kvm: {reason}")
    return guest, accelerator


def is_signed(image):
    """Return True if an application has a signature. IMAGE is its first bytes. Data directory 4 of a PE32+ header has the size of the
    certificate table.
    """
    header = int.from_bytes(image[0x3C:0x40], "little")
    at = header + 24 + 112 + 4 * 8
    return image[:2] == b"MZ" and image[header:header + 4] == b"PE\0\0" and any(image[at + 4:at + 8])


def read_application(run):
    """Return the first bytes of the application that the run boots. Return b"" if they cannot be read."""
    if run.boot not in command.STICKS:
        with contextlib.suppress(OSError), open(run.image, "rb") as file:
            return file.read(APPLICATION_READ)
        return b""
    # behind a shim, the application has the name grubx64.efi
    for name in "::/EFI/BOOT/grubx64.efi", "::/EFI/BOOT/BOOTX64.EFI":
        with contextlib.suppress(ValueError, OSError, stick.UnreadableStick):
            return stick.read_file(run.image, stick.PARTITIONS[0], name, reports.SIZE_MAX)
    return b""


def explain_guest_silence(run, guest):
    """Return a text that says why baretick printed nothing: it stopped early, the firmware's message, or that Secure Boot is
    on. Return "" if the reason is not known.
    """
    if guest.transcript.is_starting:
        return " after its start, and has not read its options"
    if not guest.transcript.refused and not guest.secure_boot:
        return ""
    if is_signed(read_application(run)):
        before = f"the firmware printed {guest.transcript.refused}" if guest.transcript.refused else "Secure Boot is on in the firmware's variables"
        return (f": {before}. The application is signed, so its certificate is probably not enrolled: see \"Secure Boot\" in "
                "boot/README.md")
    if guest.transcript.refused:
        return (f": the firmware printed {guest.transcript.refused}, as Secure Boot does for an unsigned application (`make sign` signs "
                "it)")
    return ": Secure Boot is on in the firmware's variables, so no unsigned application starts (`make sign` signs it)"


def explain_lost_measurements(run, transcript):
    """Return the end of a sentence about a run that its time-out stopped: why the report has no measurements."""
    if not transcript.is_measuring:
        return ""
    if run.boot in command.STICKS:
        return "; no measurements were kept, because the run had saved no checkpoint on its stick"
    return "; no measurements were kept, because only a run with --boot usb saves checkpoints"


def advise_emulation(guest):
    """Return the end of a sentence about a time-out: advice if KVM may have been the cause."""
    if guest.accelerator != "kvm":
        return ""
    ticks = guest.transcript.instruction_ticks
    cause = f"this KVM needs {ticks} ticks of the TSC for each instruction" if ticks else "if this KVM is slow"
    return f"; {cause}{':' if ticks else ','} use emulation (--accel tcg)"


def judge_run(run, guest):
    """Return (exit status, problem or None) of a run that has ended."""
    transcript = guest.transcript
    if guest.ending == "timeout":
        last = transcript.last_progress or transcript.last_line
        where = f"the last line was: {last}" if last else f"baretick printed nothing{explain_guest_silence(run, guest)}"
        if guest.left_checkpoint:
            where = "the report has the measurements up to the last checkpoint"
        return EXIT_TIMEOUT, (f"the run did not end within {run.timeout:g} s (--timeout); {where}"
                f"{explain_lost_measurements(run, transcript)}{advise_emulation(guest)}")
    if guest.ending == "unbootable":
        return EXIT_NOT_DONE, f"the firmware found nothing to boot{explain_guest_silence(run, guest)}"
    if guest.ending == "crashed":
        return EXIT_NOT_DONE, f"the firmware took an exception in its own code and stopped: {transcript.crash}"
    if guest.ending == "stuck":
        return EXIT_NOT_DONE, f"QEMU stopped the guest for good: {guest.state}"
    if guest.ending == "lost":
        return EXIT_NOT_DONE, guest.state
    if guest.ending == "flood":
        return EXIT_NOT_DONE, "the guest printed without end on the serial line"
    if transcript.faults:
        return EXIT_NOT_DONE, "; ".join(transcript.faults)
    word = ENDINGS.get(guest.status) if guest.ending == "exit" else None
    if word == "error":
        return EXIT_NOT_DONE, transcript.error.rstrip(".") or f"baretick ended with an error: {transcript.last_line}"
    if word is None and guest.ending == "exit" and guest.status != 0:
        return EXIT_NOT_DONE, f"QEMU {format_qemu_exit_status(guest.status)}{format_last_error(run, guest)}"
    if not transcript.is_report_complete and transcript.error:
        return EXIT_NOT_DONE, transcript.error.rstrip(".")
    if word == "pass" and run.list and "TEXT" in transcript.blocks:
        return EXIT_PASS, None
    if not transcript.is_report_complete:
        missing = "report" if transcript.report is None else "text"
        how = f"baretick ended with {word}" if word else explain_signal_that_ended_qemu(guest) or "the machine was switched off"
        return EXIT_NOT_DONE, f"{how}, but its {missing} did not come over the serial line"
    verdict = VERDICTS.get(transcript.report["verdict"])
    if word and word != verdict:
        return EXIT_NOT_DONE, f"baretick ended with {word}, its report says {transcript.report['verdict']}"
    if verdict == "incomplete" or verdict is None:
        return EXIT_NOT_DONE, transcript.report.get("reason") or "the report is incomplete"
    missed = "; ".join(f"--event {event.text}: {event}" for event in run.event if event.problem)
    if missed:
        return EXIT_NOT_DONE, missed
    return (EXIT_FAIL if verdict == "fail" else EXIT_PASS), None


def boot_series(run, console):
    """Boot the guest, and with --boots N boot it N times from one stick. Return (accelerator, exit status, problem or None).

    A boot that gives no report is one of the N: the next boot reports it. If the last boot gives no report, RUN gets the report of
    the boot before, which has the results up to then. The last boot gives the status, but a failure in an earlier boot counts.
    """
    complete, failed, events = None, 0, run.event
    for boot in range(1, run.boots + 1):
        run.event = copy.deepcopy(events)  # an event happens in each boot
        if run.boots > 1:
            console.print_sentence(f"boot {boot} of {run.boots}")
        guest, accelerator = boot_guest(run, console)
        status, problem = judge_run(run, guest)
        failed += status == EXIT_FAIL
        if guest.transcript.is_report_complete:
            complete = guest.transcript
        elif boot < run.boots:
            console.print_sentence(f"boot {boot} of {run.boots} gave no report: {problem}")
        if run.boots > 1:
            run.image = os.path.join(run.out, command.STICK)
    if run.boots > 1 and not guest.transcript.is_report_complete:
        problem = f"the last of {run.boots} boots gave no report: {problem}"
        run.transcript = complete or run.transcript
    if failed and status == EXIT_PASS:
        console.print_sentence(f"a clock failed in {failed} of {run.boots} boots")
        status = EXIT_FAIL
    series = guest.transcript.report.get("boots") if guest.transcript.is_report_complete else None
    if run.boots == 1 and series and series["started"] < series["planned"]:
        console.print_sentence(f"this was boot {series['started']} of {series['planned']}: --boots {series['planned']} does all of them")
    return accelerator, status, problem
