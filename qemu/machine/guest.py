"""One QEMU process from start to end: bounded, watched, and never left behind."""
import contextlib
import fcntl
import json
import os
import selectors
import shlex
import signal
import socket
import subprocess
import time

F_SETPIPE_SZ = 1031           # <linux/fcntl.h>
PIPE_SIZE = 1 << 20           # a busy terminal does not make the guest wait
SERIAL_SIZE_MAX = 256 << 20   # no report comes near it; a guest that talks without end does
TICK_S = 0.1
ASK_S = 2.0                   # between questions to QEMU once the application measures
END_S = 5.0                   # from SIGKILL, or from the last byte after QEMU's end to that of its pipe
SETTLE_S = 5.0                # of quiet after the report: by then the screen is drawn, or the shell shown
# A guest in these states never runs again, while QEMU stays.
DEAD_STATES = ("internal-error", "guest-panicked", "io-error")
INTERRUPTIONS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


class Monitor:
    """QEMU's end of a machine protocol socket; speaks only when spoken to, and never blocks."""

    def __init__(self):
        self.socket, self.far = socket.socketpair()
        self.socket.setblocking(False)
        self._rest = b""
        self.send("qmp_capabilities")

    def send(self, command, label=None, **arguments):
        message = {"execute": command, "arguments": arguments, "id": label}
        try:
            self.socket.send(json.dumps(message).encode() + b"\n")
        except OSError:
            pass  # QEMU is gone, or does not listen: the loop sees that by other means

    def read(self):
        """The messages that came in; None once QEMU has hung up."""
        try:
            data = self.socket.recv(65536)
        except BlockingIOError:
            return []
        except OSError:
            return None
        if not data:
            return None
        *lines, self._rest = (self._rest + data).split(b"\n")
        messages = []
        for line in lines:
            try:
                messages.append(json.loads(line))
            except ValueError:
                pass
        return messages

    def close(self):
        self.socket.close()
        self.far.close()


def leave_watcher(lifeline):
    """Between fork and exec, in the process group that will be QEMU's: leaves a process there that kills the whole
    group, wrappers and their children too, when the far end of LIFELINE closes: the runner's end, however it came.
    """
    if os.fork():
        os.wait()
        return
    try:
        if os.fork() == 0:  # nobody's child: QEMU need not know of it
            for number in INTERRUPTIONS:
                signal.signal(number, signal.SIG_IGN)
            os.dup2(lifeline, 0)
            for fd in map(int, os.listdir("/proc/self/fd")):
                if fd:
                    with contextlib.suppress(OSError):  # the listing's own
                        os.close(fd)
            os.read(0, 1)
            os.killpg(0, signal.SIGKILL)
    finally:
        os._exit(0)


