"""Builds QEMU's command line: firmware, devices, and the user's own arguments. Some user arguments replace arguments made here."""
import contextlib
import os
import socket
import subprocess

from machine import interruption
from results import files

VNC_PORT, VNC_DISPLAYS = 5900, 100  # RFC 6143: display 0 is on port 5900, and each further display on the next port
VARIABLES_MAX = 64 << 20  # maximum size of a file with firmware variables; a hundred times the usual size
PIECE = 1 << 20           # number of bytes that are copied at once when a stick's image is copied
EXIT_PORT = 0x501
FIND = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "find")
FIND_BOUND_S = 30
STICK = "stick.img"  # name of the copy of the stick's image in a run's folder
# QEMU's devices for the stick, for each value of --boot. The value "disk" is for U-Boot, whose drivers for a PC include IDE but
# not qemu-xhci.
STICKS = {"usb": ["-device", "qemu-xhci", "-device", "usb-storage,drive=stick,bootindex=0,removable=on"],
          "disk": ["-device", "ide-hd,bus=ide.0,drive=stick,bootindex=0"]}
# Parts of the file names of firmware that starts only with system management mode, which only the machine q35 has.
SMM_WORDS = (".secboot", ".ms.", ".snakeoil", "smm", "secure-code")


class UserError(Exception):
    """An error that the user can correct. Each argument is a sentence."""

    def __str__(self):
        return "; ".join(self.args)


def run_checks(*checks):
    """Call all CHECKS, and raise one UserError with the sentences of all of them."""
    wrong = []
    for check in checks:
        try:
            check()
        except UserError as error:
            wrong += error.args
    if wrong:
        raise UserError(*dict.fromkeys(wrong))


def escape_commas(path):
    """Return PATH as a value in the syntax of QEMU's options, in which a comma is written twice."""
    return str(path).replace(",", ",,")


def read_bytes(option, path, at, size):
    """Return SIZE bytes from offset AT of the file PATH, which OPTION names."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise UserError(f"{option}: {path} is no file")
    try:
        with open(path, "rb") as file:
            file.seek(at)
            return file.read(size)
    except OSError as error:
        raise UserError(f"{option}: {path} cannot be read: {error.strerror}") from error


def find_firmware(requested):
    if requested:
        if not read_bytes("--firmware", requested, 0, 1):
            raise UserError(f"--firmware: {requested} is empty")
        return requested
    found = subprocess.run([FIND, "firmware"], capture_output=True, text=True, timeout=FIND_BOUND_S, check=False)
    if found.returncode:
        raise UserError(found.stderr.strip().removeprefix("find: "))
    return found.stdout.strip()


def find_variables_file(code):
    """Return the file of variables for the firmware CODE, or None if CODE is a combined image.

    If code and variables are split, the variables are in a file next to the code. A combined image has both, and its size is a
    power of two.
    """
    size = os.path.getsize(code)
    if size and size & (size - 1) == 0:
        return None
    folder, name = os.path.split(code)
    plain = name.split(".")[0] + ".fd"  # the code OVMF_CODE_4M.secboot.fd uses the variables in OVMF_VARS_4M.fd
    for candidate in (name, plain):
        for word, other in (("CODE", "VARS"), ("code", "vars"), ("x86_64-code", "i386-vars"),
                            ("x86_64-secure-code", "i386-vars")):
            path = os.path.join(folder, candidate.replace(word, other))
            if word in candidate and os.path.isfile(path):
                return path
    raise UserError(f"--firmware: {code} has no VARS file beside it and is not a combined image")


def needs_smm(code):
    return any(word in os.path.basename(code).lower() for word in SMM_WORDS)


class PrivateFiles:
    """Files in memory that have no name in any folder. Only this process and its children can open them, by their descriptors.
    The files disappear when no process has them open any more.
    """

    def __init__(self):
        self.fds = []
        self._by_name = {}

    def add_private_file(self, name, data):
        """Return a path of a file with DATA. QEMU can open it, and change it while it runs."""
        fd = os.memfd_create(name)
        self.fds.append(fd)
        self._by_name[name] = fd
        with open(fd, "wb", closefd=False) as file:
            file.write(data)
        os.lseek(fd, 0, os.SEEK_SET)
        return f"/proc/self/fd/{fd}"

    def read_file(self, name, size_max):
        """Return the present contents of the file NAME, or nothing if it does not exist."""
        return os.pread(self._by_name[name], size_max, 0) if name in self._by_name else b""

    def close(self):
        while self.fds:
            os.close(self.fds.pop())


def make_firmware_arguments(code, private):
    variables = find_variables_file(code)
    if variables is None:
        return ["-bios", code]
    try:
        copy = private.add_private_file("variables", files.read_file(variables, VARIABLES_MAX))
    except ValueError as error:
        raise UserError(f"--firmware: {variables} {error}") from error
    arguments = []
    if needs_smm(code):
        arguments = ["-machine", "smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on"]
    return arguments + [
        "-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={escape_commas(code)}",
        "-drive", f"if=pflash,unit=1,format=raw,file={copy}"]


def make_boot_arguments(boot, image, out):
    if boot in ("efi", "bare"):
        return ["-kernel", image]
    if boot in STICKS:
        # QEMU gets a copy of the stick, because the guest writes its report to it. No copy is made if the file STICK exists: the
        # image itself is this file, or an earlier boot with KVM made the copy. The host need not write the copy to its disk.
        stick = os.path.join(out, STICK)
        if not os.path.exists(stick):
            copy_image_to_stick(image, stick)
        return ["-drive", f"if=none,id=stick,format=raw,cache=unsafe,file={escape_commas(stick)}", *STICKS[boot]]
    return ["-drive", f"if=none,id=cd,media=cdrom,format=raw,readonly=on,file={escape_commas(image)}",
            "-device", "ide-cd,drive=cd,bootindex=0"]


def copy_image_to_stick(image, stick):
    with open(image, "rb") as file, files.create_file(stick) as copy:
        while piece := file.read(PIECE):
            interruption.raise_if_requested()
            files.write_all_bytes(copy, piece)


def uses_accelerator(arguments):
    """Return True if the user's own arguments choose the accelerator."""
    return "-accel" in arguments or "-enable-kvm" in arguments or any(
        before == "-machine" and "accel=" in value for before, value in zip(arguments, arguments[1:]))


