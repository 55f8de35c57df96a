"""Does several runs one after another, as a matrix file describes them. The file qemu/matrix explains the format."""
import collections
import configparser
import itertools
import os
import re
import shlex
import time

from machine import interruption
from machine.boot import EXIT_NOT_DONE
from machine.command import UserError
from machine.console import Console
from results import cases, files, junit
from runner import arguments, folder

KEYS = ("accel", "cpus", "machine", "memory", "boot", "efi", "image", "timeout", "qemu", "qemu-arg", "firmware",
        "event", "options")
SIZE_MAX = 1 << 20  # maximum size of a matrix file in bytes
RUNS_MAX = 10_000   # maximum number of runs of a matrix file
LABEL_MAX = 64      # maximum number of characters of baretick's option label=
ENDINGS = {0: "pass", 1: "FAIL", 2: "not done", 124: "time-out"}


def read_runs(path):
    """Yield (name, arguments, baretick's options) of each run in the file PATH."""
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",))
    try:
        parser.read_string(files.read_file(path, SIZE_MAX).decode())
    except OSError as error:
        raise UserError(f"--matrix: {path} cannot be read: {error.strerror}") from error
    except (configparser.Error, ValueError) as error:
        raise UserError(f"--matrix: {path}: {' '.join(str(error).split())}") from error
    every = (run for name in parser.sections() for run in combine_alternatives(path, name, parser[name]))
    runs = list(itertools.islice(every, RUNS_MAX + 1))
    if len(runs) > RUNS_MAX:
        raise UserError(f"--matrix: {path} describes more than {RUNS_MAX:,} runs")
    names = [name for name, _, _ in runs]
    if len(set(names)) < len(names):
        raise UserError(f"--matrix: {path}: two runs would be called {max(names, key=collections.Counter(names).get)}")
    if not runs:
        raise UserError(f"--matrix: {path} describes no run")
    return runs


def combine_alternatives(path, name, section):
    """Yield the runs of one SECTION. Each run has one alternative for every key, and all combinations occur."""
    unknown = [key for key in section if key not in KEYS]
    if unknown:
        raise UserError(f"--matrix: {path}: [{name}] has the key {unknown[0]}{arguments.format_suggestion(unknown[0], KEYS)}; there are {', '.join(KEYS)}")
    choices = {key: value.split("|") for key, value in section.items()}
    for chosen in itertools.product(*choices.values()):
        pairs = list(zip(choices, chosen))
        told = [make_folder_name(value) for key, value in pairs if len(choices[key]) > 1]
        try:
            words = {key: shlex.split(value) for key, value in pairs}
        except ValueError as error:
            raise UserError(f"--matrix: {path}: [{name}]: {error}") from error
        options = words.pop("options", [])
        yield ("-".join([make_folder_name(name), *filter(None, told)]),
               [f"--{key}={word}" for key, list_of in words.items() for word in list_of], options)


def make_folder_name(text):
    """Return TEXT as a part of a folder's name."""
    return re.sub(r"[^A-Za-z0-9_.]+", "-", text).strip("-.")


def make_runs(common, words):
    """Yield a run for each row of the matrix COMMON.matrix. The row's arguments come after the command line WORDS, so that they
    override its options. The run's name is used as the machine's label, unless the user has given a label.
    """
    at = words.index("--") if "--" in words else len(words)
    wrong = []
    for name, own, options in read_runs(common.matrix):
        try:
            told = [*words[at + 1:], *options]
            label = [] if len(name) > LABEL_MAX or any(word.startswith("label=") for word in told) else [f"label={name}"]
            run = arguments.parse_run_arguments([*words[:at], *own, "--", *label, *told], row=True)
            arguments.check_options(run)
        except UserError as error:
            wrong += [f"--matrix: {common.matrix}: [{name}]: {sentence}" for sentence in error.args]
            continue
        run.name, run.inner = name, True
        run.out = os.path.join(common.out, name)
        run.junit, run.summary = os.path.join(run.out, "junit.xml"), os.path.join(run.out, "summary.md")
        if common.baseline:
            run.baseline = os.path.join(common.baseline, name, "report.json")
        yield run
    if wrong:
        raise UserError(*wrong)


def run_all_of_matrix(common, words, run_and_save_results, table):
    """Call RUN_AND_SAVE_RESULTS(run, console) for each run, and show its result on the console TABLE. Return the worst exit
    status of all runs.
    """
    runs = list(make_runs(common, words))
    if common.baseline and not os.path.isdir(common.baseline):
        raise UserError(f"--baseline: there is no folder {common.baseline}, which --matrix needs")
    try:
        os.makedirs(common.out, exist_ok=True)
        lock = folder.lock_folder(common.out)
        suites = junit.Suites(os.path.join(common.out, "junit.xml"))
    except OSError as error:
        raise UserError(f"--out: {common.out} cannot be written: {error.strerror}") from error
    try:
        worst = run_and_show_each_run(common, runs, run_and_save_results, table, suites)
        flaw = suites.complete_file()
        if flaw:
            table.print_sentence(flaw)
        return max(worst, EXIT_NOT_DONE) if flaw else worst
    finally:
        os.close(lock)


def run_and_show_each_run(common, runs, run_and_save_results, table, suites):
    width = max(len(run.name) for run in runs)
    table.show_line(f"{'run':{width}}  {'verdict':9} {'s':>5}  reason")
    worst, no_kvm = 0, False
    for run in runs:
        if no_kvm and run.accel == "auto":
            run.accel = "tcg"
        console = Console(None, f"qemu/run: {run.name}")
        if run.baseline and not os.path.exists(run.baseline):
            console.print_sentence(f"not in the baseline: there is no {run.baseline}")
            run.baseline = run.tolerance = None
        begin = time.monotonic()
        status, problem = run_and_save_results(run, console)
        elapsed_s = time.monotonic() - begin
        table.show_line(f"{run.name:{width}}  {get_outcome_word(run, status):9} {elapsed_s:5.1f}  {problem or get_reason_of_outcome(run, status)}".rstrip())
        suites.add_suite(run.suite(run.name) if run.suite else junit.make_suite([cases.make_case_of_unfinished_run(problem)], elapsed_s, name=run.name))
        run.suite = None
        worst = max(worst, status)
        # If KVM failed, later runs do not try it. But if this run had QEMU arguments of the user, these arguments may be the
        # cause, so later runs try KVM again.
        no_kvm |= run.fell_back and not run.qemu_arg
        if status > 128 or interruption.was_handled():
            break  # a signal ends all further runs, too
    table.show_line(f"The reports are in {os.path.join(common.out, 'NAME')}: report.html, report.json, ...; "
               f"the test cases of all runs are in {os.path.join(common.out, 'junit.xml')}")
    return worst


def get_outcome_word(run, status):
    report = run.transcript.report if run.transcript else None
    return "warn" if status == 0 and report and report["verdict"] == "warn" else ENDINGS.get(status, "not done")


def get_reason_of_outcome(run, status):
    """Return the rules of the run's findings. Without findings, return "worse than the baseline" if the run failed, otherwise "".
    """
    report = run.transcript.report if run.transcript else None
    rules = dict.fromkeys(finding["rule"] for finding in (report or {}).get("findings") or [])
    return ", ".join(rules) or ("worse than the baseline" if status else "")
