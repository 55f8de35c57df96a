"""Reads all reports that the user names, on all processors. Each report is converted to rows of tables, as lines of JSON. A file
that is no report results in a sentence with the reason.
"""
import concurrent.futures
import csv
import ctypes
import hashlib
import json
import multiprocessing
import os
import re
import signal

from readers import console, places, rejudge, rows, stick, table
from results import files, reports

WORKERS = 2
PR_SET_PDEATHSIG = 1     # number of the operation: prctl(2)
KERNEL_MAX = 1 << 20     # largest kernel.json in bytes
TASKS_MAX = 256          # maximum number of waiting tasks; all reports together may need more memory than the machine has
SPLIT_MIN = 1 << 20      # a file with at least this number of bytes may be split into several tasks
SLICE = 4 << 20          # bytes that a task reads of a file in which each line is a report
# Patterns of long lists that no table contains. These lists are removed before parsing. The lists of DROPPED contain no lists, so
# a match of DROPPED ends at the next bracket. In JSON a quotation mark within a string is \", so no pattern matches within a
# string of valid JSON. In data that is not JSON, a match removes only the matching part.
DROPPED = re.compile(rb'"(exact|histogram|events)":\s*\[[^\[\]]*\]')
MATRIX = re.compile(rb'"matrix":\s*\[[\[\]\s0-9,nul.-]*\]')


def drop_unused_report_lists(data):
    """Return the report DATA without the lists that no table contains. Such lists are nine tenths of a report."""
    return MATRIX.sub(b'"matrix":null', DROPPED.sub(rb'"\1":null', data))


def parse_report(data):
    """Return the report in DATA without the parts that no table contains."""
    return reports.check_report(rows.keep_needed_keys(reports.parse_json(drop_unused_report_lists(data))))


def is_line_a_whole_report(first_line):
    """Return True if FIRST_LINE, the first line of a file, is a whole report. In this case each line of the file is a report."""
    first_line = first_line.strip()
    return first_line.startswith(b"{") and first_line.endswith(b"}") and len(first_line) > 2


def split_file_into_tasks(path):
    """Yield the tasks of the file PATH: ("file", path) for a small file, otherwise ("lines", path, offset, size,
    line number) for each group of whole lines. Raise ValueError if a line is too long."""
    size = os.path.getsize(path)
    if size < SPLIT_MIN:
        yield "file", path
        return
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        begin = at = number = 0
        first_number = 1
        while line := file.readline(reports.SIZE_MAX + 1):
            if number == 0 and (len(line) == size or not is_line_a_whole_report(line)):
                yield "file", path
                return
            if len(line) > reports.SIZE_MAX:
                yield "lines", path, begin, at - begin, first_number
                raise ValueError(f"line {number + 1} is longer than {reports.SIZE_MAX >> 20} MiB: it and the rest are not read")
            number += 1
            at += len(line)
            if at - begin >= SLICE:
                yield "lines", path, begin, at - begin, first_number
                begin, first_number = at, number + 1
        yield "lines", path, begin, at - begin, first_number


def list_read_tasks(words, refuse):
    """Yield the tasks for read_reports_of_task() of all files and folders in WORDS."""
    for kind, path in places.find_files(words, refuse):
        try:
            if kind == "stick":
                yield "stick", path
            else:
                yield from split_file_into_tasks(path)
        except ValueError as error:
            refuse(path, str(error))
        except OSError as error:
            refuse(path, f"cannot be read: {error.strerror}")


def read_reports_of_task(task, known, loaded_at, rejudged=None):
    """Read the reports of TASK. Return two lists. The first list has (digest, {table: lines}) for each new report, and (digest,
    None) for each report in KNOWN. The second list has (name, sentence) for each file that is no report. Unless REJUDGED is
    None, reports with a record are judged again, and REJUDGED counts them.
    """
    found, refused = [], []
    kind, path, *rest = task
    try:
        pieces = list(_read_reports_of_file(kind, path, rest))
    except (OSError, ValueError, stick.UnreadableStick, MemoryError) as error:
        words = f"cannot be read: {error.strerror}" if isinstance(error, OSError) else str(error) or "needs too much memory"
        return found, [(path, words)]
    beside = places.get_kernel_json_path(path) if kind == "file" else None
    try:
        kernel = _read_kernel_json(beside) if beside else None
    except (OSError, ValueError, RecursionError) as error:
        kernel = None
        refused.append((beside, f"cannot be read: {getattr(error, 'strerror', None) or error}"))
    for name, page, data in pieces:
        try:
            data = data if isinstance(data, bytes) else data.decode_json()
            if rejudged and (record := rejudge.find_record_of_report(name)):
                data = _judge_again(data, record, rejudged)
            converted = _convert_reports_to_rows(data, name, page, kernel, known, loaded_at)
            found += converted
            if rejudged and not record:
                rejudged.without += len(converted)
        except (ValueError, MemoryError, RecursionError, csv.Error, stick.UnreadableStick) as error:
            refused.append((name, str(error) or "needs too much memory"))
    return found, refused


