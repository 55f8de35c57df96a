"""Runs one QEMU process, with its process group, serial line and QMP socket (QEMU's machine protocol). When qemu/run ends, the
whole process group ends.
"""
import contextlib
import ctypes
import fcntl
import glob
import json
import os
import signal
import socket
import subprocess
import time

from machine.interruption import SIGNALS

PR_SET_PDEATHSIG = 1          # number of the operation: prctl(2)
F_SETPIPE_SZ = 1031           # number of the command, from <linux/fcntl.h>
PIPE_SIZE = 1 << 20           # size of a pipe in bytes; large, so that a slow terminal does not stop the guest
# Seconds after SIGKILL in which QEMU's output is still read. There is a limit because children of QEMU may keep the pipe open. If QEMU
# has ended by itself, the bytes that the pipe holds are read without this limit, because a busy host reads them slowly.
END_S = 1.0
WAIT_S = 5.0                  # maximum number of seconds between these reads and the end of the killed process
POLL_S = 0.001
MESSAGES_MAX = 1 << 20        # limit in bytes of a message; QMP's answers are far smaller


class Monitor:
    """The socket for QMP, QEMU's machine protocol. Its functions do not block."""

    def __init__(self):
        self.socket, self.qemu_end = socket.socketpair()
        self.socket.setblocking(False)
        self._rest = b""
        self.send_command("qmp_capabilities")

    def send_command(self, command, label=None, **arguments):
        message = {"execute": command, "arguments": arguments, "id": label}
        try:
            self.socket.send(json.dumps(message).encode() + b"\n")
        except OSError:
            pass  # QEMU has ended or hangs; Guest.run_until_end() detects this in another way

    def read_messages(self):
        """Return the messages that arrived, or None if QEMU closed the socket."""
        try:
            data = self.socket.recv(65536)
        except BlockingIOError:
            return []
        except OSError:
            return None
        if not data:
            return None
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > MESSAGES_MAX:
            self._rest = b"too long: "  # no JSON, so the whole message is ignored
        messages = []
        for line in lines:
            with contextlib.suppress(ValueError, RecursionError):
                messages.append(json.loads(line))
        return [message for message in messages if isinstance(message, dict)]

    def close(self):
        self.socket.close()
        self.qemu_end.close()


def start_watcher_of_runner(lifeline):
    """Start a watcher process in QEMU's process group. QEMU's process calls this between fork and exec. LIFELINE is the read end
    of a pipe, and the runner has the write end. When the runner ends in any way, the watcher reads the end of the pipe, and kills
    the whole group with all wrappers and their children.
    """
    # The kernel kills this process when the runner ends, even if the watcher was killed before.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.fork():
        os.wait()
        return
    try:
        if os.fork() == 0:  # forks twice, so that the watcher is an orphan, and QEMU does not get a child that it does not know
            for number in SIGNALS:
                signal.signal(number, signal.SIG_IGN)
            os.dup2(lifeline, 0)
            for fd in map(int, os.listdir("/proc/self/fd")):
                if fd:
                    # The list includes the descriptor of os.listdir() itself, which is closed by now, so os.close() fails for it.
                    with contextlib.suppress(OSError):
                        os.close(fd)
            os.read(0, 1)
            os.killpg(0, signal.SIGKILL)
    finally:
        os._exit(0)


class Process:
    """A QEMU process. `output` is its standard output, `errors` its standard error. Both are read without blocking."""

    def __init__(self):
        self.monitor = Monitor()
        self.output = self.errors = self.command = None
        self._process = self._lifeline = None
        self._waited_ns = 0

    def start_process(self, command_of, keep, words):
        """Start the command line that COMMAND_OF(fd) returns. FD is QEMU's QMP socket. The process also inherits the descriptors
        in KEEP; COMMAND_OF may add some. Before the start, the command line is written to the log WORDS.
        """
        fd = self.monitor.qemu_end.fileno()
        self.command = command_of(fd)
        words.write_command_line(self.command)
        watched, self._lifeline = os.pipe()
        try:
            self._process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                bufsize=0, pass_fds=[fd, *keep], start_new_session=True, preexec_fn=lambda: start_watcher_of_runner(watched))
        finally:
            os.close(watched)
        self.monitor.qemu_end.close()
        self.output, self.errors = self._process.stdout, self._process.stderr
        for pipe in self.output, self.errors:
            os.set_blocking(pipe.fileno(), False)
            with contextlib.suppress(OSError):  # a smaller pipe also works
                fcntl.fcntl(pipe.fileno(), F_SETPIPE_SZ, PIPE_SIZE)

    def get_exit_status(self):
        return self._process.poll()

    def get_waiting_s(self):
        """Return for how long QEMU's threads have waited for a processor of the host, in seconds: the longest time of one thread.
        It is the second number in schedstat (Linux, Documentation/scheduler/sched-stats.rst), or 0 if Linux does not count it.
        It never becomes less, although the threads of a QEMU that is ending are no longer in /proc.
        """
        for path in glob.glob(f"/proc/{self._process.pid}/task/*/schedstat"):
            with contextlib.suppress(OSError, ValueError, IndexError), open(path, encoding="ascii") as file:
                self._waited_ns = max(self._waited_ns, int(file.read().split()[1]))
        return self._waited_ns / 1e9

    def kill_process(self, read_output, read_errors):
        """Kill the process group. READ_OUTPUT() and READ_ERRORS() read the remaining output. Both return None if no output has
        arrived yet, and b"" at the end. Return the exit status, or None if the process hangs in the kernel and does not end.
        """
        status = None
        if self._process:
            left = 0 if self._process.poll() is None else PIPE_SIZE
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            end = time.monotonic() + END_S
            while (data := read_output()) != b"" and (data and left > 0 or time.monotonic() < end):
                if data and left > 0:
                    left -= len(data)
                    end = time.monotonic() + END_S
                elif not data:
                    time.sleep(POLL_S)
            while read_errors() and time.monotonic() < end:
                pass
            self.output.close()
            self.errors.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                status = self._process.wait(WAIT_S)
            self._process = None
        if self._lifeline is not None:
            os.close(self._lifeline)
            self._lifeline = None
        self.monitor.close()
        return status