class Guest:
    """Why it ended is in `ending`:

    exit        QEMU ended by itself, with `status` (negative: by a signal)
    timeout     the deadline came
    stuck       QEMU says that the guest cannot go on; `state` holds its word
    mute        not one byte on the serial line within `mute_s`
    flood       the serial line would not end
    complete    the report is out, and the machine was told to stay on: nothing more will come
    """

    def __init__(self, transcript, serial_log, qemu_log):
        self.transcript, self.serial_log, self.qemu_log = transcript, serial_log, qemu_log
        self.ending, self.status, self.state = None, None, ""
        self.picture_error = None  # why there is no picture of the screen, where one was wanted
        self._process = self._monitor = self._lifeline = None
        self._heard_s = time.monotonic()
        self._picture_answer = None

    def run(self, command_of, deadline, keep=(), may_stick=False, mute_s=None, picture=None, settles=False):
        """Runs COMMAND_OF(fd), a command line whose machine protocol is on FD, to its end or DEADLINE
        (of time.monotonic()). KEEP: descriptors that QEMU gets as well; COMMAND_OF may add to them. MAY_STICK:
        under this accelerator a guest may get stuck, so QEMU is asked about it; asking disturbs the guest.
        PICTURE names the PNG file that the last screen goes to."""
        self._monitor = Monitor()
        monitor_fd = self._monitor.far.fileno()
        command = command_of(monitor_fd)
        self.qemu_log.write(os.fsencode(f"$ {shlex.join(command)}\n"))
        self.qemu_log.flush()
        watched, self._lifeline = os.pipe()
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.qemu_log,
                pass_fds=[monitor_fd, *keep], start_new_session=True,
                preexec_fn=lambda: leave_watcher(watched))
            self._monitor.far.close()
            self._watch(deadline, may_stick, mute_s, picture or settles)
            if picture and self.ending in ("complete", "timeout"):
                self._take_picture(picture)
        finally:
            os.close(watched)
            self._end()

    def _watch(self, deadline, may_stick, mute_s, settles):
        line = self._process.stdout
        os.set_blocking(line.fileno(), False)
        try:
            fcntl.fcntl(line.fileno(), F_SETPIPE_SZ, PIPE_SIZE)
        except OSError:
            pass  # the usual 64 KiB do as well
        begin = asked = time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(line, selectors.EVENT_READ, self._hear)
            selector.register(self._monitor.socket, selectors.EVENT_READ, self._listen)
            while self.ending is None:
                for key, _ in selector.select(TICK_S):
                    if not key.data():
                        selector.unregister(key.fileobj)
                now = time.monotonic()
                pause_s = ASK_S if self.transcript.started else TICK_S
                if may_stick and now - asked >= pause_s:
                    asked = now
                    self._monitor.send("query-status")
                self.status = self._process.poll()
                if self.ending is not None:
                    break
                if self.status is not None:
                    self.ending = "exit"
                elif now >= deadline:
                    self.ending = "timeout"
                elif mute_s and not self.transcript.size and now - begin >= mute_s:
                    self.ending = "mute"
                elif settles and self.transcript.over and now - self._heard_s >= SETTLE_S:
                    self.ending = "complete"

    def _hear(self):
        """Reads what is there; False at the end of the line. A signal waits until it is in the transcript: nothing is lost."""
        signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTIONS)
        try:
            return self._take(self._process.stdout.read(65536))
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTIONS)

    def _take(self, data):
        if data is None:
            return True
        self._heard_s = time.monotonic()
        self.serial_log.write(data)
        self.serial_log.flush()
        self.transcript.feed(data)
        if self.transcript.size > SERIAL_SIZE_MAX:
            self.ending = "flood"
        return bool(data)

    def _listen(self):
        messages = self._monitor.read()
        for message in messages or []:
            answer = message.get("return")
            state = answer.get("status") if isinstance(answer, dict) else None
            if state in DEAD_STATES and self.ending is None:
                self.ending, self.state = "stuck", state
            if message.get("id") == "picture":
                self._picture_answer = message
        return messages is not None

    def _take_picture(self, path):
        self._monitor.send("screendump", "picture", filename=os.path.abspath(path), format="png")
        end = time.monotonic() + END_S
        while self._picture_answer is None and time.monotonic() < end:
            if not self._listen():
                break
            time.sleep(TICK_S)
        answer = self._picture_answer or {"error": {"desc": "QEMU gave no answer"}}
        if "error" in answer:
            self.picture_error = answer["error"].get("desc", "QEMU gave no reason")

    def _end(self):
        """Kills whatever is left of QEMU and reads what it had still said."""
        if self._process:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self._heard_s = time.monotonic()
            while self._hear() and time.monotonic() - self._heard_s < END_S and self.transcript.size <= SERIAL_SIZE_MAX:
                time.sleep(TICK_S / 100)
            self._process.stdout.close()
            try:
                status = self._process.wait(END_S)
                self.status = status if self.ending == "exit" else None
            except subprocess.TimeoutExpired:
                pass  # not even SIGKILL ends it: it hangs in the kernel, and nothing more can be done
        os.close(self._lifeline)
        self._monitor.close()
