"""Parses the runner's command line, and finds all its errors before QEMU starts."""
import argparse
import difflib
import functools
import os
import re
import shutil

from machine import command
from machine.command import UserError
from machine.events import KINDS, PHASES, Event
from results import baseline, product, sanitize
from results.product import BUILD, ROOT
from runner import option_check

IMAGES = {"efi": "baretick.efi", "usb": "baretick.img", "disk": "baretick.img", "cd": "baretick.iso", "bare": "baretick.elf"}
MAKE = {"efi": "make", "usb": "make image", "disk": "make image", "cd": "make image", "bare": "make"}
DISK = "disk with a boot sector", [(510, b"\x55\xaa")]
LISTS = ("rules", "help")  # values of baretick's options that print a list and measure nothing
FAIL_ON = ("fail", "warn")  # values of --fail-on: the lowest verdict that fails a run
OUTPUTS = ("junit", "summary", "screenshot")
# Name of each kind of file, and the offsets and values of its magic bytes. Sources:
# - Microsoft PE and COFF specification, "MS-DOS Stub"
# - UEFI 2.10, 5.2.1 "Legacy Master Boot Record"
# - ECMA-119, 8.1.2 "Standard Identifier", in the volume descriptor in sector 16
# - Linux, Documentation/arch/x86/boot.rst
MAGIC = {"efi": ("UEFI application", [(0, b"MZ")]), "usb": DISK, "disk": DISK,
         "cd": ("CD with a file system of ISO 9660", [(0x8001, b"CD001")]),
         "bare": ("ELF, and no image with the header of the Linux boot protocol", [(0, b"\x7fELF"), (0x202, b"HdrS")])}

SIZES_MIB = {"K": 1 / 1024, "": 1, "M": 1, "G": 1024, "T": 1024 * 1024}
UNITS_S = {"ms": 0.001, "s": 1, "m": 60, "": 1}
TIMEOUT_S = 300.0
BOOTS_MAX = 1000  # as in src/report/boots.h
SIMILAR = 0.66   # smallest part of the letters that a misspelled word and a name must share: two of three
SHOWN_MAX = 100  # maximum number of characters of an invalid value in a sentence
# A pattern for QEMU's names of PCs (-machine help), with properties.
MACHINE = r"(?:q35|pc|(?:pc|q35)-[\w.+-]+|microvm)(?:,[A-Za-z][\w.-]*=[^,\s]+)*"
# Smallest memory of a guest in MiB. With 32 MiB Debian's firmware prints nothing. With 64 MiB baretick reports that it lacks
# memory.
MEMORY_MIB = 64


def read_options_text():
    with open(os.path.join(ROOT, "qemu", "options.txt"), encoding="ascii") as file:
        return file.read()


class Parser(sanitize.ArgumentParser):
    def format_help(self):
        return f"{super().format_help()}\nbaretick's own options, behind --, each with what it takes:\n\n{read_options_text()}"

    def error(self, message):
        raise UserError(f"{message} (see --help)")


def find_similar_name(word, names):
    """Return the item of NAMES that WORD is similar to, or None."""
    return next(iter(difflib.get_close_matches(word, names, n=1, cutoff=SIMILAR)), None)


def format_suggestion(word, names):
    """Return the question "did you mean ...?" for a misspelled WORD, or "" if no name is similar."""
    name = find_similar_name(word, names)
    return f" (did you mean {name}?)" if name else ""


class Flaw(str):
    """The error message for an invalid value. It replaces the value, so that all arguments are parsed and all errors are reported
    together.
    """


def make_argument_type(valid, names=()):
    """Return a decorator that makes a type for argparse from a function that parses an argument. If the function raises
    ValueError, the result is a Flaw. Its message contains VALID, a description of the valid values. If a part of the argument is
    similar to one of NAMES, the message also contains this name.
    """
    def make_type_from_parser(read):
        def parse_or_return_error(text):
            try:
                return read(text)
            except ValueError:
                parts = [part for part in re.split("[=:+,]", text) if part not in names]
                hints = filter(None, (format_suggestion(part, names) for part in parts))
                return Flaw(f"{text[:SHOWN_MAX]!r}{next(hints, '')} is not {valid}")
        return parse_or_return_error
    return make_type_from_parser


def make_choice_type(*words):
    def check_choice(text):
        return text if text in words else Flaw(f"invalid choice: {text!r}{format_suggestion(text, words)}, "
                                               f"choose from {', '.join(words)}")
    return check_choice


