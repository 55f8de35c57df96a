"""Runs one guest (the virtual machine) until it ends, within limits for time and output. After a migration another QEMU process
runs the same guest.
"""
import os
import selectors
import time

from machine import command, interruption
from machine.events import Events, get_failure_reason
from machine.process import PIPE_SIZE, WAIT_S, Process
from machine.hang_check import HangCheck
from results import files

SERIAL_SIZE_MAX = 256 << 20   # maximum number of bytes; a report is far smaller, so only a guest that never stops printing reaches this limit
READ_SIZE = 65536             # bytes of one read; the time-out is checked after each read
TICK_S = 0.1
BATCH_S = 0.002               # pause between two reads. QEMU writes each byte of the serial line alone, so this gathers many of them
KEY_S = 2.0                   # time limit for QEMU to accept the key that ends the measurements early, while it has a processor
ASK_S = 2.0                   # seconds between two queries of the guest's state while the application measures
# Seconds that QEMU has for a picture of the screen after the time-out. It is short, because the run should end at its time-out.
PICTURE_S = 1.0
# A guest that has sent its report, or crashed, counts as finished after this number of seconds without output.
SETTLE_S = 5.0
# In these states the guest never runs again, although QEMU continues.
DEAD_STATES = ("internal-error", "guest-panicked", "io-error")