def _read_reports_of_file(kind, path, rest):
    """Yield (name of the report, name of its HTML page in the same folder, contents) for each report in the file. The contents are
    bytes, or an object whose function decode_json() returns them.
    """
    if kind == "stick":
        yield from ((f"{path}{report.name[1:]}", None, report) for report in stick.list_reports(path))
    elif kind == "lines":
        begin, length, number = rest
        with open(path, "rb") as file:
            file.seek(begin)
            data = file.read(length)
        yield from _split_lines(path, data, number)
    else:
        data = files.read_file(path, reports.SIZE_MAX)
        first, _, more = data.partition(b"\n")
        logged = console.find_reports(data) if console.is_console_log(data) else []
        if logged:
            yield from ((path if len(logged) == 1 else f"{path}, report {at}", None, each) for at, each in enumerate(logged, 1))
        elif path.lower().endswith(places.LOG):
            raise ValueError("has no report: of a console's log, the block REPORT and the lines of serial=compact are read")
        elif more.strip() and is_line_a_whole_report(first):
            yield from _split_lines(path, data, 1)
        else:
            page = os.path.abspath(os.path.splitext(path)[0] + ".html")
            yield path, page if os.path.isfile(page) and not os.path.islink(page) else None, data


def _judge_again(data, record, rejudged):
    """Return the new report that baretick-replay makes from the file RECORD. If RECORD is damaged, or is not the record of the
    report DATA, return DATA.
    """
    old = _get_record_digest(data)
    try:
        new = rejudge.make_report_from_record(rejudged.program, record)
        if _get_record_digest(new) != old:
            raise rejudge.Damaged("It is not the record of the report next to it.")
    except rejudge.Damaged as error:
        rejudged.damaged.append((record, str(error)))
        return data
    rejudged.again += 1
    return new


def _get_record_digest(data):
    """Return the digest of the record that the report in DATA was made from, or None."""
    report = reports.check_report(reports.parse_json(drop_unused_report_lists(data)))
    record = report.get("record")
    return record.get("sha256") if isinstance(record, dict) else None


def _read_kernel_json(path):
    """Return the content of the kernel.json PATH, or None if there is no such file."""
    if os.path.islink(path) or not os.path.exists(path):
        return None
    kernel = files.parse_json(files.read_file(path, KERNEL_MAX))
    if not isinstance(kernel, dict) or kernel.get("schema") != reports.KERNEL_SCHEMA:
        raise ValueError(f"its schema is not {reports.KERNEL_SCHEMA}")
    return kernel


def _split_lines(path, data, number):
    return [(f"{path}, line {number + at}", None, line) for at, line in enumerate(data.split(b"\n")) if line.strip()]


def _convert_reports_to_rows(data, name, page, kernel, known, loaded_at):
    """Return (digest, {table: lines}) of each report in DATA. KERNEL is the content of the kernel.json in the report's folder,
    or None.
    """
    digest = hashlib.sha256(data).hexdigest()
    if not table.is_report_csv(data):
        found = [] if digest in known else [{**parse_report(data), "kernel": kernel}]
        return [(digest, _format_tables_as_json_lines(rows.make_rows(report, digest, name, page, loaded_at))) for report in found] or \
            [(digest, None)]
    found = table.parse_reports(data)
    names = [digest, *(hashlib.sha256(f"{digest} {at}".encode()).hexdigest() for at in range(1, len(found)))]
    return [(each, None if each in known else _format_tables_as_json_lines(rows.make_rows(report, each, name, page, loaded_at)))
            for each, report in zip(names, found)]


def _format_tables_as_json_lines(tables):
    return {name: "".join(json.dumps(row) + "\n" for row in each) for name, each in tables.items()}


_known, _program = frozenset(), None


def _start_worker(known, program):
    global _known, _program
    _known, _program = known, program
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is sent to this process too, but only the parent process handles it
    # The kernel kills this process when its parent ends. Otherwise this process would wait for tasks for ever.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _read_task_batch(batch, loaded_at):
    found, refused = [], []
    rejudged = rejudge.Rejudged(_program) if _program else None
    for task in batch:
        more = read_reports_of_task(task, _known, loaded_at, rejudged)
        found += more[0]
        refused += more[1]
    return found, refused, rejudged


def _group_tasks_for_workers(tasks):
    """Yield lists of at most a dozen tasks. A task for a group of lines is the last task of its list."""
    batch = []
    for task in tasks:
        batch.append(task)
        if len(batch) == 12 or task[0] == "lines":
            yield batch
            batch = []
    if batch:
        yield batch


def gather_reports(words, known, loaded_at, refuse, rejudged=None):
    """Yield (digest, {table: lines}) of each report in the files, folders and sticks WORDS. Yield (digest, None) instead if the
    digest is in KNOWN. Unless REJUDGED is None, reports with a record are judged again, and REJUDGED counts them."""
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(WORKERS, context, _start_worker, (known, rejudged and rejudged.program)) as pool:
        waiting = []
        for batch in _group_tasks_for_workers(list_read_tasks(words, refuse)):
            waiting.append(pool.submit(_read_task_batch, batch, loaded_at))
            if len(waiting) * 12 >= TASKS_MAX:
                yield from _collect_result(waiting.pop(0), refuse, rejudged)
        for future in waiting:
            yield from _collect_result(future, refuse, rejudged)


def _collect_result(future, refuse, rejudged):
    found, refused, more = future.result()
    if rejudged:
        rejudged.add(more)
    for name, sentence in refused:
        refuse(name, sentence)
    yield from found
