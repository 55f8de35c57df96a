"""Collects runs for the gallery: the page, the report and the record of each run get a folder of their own."""
import datetime
import hashlib
import json
import os
import re
import shutil

from readers import gather, rejudge
from results import files, page, product

PAGE, REPORT, RECORD = "report.html", "report.json", "report.record"
FOLDER_DIGITS = 12  # digits of a SHA-256 that name the folder of a run


def list_records(paths):
    """Return the records in PATHS, which are files and folders. Links are not followed."""
    found = []
    for path in paths:
        if os.path.isdir(path):
            found += [os.path.join(at, name) for at, _, names in os.walk(path) for name in names]
        else:
            found.append(path)
    return sorted(path for path in found if path.endswith(rejudge.RECORD) and os.path.isfile(path) and not os.path.islink(path))


def store_run(folder, digest, sources):
    """Copy SOURCES, {name: path}, to the folder of the run with DIGEST."""
    target = os.path.join(folder, digest[:FOLDER_DIGITS])
    os.makedirs(target, exist_ok=True)
    for name, path in sources.items():
        if os.path.isfile(path) and not os.path.islink(path):
            shutil.copyfile(path, os.path.join(target, name))
    return target


def make_page(target, template):
    """Make the page of the report in the folder TARGET from TEMPLATE, the built page or None. A page that came with the report is not
    used: it may have scripts of its own."""
    path = os.path.join(target, REPORT)
    if template and os.path.isfile(path):
        with open(path, "rb") as file:
            files.replace_file(os.path.join(target, PAGE), page.insert_report(template, file.read()))


def read_runs(task, loaded_at, refuse):
    """Yield (digest, {table: rows}) of each report of TASK, which is from gather.list_read_tasks()."""
    found, refused = gather.read_reports_of_task(task, frozenset(), loaded_at)
    for name, sentence in refused:
        refuse(name, sentence)
    for digest, tables in found:
        yield digest, {name: [json.loads(line) for line in lines.splitlines()] for name, lines in tables.items()}


def collect_runs(paths, folder, replay, refuse):
    """Yield (folder of the run, {table: rows}) of each record and of each other report in PATHS. A report with a record is made again
    from the record, by the program REPLAY. Folders of an earlier gallery are removed."""
    for name in os.listdir(folder):
        if re.fullmatch(rf"[0-9a-f]{{{FOLDER_DIGITS}}}", name):
            shutil.rmtree(os.path.join(folder, name))
    loaded_at = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None).isoformat(" ")
    template = page.read_template(os.path.join(product.BUILD, "page.html"))
    seen = set()
    for path in list_records(paths):
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        target = store_run(folder, digest, {RECORD: path})
        try:
            rejudge.make_report_files(replay, path, target)
        except rejudge.Damaged as error:
            refuse(path, str(error))
            shutil.rmtree(target)
            continue
        for _, tables in read_runs(("file", os.path.join(target, REPORT)), loaded_at, refuse):
            if target not in seen:
                seen.add(target)
                yield target, tables
    for task in gather.list_read_tasks(paths, refuse):
        stem = os.path.splitext(task[1])[0]
        if os.path.isfile(stem + rejudge.RECORD):
            continue
        for digest, tables in read_runs(task, loaded_at, refuse):
            if digest not in seen:
                seen.add(digest)
                target = store_run(folder, digest, {REPORT: f"{stem}.json"})
                make_page(target, template)
                yield target, tables