def make_screen_arguments(run):
    """Return the arguments for the guest's screen and keyboard."""
    if run.display == "window":
        return ["-display", "gtk"]
    return ["-display", "none", *(["-vnc", f"localhost:{run.vnc}"] if run.display == "vnc" else [])]


def find_free_vnc_display():
    """Return the number of a free VNC display on this machine. Its port is 5900 plus this number."""
    for number in range(VNC_DISPLAYS):
        with contextlib.closing(socket.socket()) as attempt:
            # QEMU sets this option too, so a port that is free here is also free for QEMU.
            attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                attempt.bind(("localhost", VNC_PORT + number))
                return number
            except OSError:
                pass
    raise UserError(f"--display vnc: no port from {VNC_PORT} to {VNC_PORT + VNC_DISPLAYS - 1} is free")


def make_monitor_argument(fd):
    return f"socket,id=monitor,fd={fd}"


def build_migration_target_command(command, monitor_fd):
    """Return the command line of a QEMU that receives a migration. COMMAND is the command line of the sending QEMU, which
    build_command() made.
    """
    at = command.index("-qmp")
    return [*command[:at - 1], make_monitor_argument(monitor_fd), *command[at:], "-incoming", "defer"]


def quote_option(word):
    """Return one of baretick's options with quotes around a value with spaces. The user's shell has removed the quotes from
    label="rack 7".
    """
    key, is_given, value = word.partition("=")
    return f'{key}="{value}"' if is_given and " " in value and '"' not in value else word


def join_options(words):
    """Return WORDS as the contents of the fw_cfg item for options."""
    return os.fsencode("\n".join(map(quote_option, words)) + "\n")


def build_command(run, accelerator, private, monitor_fd):
    """Return QEMU's whole command line. RUN has the options of qemu/run. PRIVATE holds the files that only QEMU may see."""
    own = run.qemu_arg
    saves_machine_state = any(event.saves_machine_state for event in run.event)
    command = [run.qemu, "-nodefaults", "-no-user-config", "-no-reboot", "-machine", run.machine,
               "-m", run.memory, "-smp", str(run.cpus), "-nic", "none"]
    if not uses_accelerator(own):
        command += ["-accel", accelerator]
    if "-cpu" not in own:
        # With migratable=off the guest sees the host's invariant TSC, but QEMU refuses migrations and snapshots.
        host = "host" if saves_machine_state else "host,migratable=off"
        command += ["-cpu", host if accelerator == "kvm" else "max"]
    if "-display" not in own and "-nographic" not in own:
        command += make_screen_arguments(run)
    if "-vga" not in own and run.code:
        command += ["-vga", "std"]
    if "-serial" not in own:
        command += ["-chardev", "stdio,id=line,signal=off", "-serial", "chardev:line"]
    command += ["-chardev", make_monitor_argument(monitor_fd), "-qmp", "chardev:monitor",
                "-device", f"isa-debug-exit,iobase={EXIT_PORT:#x},iosize=0x2"]
    if run.code:
        command += make_firmware_arguments(run.code, private)
    command += make_boot_arguments(run.boot, run.image, run.out)
    words = private.add_private_file("options", join_options(run.words))
    command += ["-fw_cfg", f"name=opt/baretick/options,file={words}"]
    return command + own
