"""Carries out the events that the option --event requests: a pause, a snapshot with a later return to it, a migration, or a reset.

Each kind of event is a generator of steps. A step is a command of QMP, QEMU's machine protocol, whose answer the generator
receives, or a number of seconds to wait. No step blocks, so the loop that runs the guest can check its time-out.
"""
import contextlib
import os
import time

# The same list as run_phases in src/run/run.c. If a phase occurs more than once, an event refers to the phase's first start.
PHASES = ("prepare", "rates", "latency", "firmware", "start-cores", "facts", "skew", "cores", "contended", "warps", "interference",
          "series", "timers", "rates-again", "sleep", "stop-cores", "checks", "calibrations")
ANSWER_S = 30.0   # time limit for the answer to a command
WORK_S = 60.0     # time limit for a job that a command starts; a busy host needed only a small part of either limit
POLL_S = 0.02
# Names that QEMU uses for the snapshot's file, its block device, and the snapshot.
FILE, NODE, TAG = "event-file", "event-node", "event"
DISK_SIZE = 1 << 20       # bytes of the disk for the snapshot
BANDWIDTH = 1 << 40       # bandwidth limit, so large that a migration takes as little time as possible


class Failed(Exception):
    """An event failed, and the guest can continue without it."""


class Lost(Failed):
    """An event failed, and the guest cannot continue."""


class Event:
    """An event that the option --event requested with TEXT. WHAT is its kind, such as "snapshot". It takes at least SECONDS, and starts
    AFTER seconds after the start of PHASE. If PHASE is "", the time counts from the start of the application.
    """

    problem = "the run ended before the event's time"  # reason why the event was not carried out, or None
    span = None       # start and end of the event, in seconds after the application's start
    measuring = None  # start of the measurements, where the report's times are 0, in seconds after the application's start

    def __init__(self, text, phase, after, what, seconds):
        self.text, self.phase, self.after, self.what, self.seconds = text, phase, after, what, seconds

    @property
    def saves_machine_state(self):
        """True if the event saves and restores the machine's state. QEMU refuses this, for example, with `-cpu
        host,migratable=off`.
        """
        return self.what in ("snapshot", "migrate")

    def __str__(self):
        if self.problem:
            return f"not carried out: {self.problem}"
        said = "from {:.2f} s to {:.2f} s after the application's start".format(*self.span)
        if self.measuring is not None and self.span[0] >= self.measuring:
            said += ", in the report's time from about {:.1f} s to {:.1f} s".format(*(at - self.measuring for at in self.span))
        return said


# The following functions are generators of steps: see the top of this file.

def run_qmp_command(command, **arguments):
    answer = yield command, {key.replace("_", "-"): value for key, value in arguments.items()}
    if "error" in answer:
        raise Failed(f"{command}: {get_failure_reason(answer)}")
    return answer["return"]


def get_failure_reason(answer):
    """Return the reason for a failed command, which QEMU's answer contains."""
    error = answer["error"]
    return str(error.get("desc", "QEMU gave no reason")) if isinstance(error, dict) else "QEMU gave no reason"


def wait_until(condition, command):
    """Wait until CONDITION, a generator of steps, returns true. Raise Failed if COMMAND takes longer than WORK_S seconds."""
    end = time.monotonic() + WORK_S
    while not (yield from condition()):
        if time.monotonic() >= end:
            raise Failed(f"{command} did not end within {WORK_S:g} s")
        yield POLL_S


def run_background_job(command, **arguments):
    """Run a command that QEMU executes in the background, and wait for its end."""
    def has_ended():
        job, = [job for job in (yield from run_qmp_command("query-jobs")) if job["id"] == command]
        if job["status"] == "concluded" and "error" in job:
            raise Failed(f"{command}: {job['error']}")
        return job["status"] == "concluded"
    yield from run_qmp_command(command, job_id=command, **arguments)
    yield from wait_until(has_ended, command)
    yield from run_qmp_command("job-dismiss", id=command)