class Guest:
    """One guest. `ending` is the reason why it ended:

    exit        QEMU ended by itself, with `status` (negative: by a signal)
    timeout     the deadline was reached
    stuck       QEMU reports that the guest cannot continue; `state` has QEMU's run state, such as "internal-error"
    slow        under KVM, the application found that each instruction takes long; `state` has the details
    still       no byte came on the serial line, and the cores hung; `state` has the details
    flood       the output on the serial line did not end
    unbootable  the firmware reports that there is nothing to boot, and waits for a key
    crashed     the firmware took an exception in its own code, printed its registers, and stopped
    lost        an event failed, and the guest cannot continue; `state` has the event and the reason
    complete    the report is complete, and the machine stays on as requested
    """

    def __init__(self, transcript, serial_log, qemu_messages, accelerator):
        self.accelerator = accelerator
        self.transcript, self.serial_log, self.qemu_messages = transcript, serial_log, qemu_messages
        self.ending, self.status, self.state = None, None, ""
        self.secure_boot = False   # true if the firmware's variables show that Secure Boot is on; set by the caller
        self.left_checkpoint = False  # true if the report is a checkpoint on the stick; set by the caller
        self.screenshot_error = None  # reason why there is no picture of the screen although it was requested, or None
        self._qemu = self._keep = self._events = None
        self._last_output_s = self._deadline = time.monotonic()
        self._settling = 0.0, 0.0  # time of the last output, and for how long QEMU had waited for a processor by then
        self._selector = selectors.DefaultSelector()
        self._picture_answer = self._hang_check = self._say = None
        self._warned_of_deadline = False
        # Time at which the key was sent that ends the measurements early, or None if it was not sent. If the application reads no
        # keys, it is 0.0.
        self._key_s = None

    def run_until_end(self, command_of, deadline, keep=(), poll_state=False, check_hang=False, picture=None, ends_after_report=False,
            events=(), say=None, attended=False, keyboard=True):
        """Run the command line that COMMAND_OF(fd) returns, until it ends or until DEADLINE (time.monotonic()). FD is QEMU's
        QMP socket.

            KEEP               A list of further descriptors that QEMU inherits. COMMAND_OF may add to it.
            POLL_STATE         QEMU is polled for its state, because the guest may hang under this accelerator.
            CHECK_HANG         The run ends early if the guest prints nothing and makes no progress, or if its instructions are slow.
            PICTURE            This PNG file gets the last screen.
            ENDS_AFTER_REPORT  The run ends after the report, although the guest does not switch itself off.
            EVENTS             These events are carried out. SAY(sentence) is called after each.
            ATTENDED           A user may press the key that the firmware waits for.
            KEYBOARD           The application reads keys, so that a key can end its measurements early.
        """
        self._keep, self._deadline, self._say = keep, deadline, say
        self._key_s = None if keyboard else 0.0
        self._events = Events(events, self, say)
        try:
            self._start_process(command_of)
            self._run_loop(poll_state, check_hang, picture or ends_after_report, attended)
            if picture and self.ending in ("complete", "timeout", "unbootable"):
                self._take_picture(picture)
        finally:
            self._end_process()

    def _start_process(self, command_of):
        self._qemu = Process()
        self._qemu.start_process(command_of, self._keep, self.qemu_messages)
        self._selector.register(self._qemu.output, selectors.EVENT_READ, lambda: self._read_serial_bytes() != b"")
        self._selector.register(self._qemu.errors, selectors.EVENT_READ, lambda: self._read_qemu_messages() != b"")
        self._selector.register(self._qemu.monitor.socket, selectors.EVENT_READ, self._read_qmp_answers)

    def _run_loop(self, poll_state, check_hang, ends_after_report, attended):
        asked = time.monotonic()
        self._hang_check = HangCheck() if check_hang else None
        while self.ending is None:
            size = self.transcript.size
            for key, _ in self._selector.select(self._events.get_time_until_next_event(TICK_S)):
                if not key.data():
                    self._unregister_source(key.fileobj)
            now = time.monotonic()
            self._handle_signals(now)
            self._warn_if_deadline_is_too_early(now)
            pause_s = ASK_S if self.transcript.has_started else TICK_S
            if poll_state and now - asked >= pause_s:
                asked = now
                self.send_command("query-status")
            if self.transcript.size:
                self._hang_check = None
            elif self._hang_check and self._hang_check.is_due(now):
                question, arguments = HangCheck.QUESTION
                self.send_command(question, "stillness", **arguments)
            self.status = self._qemu.get_exit_status()
            if self.ending is not None:
                break
            if self.status is not None:
                self.ending = "exit"
                self._read_qmp_answers()  # processes the last answers of QEMU
            elif now >= self._deadline:
                self.ending = "timeout"
            elif self._hang_check and self._hang_check.has_hung(now):
                self.ending, self.state = "still", self._hang_check.explain_hang()
            elif check_hang and self.transcript.instruction_ticks:
                self.ending = "slow"
                self.state = f"it interprets instructions: each takes {self.transcript.instruction_ticks} ticks of the TSC"
            elif self.transcript.unbootable and not attended:
                self.ending = "unbootable"
            elif self.transcript.crash and self._has_settled(now):
                self.ending = "crashed"
            elif ends_after_report and self.transcript.is_output_over and self._has_settled(now):
                self.ending = "complete"
            else:
                self._events.run_due_event_step()
            if self.transcript.size - size < READ_SIZE:
                time.sleep(BATCH_S)

    def _has_settled(self, now):
        """Return True if no output came for SETTLE_S seconds. While QEMU waits for a processor of a busy host, the guest cannot
        print, so this time does not count.
        """
        if self._settling[0] != self._last_output_s:
            self._settling = self._last_output_s, self._qemu.get_waiting_s()
        waited_s = self._qemu.get_waiting_s() - self._settling[1]
        return now - self._last_output_s - waited_s >= SETTLE_S

    def _warn_if_deadline_is_too_early(self, now):
        """Print one sentence if the run takes longer than until its time-out, by its own estimate. The user then need not wait
        for the time-out, at which the results are lost.
        """
        left_s, self.transcript.left_s = self.transcript.left_s, None
        if left_s is None or now + left_s <= self._deadline or self._warned_of_deadline or not self._say:
            return
        self._warned_of_deadline = True
        help_text = "; Ctrl-C ends the measurements early, and gives a report" if self._key_s is None else ""
        self._say(f"the run still takes about {left_s} s, but --timeout ends it in {max(0, self._deadline - now):.0f} s, before its "
                  f"report: give it a longer --timeout{help_text}")

    def _handle_signals(self, now):
        """At the first signal end the measurements early, or end the run if no measurements are running. At any later signal end
        the run.
        """
        if self._key_s is None and interruption.is_early_report_requested() and self.transcript.is_measuring:
            self._key_s = now - self._qemu.get_waiting_s()
            self.send_command("send-key", "key", keys=[{"type": "qcode", "data": "q"}])
        elif interruption.is_requested() and (self._key_s is None or interruption.was_handled() or
                                              now - self._qemu.get_waiting_s() - self._key_s > KEY_S):
            interruption.raise_if_requested()

    def _handle_send_key_reply(self, message):
        if "error" in message:
            self._key_s = 0.0
        elif interruption.is_requested():
            name = interruption.mark_handled()
            if self._say:
                self._say(f"{name}: the measurements end early, and the report follows; a second signal ends the run at once")

    # Functions for machine/events.py.

    def send_command(self, name, label=None, **arguments):
        self._qemu.monitor.send_command(name, label, **arguments)

    def read_all_output(self):
        """Read the remaining output of a stopped machine from the pipe. At most the size of the pipe is read, so that this
        function ends even if QEMU prints more.
        """
        most = self.transcript.size + PIPE_SIZE
        while self.transcript.size < most and self._read_serial_bytes():
            pass

    def replace_qemu_process(self):
        """Replace the QEMU process by another QEMU process, which receives the guest in a migration."""
        left = self._qemu
        for source in left.output, left.errors, left.monitor.socket:
            self._unregister_source(source)
        left.kill_process(self._read_serial_bytes, self._read_qemu_messages)
        self._start_process(lambda fd: command.build_migration_target_command(left.command, fd))

    def _unregister_source(self, source):
        if source in self._selector.get_map():
            self._selector.unregister(source)

    def mark_as_lost(self, why):
        self.ending, self.state = "lost", why

    def _read_serial_bytes(self):
        """Return the next bytes of the serial line, None if no bytes have arrived yet, or b"" if QEMU has closed the line."""
        data = self._qemu.output.read(READ_SIZE)
        if data:
            self._last_output_s = time.monotonic()
            files.write_all_bytes(self.serial_log, data)
            self.transcript.parse_bytes(data)
            if self.transcript.size > SERIAL_SIZE_MAX:
                self.ending = "flood"
                return b""
        return data

    def _read_qemu_messages(self):
        """Return the next bytes of QEMU's own messages, None if no bytes have arrived yet, or b"" at the end."""
        data = self._qemu.errors.read(READ_SIZE)
        if data:
            self.qemu_messages.add_output(data)
        return data

    def _read_qmp_answers(self):
        messages = self._qemu.monitor.read_messages()
        for message in messages or []:
            answer = message.get("return")
            state = answer.get("status") if isinstance(answer, dict) else None
            if state in DEAD_STATES and self.ending is None:
                self.ending, self.state = "stuck", state
            if message.get("id") == "picture":
                self._picture_answer = message
            if message.get("id") == "key":
                self._handle_send_key_reply(message)
            if message.get("id") == "stillness" and self._hang_check:
                self._hang_check.receive_answer(message)
            self._events.receive_answer(message)
        return messages is not None

    def _take_picture(self, path):
        self.send_command("screendump", "picture", filename=os.path.abspath(path), format="png")
        end = time.monotonic() + (PICTURE_S if self.ending == "timeout" else WAIT_S)
        while self._picture_answer is None and time.monotonic() < end:
            if not self._read_qmp_answers():
                break
            time.sleep(TICK_S)
        answer = self._picture_answer or {"error": {"desc": "QEMU gave no answer"}}
        if "error" in answer:
            self.screenshot_error = get_failure_reason(answer)

    def _end_process(self):
        """End QEMU and the events."""
        if self._qemu:
            status = self._qemu.kill_process(self._read_serial_bytes, self._read_qemu_messages)
            self.status = status if self.ending == "exit" else None
        self._selector.close()
        self._events.fail_unfinished_events()