def report_and_replace_invalid_values(run, defaults):
    """Yield a sentence for each invalid value of RUN, and replace the value by the default."""
    for name, value in vars(run).items():
        flaws = [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, Flaw)]
        if flaws:
            setattr(run, name, defaults.get_default(name))
        yield from (f"argument --{name.replace('_', '-')}: {flaw} (see --help)" for flaw in flaws)


@make_argument_type("a number of seconds above 0")
def parse_seconds(text):
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError
    return number


@make_argument_type("a number of 1 or more")
def parse_factor(text):
    number = float(text)
    if not 1 <= number < float("inf"):
        raise ValueError
    return number


@make_argument_type("a percentage from 0 to 100")
def parse_percentage(text):
    number = float(text)
    if not 0 <= number <= 100:
        raise ValueError
    return number


@make_argument_type(f"a size such as 512M or 2G, {MEMORY_MIB}M or more")
def parse_size(text):
    """Parse a size in the format of QEMU's -m. A number without a unit is in MiB."""
    parts = re.fullmatch(r"([0-9.]+)([KMGT]?)", text, re.IGNORECASE)
    if not parts or float(parts[1]) * SIZES_MIB[parts[2].upper()] < MEMORY_MIB:
        raise ValueError
    return text


@make_argument_type("a whole number of 1 or more")
def parse_cores(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


@make_argument_type(f"a whole number from 1 to {BOOTS_MAX}")
def parse_boots(text):
    number = int(text)
    if not 1 <= number <= BOOTS_MAX:
        raise ValueError
    return number


def get_default_cpus():
    """Return the default number of the guest's cores: the number of the host's cores that this process may use, but at least
    2 and at most 4. More cores than the host has would wait for each other.
    """
    return min(max(len(os.sched_getaffinity(0)), 2), 4)


def parse_time_s(text):
    """Parse `3s`, `500ms` or `2m`, as in baretick's options. A number without a unit is in seconds."""
    parts = re.fullmatch(r"([0-9]*\.?[0-9]+)(ms|s|m|)", text)
    if not parts:
        raise ValueError
    return float(parts[1]) * UNITS_S[parts[2]]


@make_argument_type("AFTER=WHAT:TIME, as in 2s=stop:3s, rates=snapshot:3s, rates+500ms=migrate:3s or 2s=reset; WHAT is one of "
      f"{', '.join(KINDS)}; AFTER is a time from the application's start or a phase's name ({', '.join(PHASES)}), "
      "or a time after the phase's start", (*KINDS, *PHASES))
def parse_event(text):
    after, _, happens = text.partition("=")
    phase, plus, later = after.partition("+")
    what, _, lasts = happens.partition(":")
    if phase not in PHASES:
        phase, plus, later = "", "+", after
    seconds = 0.0 if happens == "reset" else parse_time_s(lasts)
    if what not in KINDS or not (seconds or happens == "reset"):
        raise ValueError
    return Event(text, phase, parse_time_s(later) if plus else 0.0, what, seconds)


@make_argument_type("q35, pc, a type of these families that QEMU knows, such as pc-q35-7.2 or pc-i440fx-6.2, or microvm, with its "
      "properties after commas, as in pc-q35-7.2,hpet=off; --accel chooses the accelerator", ("q35", "pc", "microvm"))
def parse_machine_type(text):
    """Accept the names of QEMU's machines that are PCs."""
    if not re.fullmatch(MACHINE, text) or ",accel=" in text:
        raise ValueError
    return text


@make_argument_type("window, vnc, or nothing", ("window", "vnc"))
def parse_display(text):
    if text not in ("auto", "window", "vnc"):
        raise ValueError
    return text


def make_parser():
    made = Parser(
        prog=product.get_command_name("run"), usage="%(prog)s [options] [-- baretick's options]", allow_abbrev=False,
        description="Boots baretick in QEMU, shows its output, and saves its report.",
        epilog="Exit status: 0 if all clocks passed or have only warnings; 1 if a clock failed, has a warning with --fail-on warn, or is "
               "worse than in the baseline; 2 if the run could not be done, is incomplete, or had more stolen time than --max-stolen allows; "
               "124 after a time-out; 130 after Ctrl-C, 129 after SIGHUP, 143 after SIGTERM. A matrix has the worst status of its runs. "
               "During the measurements the first Ctrl-C or SIGTERM only ends them early, and the report follows.")
    option = made.add_argument
    option("--accel", type=make_choice_type("auto", "kvm", "tcg"), default="auto",
           metavar="{auto,kvm,tcg}", help="The accelerator of the guest. auto uses KVM if it works, otherwise TCG (default: auto).")
    option("--cpus", type=parse_cores, default=get_default_cpus(), metavar="N",
           help="The number of cores (default: as many as this machine has, but at least 2 and at most 4).")
    option("--machine", type=parse_machine_type, default="q35", metavar="TYPE[,PROPERTY=VALUE...]",
           help="The machine: q35, pc, or one of QEMU's versions of them, such as pc-q35-7.2,hpet=off. --boot bare also allows "
           "microvm (default: q35).")
    option("--memory", type=parse_size, default="512M", metavar="SIZE", help="The guest's memory (default: 512M).")
    option("--boot", type=make_choice_type(*IMAGES), metavar="{%s}" % ",".join(IMAGES),
           help="What is booted. efi is the application without a volume, so it gets save=off. usb is the stick, disk the same "
           "image as an IDE disk, cd the CD, and bare baretick.elf or (with --image) baretick.bin by QEMU's -kernel, without UEFI (default: efi, and usb with --boots).")
    option("--boots", type=parse_boots, default=1, metavar="N", help="Boots the machine N times from one stick (--boot usb or disk). The last report "
           "says in how many boots each finding was seen. The exit status is 1 if a clock failed in one of them. --timeout is for each boot.")
    option("--efi", metavar="PATH", help="The application (default: build/baretick.efi).")
    option("--image", metavar="PATH",
           help="The image of the stick or CD, or baretick.elf or baretick.bin (default: the one that `make` builds; for --boot bare the ELF).")
    option("--timeout", type=parse_seconds, metavar="SECONDS", help="Ends the run after this time, even if it has no results yet (default: 300, or none with --display).")
    option("--display", type=parse_display, nargs="?", const="auto", metavar="window|vnc",
           help="Shows the guest's screen, in a window on a desktop, otherwise on a VNC port of this machine. You choose the "
           "end at the screen (exit=ask), and the run ends with the machine.")
    option("--out", metavar="DIR", help="The folder for the report and the logs (default: build/report, or build/matrix with "
           "--matrix, which has a folder for each run).")
    option("--matrix", metavar="FILE", help="Does all runs that FILE describes, one after the other. See qemu/matrix.")
    option("--junit", metavar="FILE", help="Writes a JUnit report with a case for each clock and rule. With --matrix it is always junit.xml in DIR.")
    option("--tap", action="store_true", help="Writes TAP to stdout, and baretick's output to stderr.")
    option("--summary", metavar="FILE", help="Appends a job summary in Markdown to FILE.")
    option("--baseline", metavar="REPORT.json", help="Fails if a clock is worse than in this report. With --matrix it is the folder "
           "of an earlier matrix.")
    option("--tolerance", type=parse_factor, metavar="FACTOR", help="The factor by which a latency or a resolution may be worse than in "
           f"the baseline (default: {baseline.TOLERANCE:g}). A rate may change by {baseline.RATE_PPM} ppm.")
    option("--max-stolen", type=parse_percentage, metavar="PERCENT", help="Gives exit status 2 instead of 0 if more of the observed time was "
           "stolen, as on a busy host, or if the stolen time is not known. Such a pass is not reliable.")
    option("--fail-on", type=make_choice_type(*FAIL_ON), default="fail", metavar="{%s}" % ",".join(FAIL_ON),
           help="The lowest verdict that gives exit status 1. With warn a warning also fails the run (default: fail).")
    option("--screenshot", metavar="FILE.png", help="Saves a picture of the last screen.")
    option("--event", type=parse_event, action="append", default=[], metavar="AFTER=WHAT",
           help="An event of the running machine: stop:3s is a pause, snapshot:3s takes a snapshot and returns to it 3 s later, "
           "migrate:3s moves to another QEMU through a file, reset resets the machine. AFTER is a time from the application's start, such as 2s, a "
           "phase, such as rates, or a time after its start, such as rates+500ms. May be given several times.")
    option("--qemu", default=os.environ.get("QEMU") or "qemu-system-x86_64", metavar="PATH",
           help="The QEMU program (default: $QEMU, otherwise qemu-system-x86_64).")
    option("--qemu-arg", action="append", default=[], metavar="ARG",
           help="An argument for QEMU. Write --qemu-arg=-cpu for an argument that starts with a dash.")
    option("--firmware", metavar="PATH", help="The UEFI firmware: a CODE file with VARS in the same folder, or a whole image "
           "(default: $OVMF, otherwise the distribution's).")
    option("--debug", action="store_true", help="Shows where an internal error of the runner comes from.")
    option("--version", action="version", version=product.describe_version("run"), help="Prints the version and the commit.")
    return made


def parse_run_arguments(arguments, row=False):
    """Return the run or the matrix that ARGUMENTS describe. ROW is True for a row of a matrix. If ARGUMENTS have an error, raise
    UserError. Its attribute `run` has the options that were parsed, so that the caller can write the error into the files that
    these options name.
    """
    run = argparse.Namespace()
    try:
        return parse_arguments_into_run(run, arguments, row)
    except UserError as error:
        run.out = run.out or get_default_folder(run)
        error.run = run
        raise


def get_default_folder(run):
    return shorten_path(os.path.join(product.OUTPUT, "matrix" if run.matrix else "report"))


def parse_arguments_into_run(run, arguments, row):
    words = []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, words = arguments[:at], arguments[at + 1:]
    known = make_parser()
    unknown = known.parse_known_args(join_qemu_arguments(arguments), run)[1]
    wrong = list(report_and_replace_invalid_values(run, known))
    if unknown:
        wrong.append(f"unrecognized arguments: {' '.join(unknown)} ({suggest_similar_option(unknown, known)})")
    run.boot = run.boot or ("usb" if run.boots > 1 else "efi")
    run.words = words
    run.transcript = None
    run.cleared = False    # True after the files of an earlier run were removed from the folder
    run.unchecked = None   # sentence that says why baretick's options could not be checked
    run.fell_back = False  # True if KVM did not work, so that TCG was used
    run.suite = None       # function that takes a name and makes the run's JUnit suite
    run.out = run.out or get_default_folder(run)
    run.list = run.inner = next((word for word in LISTS if word in words), None)
    if run.timeout is None:
        run.timeout = float("inf") if run.display else TIMEOUT_S
    if run.display == "auto":
        run.display = "window" if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") else "vnc"
    if run.list:
        wrong += [f"--{name} does not go with baretick's option {run.list}: nothing is measured then"
                  for name in (*OUTPUTS, "tap", "baseline", "matrix", "event") if getattr(run, name)]
        run.out = os.path.join(run.out, run.list)  # a separate folder for the logs, so that the last report is kept
    if run.matrix and not row:
        wrong += [f"--{name} does not go with --matrix: each run leaves its own in its folder"
                  for name in (*OUTPUTS, "tap") if getattr(run, name)]
        wrong += ["--display does not go with --matrix: each run would wait for you"] if run.display else []
    if wrong:
        raise UserError(*wrong, *find_errors_before_start(run))
    return run


def suggest_similar_option(unknown, known):
    """Return a hint for the error message about UNKNOWN, the words that the parser KNOWN did not understand. If an option of
    KNOWN is similar to the first option in UNKNOWN, the hint names it.
    """
    options = [option for action in known._actions for option in action.option_strings]
    dashed = next((word.partition("=")[0] for word in unknown if word.startswith("-")), None)
    name = find_similar_name(dashed, options) if dashed else None
    if name:
        return f"did you mean {name}?"
    return "baretick's own options go behind --" if any("=" in word for word in unknown) else "see --help"


def find_errors_before_start(run):
    """Return the errors that the checks before QEMU's start find, so that they are reported together with errors in the
    arguments. The checks write nothing.
    """
    read_baseline(run)
    try:
        if not run.matrix and not run.list:
            check_run(run)
    except UserError as error:
        return error.args
    return ()


def shorten_path(path):
    return min(path, os.path.relpath(path), key=len)


def join_qemu_arguments(arguments):
    """Join `--qemu-arg -cpu` to `--qemu-arg=-cpu`, because argparse would read -cpu as an option of the runner."""
    joined, rest = [], iter(arguments)
    for word in rest:
        value = next(rest, None) if word == "--qemu-arg" else None
        joined.append(word if value is None else f"{word}={value}")
    return joined


def check_run(run):
    """Find all files and programs that the run needs. Raise UserError with all errors."""
    command.run_checks(*(functools.partial(each, run) for each in (check_qemu, check_options, check_image, find_and_check_firmware,
                                                                check_option_combinations)))


def check_qemu(run):
    found = shutil.which(run.qemu)
    if not found and len(run.qemu.split()) > 1:
        raise UserError(f"--qemu takes one path, and there is no {run.qemu}: put that command into a script, with \"$@\" at its end, and name it")
    if not found:
        raise UserError(f"there is no {run.qemu}: install the package qemu-system-x86, or use --qemu PATH")
    run.qemu = os.path.abspath(found)


def check_options(run):
    """Check baretick's options, because a wrong option would cost a boot. An application of another version may have other options,
    and checks them itself.
    """
    named = run.efi or run.image
    if not run.words or named and not option_check.is_of_this_version(named):
        return
    try:
        wrong = option_check.find_option_flaws(command.join_options(run.words))
    except option_check.Unchecked as error:
        run.unchecked = f"baretick's options are not checked before the boot: {error}"
        return
    if wrong:
        raise UserError(*wrong)


def find_and_check_firmware(run):
    if run.boot == "bare":
        run.code = None
        if run.firmware:
            raise UserError("--firmware does not go with --boot bare, which has no UEFI")
        return
    run.code = command.find_firmware(run.firmware)
    command.find_variables_file(run.code)
    if command.needs_smm(run.code) and "q35" not in run.machine.partition(",")[0]:
        raise UserError(f"--firmware: {run.code} needs system management mode: use --machine q35")


def check_option_combinations(run):
    wrong = []
    if run.tolerance and not run.baseline:
        wrong.append("--tolerance needs --baseline")
    wrong += [f"--event {each.text} does not go with --boot {run.boot}: a snapshot does not undo writes to the stick"
              for each in run.event if each.what == "snapshot" and run.boot in command.STICKS]
    if run.boot == "bare" and (run.display or run.screenshot):
        wrong.append("--display and --screenshot do not go with --boot bare, which has no screen")
    if run.boot != "bare" and run.machine.partition(",")[0] == "microvm":
        wrong.append("--machine microvm has no UEFI: use --boot bare")
    if run.boots > 1 and run.boot not in command.STICKS:
        wrong.append(f"--boots does not go with --boot {run.boot}, which has no stick for the count: use --boot usb")
    if run.boots > 1 and (run.display or run.list):
        wrong.append(f"--boots does not go with {'--display' if run.display else run.list}")
    if run.display and run.screenshot:
        wrong.append("--screenshot does not go with --display: it needs a run that ends by itself")
    if [word for word in ["serial=full", *run.words] if word.startswith("serial=")][-1] not in ("serial=full", "serial=compact"):
        wrong.append("serial=off and serial=summary are for real machines: here the report comes over the serial line")
    if run.no_baseline:
        wrong.append(f"--baseline: {run.no_baseline}")
    if wrong:
        raise UserError(*wrong)


def read_baseline(run):
    run.before = run.no_baseline = None
    try:
        run.before = baseline.load_report(run.baseline) if run.baseline else None
    except ValueError as error:
        run.no_baseline = str(error)


def check_image(run):
    named, other = ("efi", "image") if run.boot == "efi" else ("image", "efi")
    if getattr(run, other):
        raise UserError(f"--{other} does not go with --boot {run.boot}")
    given = getattr(run, named)  # read before run.image is set, which may be the same attribute
    run.image = given or os.path.join(BUILD, IMAGES[run.boot])
    if not given and not os.path.exists(run.image):
        raise UserError(f"there is no {run.image}: type `{MAKE[run.boot]}` first")
    what, places = MAGIC[run.boot]
    if all(command.read_bytes(f"--{named}", run.image, at, len(magic)) != magic for at, magic in places):
        raise UserError(f"--{named}: {run.image} is no {what}")


def prepend_runner_options(run):
    """Add the runner's own options for baretick before the user's options, which therefore override them."""
    # For a picture of the screen, or a display, the machine must stay on after the run.
    run.words.insert(0, "exit=ask" if run.screenshot or run.display else "exit=debug-exit")
    if run.boots > 1:
        run.words.append(f"boots={run.boots}")
    if run.boot == "efi":
        run.words.insert(0, "save=off")  # with -kernel the application has no volume to write to
    # With these two values of exit= the machine stays on, so the runner ends it after the report.
    last = [word for word in run.words if word.startswith("exit=")][-1]
    run.ends_after_report = not run.display and last in ("exit=return", "exit=ask")