@contextlib.contextmanager
def create_memory_file():
    """Yield the path of an empty file in memory, for QEMU and its children. The file has no name in a folder. It disappears
    when the last process closes it.
    """
    fd = os.memfd_create("event")
    try:
        yield f"/proc/{os.getpid()}/fd/{fd}"
    finally:
        os.close(fd)


@contextlib.contextmanager
def mark_guest_lost_on_failure():
    try:
        yield
    except Failed as error:
        raise Lost(str(error)) from error


def pause_machine(event, _guest):
    yield from run_qmp_command("stop")
    yield event.seconds
    with mark_guest_lost_on_failure():
        yield from run_qmp_command("cont")


def save_and_restore_machine(event, guest):
    """Take a snapshot, and later return to it. Then the machine prints its output since the snapshot a second time, so
    the transcript drops the output that came before the return.
    """
    with create_memory_file() as path:
        yield from run_qmp_command("blockdev-add", driver="file", node_name=FILE, filename=path)
    yield from run_background_job("blockdev-create", options={"driver": "qcow2", "file": FILE, "size": DISK_SIZE})
    yield from run_qmp_command("blockdev-add", driver="qcow2", node_name=NODE, file=FILE)
    yield from run_qmp_command("stop")
    guest.read_all_output()
    before = guest.transcript.save_state()
    yield from run_background_job("snapshot-save", tag=TAG, vmstate=NODE, devices=[NODE])
    yield from run_qmp_command("cont")
    yield event.seconds
    yield from run_qmp_command("stop")
    guest.read_all_output()
    with mark_guest_lost_on_failure():
        yield from run_background_job("snapshot-load", tag=TAG, vmstate=NODE, devices=[NODE])
        guest.transcript.restore_state(before)
        yield from run_qmp_command("cont")
    yield from run_qmp_command("blockdev-del", node_name=NODE)
    yield from run_qmp_command("blockdev-del", node_name=FILE)


def migrate_machine(event, guest):
    """Migrate the machine into a file, and from the file into another QEMU. The machine is stopped for the requested time, and
    for the duration of the migration.
    """
    def has_migrated():
        state = yield from run_qmp_command("query-migrate")
        if state.get("status") in ("failed", "cancelled"):
            raise Failed(f"migrate: {state.get('error-desc', state['status'])}")
        return state.get("status") == "completed"

    def is_running():
        yield from has_migrated()
        return (yield from run_qmp_command("query-status"))["status"] == "running"
    with create_memory_file() as path:
        yield from run_qmp_command("migrate-set-parameters", max_bandwidth=BANDWIDTH)
        yield from run_qmp_command("migrate", uri=f"exec:cat > {path}")
        yield from wait_until(has_migrated, "migrate")
        with mark_guest_lost_on_failure():
            guest.read_all_output()
            back_s = time.monotonic() + event.seconds
            guest.replace_qemu_process()
            yield from run_qmp_command("query-status")  # an answer shows that the new QEMU is ready
            yield max(0.0, back_s - time.monotonic())
            yield from run_qmp_command("migrate-incoming", uri=f"exec:cat {path}")
            yield from wait_until(is_running, "migrate-incoming")


def reset_machine(event, guest):
    """Reset the stopped machine, and wait until the application starts again. The transcript drops the output before the reset."""
    def is_reset():
        return (yield from run_qmp_command("query-status"))["status"] == "prelaunch"
    yield from run_qmp_command("stop")
    guest.read_all_output()
    yield event.seconds
    with mark_guest_lost_on_failure():
        # With -no-reboot a reset would end QEMU. SeaBIOS resets the machine a second time ("Attempting a hard reboot").
        yield from run_qmp_command("set-action", reboot="reset")
        yield from run_qmp_command("system_reset")
        yield from wait_until(is_reset, "system_reset")
        guest.transcript.drop_all_output()
        yield from run_qmp_command("cont")
    while not guest.transcript.has_started:  # the time-out of the run limits this wait
        yield POLL_S
    yield from run_qmp_command("set-action", reboot="shutdown")


