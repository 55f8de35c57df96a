"""Makes fleet.html, the page with the results of all machines. It is one file, and uses style and scripts of a report's page."""
import base64
import hashlib
import json
import os
import re
import urllib.parse

from lab import words
from readers import runs

HERE = os.path.dirname(os.path.realpath(__file__))
LOOKS = os.path.join(HERE, "..", "..", "src", "page")
SCRIPTS = [os.path.join(LOOKS, "lib", "dom.js"), os.path.join(LOOKS, "lib", "theme.js"), os.path.join(HERE, "page", "fleet.js")]
STYLES = [os.path.join(LOOKS, "page.css"), os.path.join(HERE, "page", "fleet.css")]

# Clocks whose cost of a read is a column of the gallery, if one of the runs has measured it.
COSTS = ("tsc", "hpet", "acpi_pm", "pit", "rtc", "kvmclock", "hv_page", "hv_ref", "xen")


def read_text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def format_csp_hash(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def render_page(answers, new, folder):
    """Return fleet.html as bytes. NEW is the set of findings that are marked as new."""
    return render_content(make_page_content(answers, new, folder), "fleet")


def render_content(content, title):
    """Return a page with TITLE as bytes. CONTENT has its headline and its tables."""
    style = "".join(map(read_text, STYLES))
    script = '(function () {\n"use strict";\nconst NONE = "–";\n' + "".join(map(read_text, SCRIPTS)) + "})();\n"
    policy = "; ".join(["default-src 'none'", f"script-src {format_csp_hash(script)}", f"style-src {format_csp_hash(style)}", "img-src data:",
                        "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"])
    body = json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")
    parts = {"POLICY": policy, "STYLE": style, "SCRIPT": script, "FLEET": body, "TITLE": title}
    page = re.sub(r"@([A-Z]+)@", lambda mark: parts[mark[1]], read_text(os.path.join(HERE, "page", "fleet.html")))
    return page.encode("utf-8")


def make_link(path, folder):
    """Return the relative path from FOLDER to the report's page PATH, or None if there is no such page."""
    if not path or not os.path.isfile(path):
        return None
    return urllib.parse.quote(os.path.relpath(path, folder))


def make_page_content(answers, new, folder):
    """Return the tables of the page: titles, kinds of columns, and rows. The first cell of a row is its machine."""
    def make_machine_cell(row, mark=None):
        return {"text": answers.get_machine_name(row["run"]), "link": make_link(answers.names[row["run"]][2], folder),
                "new": mark is not None and (mark[0], row["who"], mark[1], row["subject"]) in new}
    failed, warned = answers.failed, answers.warned
    odd = [[make_machine_cell(row, ("figure", row["measure"])), row["subject"], row["measure"], row["value"], row["low"], row["high"],
            row["middle"], row["unit"], row["score"], row["kind"]] for row in answers.outliers]
    traits = [[make_machine_cell(row, ("trait", row["measure"])), row["subject"], row["measure"], row["value"], row["usual"],
               f"{row['machines_so']:,} of {row['machines']:,}", row["kind"]] for row in answers.unlike]
    facts = [f"{words.format_count(answers.runs, 'report')}", f"{words.format_count(answers.known, 'machine')} known", f"{failed:,} failed",
             f"{warned:,} with warnings"]
    if answers.unknown:
        facts.append(f"{words.format_count(answers.unknown, 'report')} of unknown machines, each counted as a machine of its own")
    if answers.not_done:
        facts.append(f"{words.format_count(answers.not_done, 'run')} not done")
    facts += words.describe_limitations(answers)
    several = len({row["who"] for row in [*answers.outliers, *answers.unlike]})
    return {
        "headline": words.describe_fleet(failed, warned, several),
        "verdict": "fail" if failed else "warn" if several or warned else "pass",
        "facts": facts,
        "tables": [
            make_table("figures", "Unlike their kind", "Figures whose whole interval lies more than five robust deviations from the median of "
                  "at least five machines of the same vendor, product, BIOS, CPU and hypervisor.",
                  ["machine|name", "of|code", "figure|left", "value", "low", "high", "kind's median", "unit|left", "deviations",
                   "kind|left"], odd),
            make_table("traits", "Different from nine in ten of their kind", "", ["machine|name", "of|code", "what|left", "here|left",
                  "usual|left", "machines|left", "kind|left"], traits),
            make_table("failures", "Failed", "In the newest run of each machine.", ["machine|name", "of|code", "rule|code", "finding|left"],
                  [[make_machine_cell(row, ("failure", row["rule"])), row["subject"], row["rule"], row["text"]] for row in answers.failures]),
            make_table("warnings", "Warnings", "In the newest run of each machine.", ["machine|name", "of|code", "rule|code", "finding|left"],
                  [[make_machine_cell(row), row["subject"], row["rule"], row["text"]] for row in answers.warnings]),
            make_table("undone", "Not done", "Runs without measurements.", ["machine|name", "reason|left"],
                  [[make_machine_cell(row), row["reason"]] for row in answers.undone]),
            make_table("kernels", "Kernels whose rate of the TSC is off", "The kernel's rate lies outside of the interval that baretick "
                  "measured. Of machines whose report was collected by qemu/nextboot.", ["machine|name", "what|left"],
                  [[make_machine_cell(row), words.describe_kernel_tsc_rate(row)] for row in answers.kernels]),
            *(make_table(name, f"Changed since {span}", "", ["machine|name", "change|left"],
                    [[make_machine_cell(row), words.describe_machine_change(row)] for row in answers.changes if row["span"] == span])
              for name, span in (("before", "the run before"), ("week", "last week"))),
            make_table("versions", "Effects of version changes", "Of machines on which nothing else is known to have changed.",
                  ["version change|name", "machines", "effects|left"],
                  [[{"text": step}, machines, "; ".join(said)] for step, machines, said in words.describe_version_changes(answers.versions)]),
            make_table("groups", "Two groups in one kind", "", ["kind|name", "what|left"],
                  [[{"text": row["kind"]}, words.describe_two_machine_groups(row)] for row in answers.groups]),
            make_table("kinds", "Kinds", "Fewer than five known machines of a kind: which of them is unlike the others is not determined.",
                  ["kind|name", "machines", "reports", "failed", "warned", "compared|left"],
                  [[{"text": row["kind"]}, row["machines"], row["runs"], row["failed"], row["warned"],
                    "yes" if row["machines"] >= words.MACHINES_MIN and row["kind"] != "-" else "not determined"] for row in answers.kinds]),
            make_table("machines", "Machines", "The newest run of each.",
                  ["machine|name", "verdict|badge", "known by|left", "run|left", "runs", "profile|left", "kind|left"],
                  [[make_machine_cell(row), row["verdict"], row["known_by"], answers.names[row["run"]][3], row["runs_of_it"], row["profile"],
                    row["kind"]] for row in answers.machines]),
            make_table("reads", "Median reads, in ns", "Of the newest run of each machine; the fastest clock first.",
                  ["machine|name", *answers.read_clocks],
                  [[make_machine_cell(row), *(row[f"ns_{clock}"] for clock in answers.read_clocks)] for row in answers.reads]),
        ],
    }


def make_table(name, title, note, columns, rows):
    return {"id": name, "title": title, "note": note, "columns": [column.split("|") for column in columns], "rows": rows}


def name_machine(run):
    """Return the name of a run's machine, without its serial number: the page may be public."""
    parts = [run["label"], " ".join(filter(None, (run["vendor"], run["product"]))), run["cpu"]]
    return next(filter(None, parts), None) or "unknown"


def find_worst_offset(cores):
    """Return the largest offset of a core in ns, as a positive number, or None."""
    return max((abs(core["offset_ns_value"]) for core in cores if core["offset_ns_value"] is not None), default=None)


def round_figure(value, digits, unit=1):
    """Return VALUE / UNIT with DIGITS significant digits, or None if VALUE is None."""
    return None if value is None else float(f"{value / unit:.{digits}g}")


def make_gallery_row(target, tables, costs, folder):
    run, = tables["runs"]
    clocks = {clock["clock"]: clock for clock in tables["clocks"]}
    record = make_link(os.path.join(target, runs.RECORD), folder)
    wrong = [f"{name} {clock['state']}" for name, clock in clocks.items() if clock["state"] in ("stuck", "broken")]
    present = [name for name, clock in clocks.items() if clock["state"] == "present" and name in COSTS]
    return [{"text": name_machine(run), "link": make_link(os.path.join(target, runs.PAGE), folder)}, run["verdict"],
            {"text": "record" if record else "-", "link": record}, ", ".join(dict.fromkeys(finding["rule"] for finding in tables["findings"])), ", ".join([*present, *wrong]),
            round_figure(clocks.get("tsc", {}).get("hz_value"), 7, 1e6),
            *(round_figure(clocks.get(name, {}).get("read_cost_ns_value"), 3) for name in costs),
            run["cores_started"], find_worst_offset(tables["cores"]), run["within_ns"], run["hypervisor"] or run["accelerator"],
            run["firmware"], run["tool_version"]]


def make_gallery_content(found, folder):
    """Return the content of the gallery in FOLDER: one table with all runs in FOUND, which are from runs.collect_runs()."""
    costs = [name for name in COSTS if any(clock["clock"] == name and clock["read_cost_ns_value"] is not None
                                           for _, tables in found for clock in tables["clocks"])]
    counts = {}
    for _, tables in found:
        counts[tables["runs"][0]["verdict"]] = counts.get(tables["runs"][0]["verdict"], 0) + 1
    columns = ["machine|name", "verdict|badge", "record|link", "findings|left", "clocks|left", "TSC, MHz", *(f"{name}, ns" for name in costs), "cores",
               "worst offset, ns", "agree within, ns", "hypervisor|left", "firmware|left", "version|left"]
    rows = sorted((make_gallery_row(target, tables, costs, folder) for target, tables in found), key=lambda row: row[0]["text"])
    table = make_table("gallery", "Runs", "The figures in ns are the cost of a read without the bracket. The offset is that of the core that "
                            "is farthest from the others.", columns, rows)
    return {"headline": words.format_count(len(found), "run"), "verdict": None,
            "facts": [f"{count:,} {verdict}" for verdict, count in sorted(counts.items())], "tables": [{**table, "filter": True}]}