KINDS = {"stop": pause_machine, "snapshot": save_and_restore_machine, "migrate": migrate_machine, "reset": reset_machine}


class Events:
    """Carries out the requested events one after the other, each at its time. Calls SAY(sentence) after each event."""

    def __init__(self, requested, guest, say):
        self._guest, self._say = guest, say
        self._left = list(requested)
        self._event = self._steps = None
        self._origin = None  # time of the application's start before the current event; after a reset it has not started yet
        self._wanted = None  # the QMP command whose answer the current step waits for, or None if the step only waits for some time
        self._until = None   # end of the current wait, in time.monotonic(): the end of the step, or the time limit for the answer
        self._label = 0

    def get_time_until_next_event(self, longest):
        """Return the number of seconds until run_due_event_step() must be called again. It is at most LONGEST."""
        times = [self._until] if self._event else filter(None, map(self._get_start_time, self._left))
        return max(0.0, min([longest, *(end - time.monotonic() for end in times)]))

    def run_due_event_step(self):
        """Start the next event if no event is running and its time has come. If an event is running and its wait is over, take
        its next step.
        """
        now = time.monotonic()
        if not self._event:
            due = [event for event in self._left if (self._get_start_time(event) or now + 1) <= now]
            if due:
                self._event = due[0]
                self._left.remove(due[0])
                self._steps = KINDS[due[0].what](due[0], self._guest)
                self._origin = self._guest.transcript.phase_starts[""]
                self._event.span = (self._get_time_since_start(), None)
                self._continue_event(None)
        elif now >= self._until:
            if self._wanted:
                self._fail_event(Failed(f"{self._wanted}: QEMU gave no answer within {ANSWER_S:g} s"))
            else:
                self._continue_event(None)

    def receive_answer(self, message):
        if self._wanted and message.get("id") == self._get_command_label():
            self._wanted = None
            self._continue_event(message)

    def fail_unfinished_events(self):
        """Called after the guest has ended. Sets a problem for each event that has not happened, or is not complete."""
        if self._event:
            self._end_event("the run ended during the event")
        starts = self._guest.transcript.phase_starts
        for event in self._left:
            if starts:
                event.problem = "the run ended before" + (
                    "" if event.phase in starts else f" its phase {event.phase} began")

    def _get_command_label(self):
        return f"event {self._label}"

    def _get_start_time(self, event):
        start = self._guest.transcript.phase_starts.get(event.phase)
        return start + event.after if start is not None else None

    def _get_time_since_start(self):
        return time.monotonic() - self._origin

    def _continue_event(self, answer):
        try:
            wanted = self._steps.send(answer)
        except StopIteration:
            self._end_event(None)
        except Failed as error:
            self._fail_event(error)
        except (AttributeError, KeyError, TypeError, ValueError) as error:  # the answer does not follow the QMP protocol
            self._fail_event(Failed(f"QEMU's answer is not understood: {error!r}"))
        else:
            if isinstance(wanted, float):
                self._until = time.monotonic() + wanted
                return
            command, arguments = wanted
            self._label += 1
            self._wanted, self._until = command, time.monotonic() + ANSWER_S
            self._guest.send_command(command, self._get_command_label(), **arguments)

    def _fail_event(self, error):
        event = self._event
        self._end_event(str(error))
        if isinstance(error, Lost):
            self._guest.mark_as_lost(f"--event {event.text}: {error}")
        else:
            self._guest.send_command("cont")  # lets the guest run again, because the event may have stopped it

    def _end_event(self, problem):
        event, self._event = self._event, None
        self._wanted = None
        self._steps.close()
        event.problem, event.span = problem, (event.span[0], self._get_time_since_start())
        starts = self._guest.transcript.phase_starts
        # a reset is before the report, which is of the second start
        event.measuring = starts["prepare"] - starts[""] if "prepare" in starts and event.what != "reset" else None
        if self._say and not problem:
            self._say(f"--event {event.text}: {event}")
