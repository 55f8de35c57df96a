"""The golden JSON reports follow the schema. The schema refuses invalid reports, and matches report.def."""

import copy
import json
import pathlib
import shutil
import subprocess
import sys

import jsonschema
import pytest

import shape

TESTS = pathlib.Path(__file__).resolve().parents[1]
GOLDENS = sorted((TESTS / "goldens").glob("*.json"))


def strict(text):
    """Parse JSON, and fail if an object has a key twice. Python's parser would silently keep the last one."""
    def pairs(items):
        keys = [key for key, _ in items]
        assert len(keys) == len(set(keys)), f"a key stands twice among {keys}"
        return dict(items)

    def no_constant(word):
        raise ValueError(f"{word} is not JSON")

    return json.loads(text, object_pairs_hook=pairs, parse_constant=no_constant)


@pytest.fixture(scope="module")
def validator():
    strict((shape.ROOT / "src" / "report" / "report.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(shape.SCHEMA)
    return jsonschema.Draft202012Validator(shape.SCHEMA)


def errors(validator, report):
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in validator.iter_errors(report)]


def test_there_are_three_goldens():
    assert [path.name for path in GOLDENS] == ["clean.json", "empty.json", "sick.json"]


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.name)
def test_golden_meets_the_schema_in_ascii(validator, path):
    data = path.read_bytes()
    assert data.isascii() and b"<" not in data and data.endswith(b"}\n")
    assert errors(validator, strict(data.decode())) == []


def broken(change):
    report = strict((TESTS / "goldens" / "sick.json").read_text())
    change(report)
    return report


@pytest.mark.parametrize("change", [
    lambda r: r.pop("interference"),
    lambda r: r.update(schema="baretick.report/0"),
    lambda r: r.update(verdict="absent"),
    lambda r: r.update(surprise=1),
    lambda r: r["clocks"][0].update(claimed_hz="1000"),
    lambda r: r["clocks"][0].update(claimed_hz=0),
    lambda r: r["clocks"][0].update(state="gone"),
    lambda r: r["clocks"][4].update(verdict="pass"),
    lambda r: r["clocks"][0]["latency"].update(count=0),
    lambda r: r["clocks"][0]["latency"]["histogram"][0].pop("le_ns"),
    lambda r: r["cores"][0]["latency"]["tsc"].update(min_ns="9"),
    lambda r: r["cores"][0].pop("offset_ns"),
    lambda r: r["cores"][0]["offset_ns"].update(low=-0.5),
    lambda r: r["cores"][0].update(package=1 << 32),
    lambda r: r["cores"][0]["latency_contended"]["tsc"].pop("p99_ns"),
    lambda r: r["skew"].update(schedule="some"),
    lambda r: r["skew"].update(concurrency=0),
    lambda r: r["skew"].update(surprise=1),
    lambda r: r["skew"]["matrix"][0][0].append(0),
    lambda r: r["skew"]["matrix"].extend([[]] * 256),
    lambda r: r["skew"]["drift_ppm"].append(0),
    lambda r: r["skew"]["contended"].update(worst_pair=[1]),
    lambda r: r["skew"]["lock_free"].pop("starved"),
    lambda r: r["cores"][0].update(observed_ns=0),
    lambda r: r["clocks"][0]["latency"].pop("clean"),
    lambda r: r["clocks"][0]["latency"]["clean"].update(count=0),
    lambda r: r["clocks"][0].update(turned_sick_ms=0.5),
    lambda r: r["rates"][0].pop("same_source"),
    lambda r: r["interference"].update(gaps=-1),
    lambda r: r["interference"]["events"][0].update(core=None),
    lambda r: r["interference"]["histogram"][0].update(count=0),
    lambda r: r["behaviours"][0].update(outcome="maybe"),
    lambda r: r["behaviours"][0].pop("unit"),
    lambda r: r["advice"][0].update(reason=""),
    lambda r: r["findings"][0].pop("cause"),
    lambda r: r["findings"][0].update(severity="pass"),
    lambda r: r["findings"][0].update(limit="0"),
    lambda r: r["machine"].update(cpu=""),
])
def test_broken_report_is_refused(validator, change):
    whole = strict((TESTS / "goldens" / "sick.json").read_text())
    assert errors(validator, copy.deepcopy(whole)) == []
    assert errors(validator, broken(change)) != []


def check_generated(src):
    return subprocess.run([sys.executable, TESTS / "report" / "make_schema.py", "--check", src], capture_output=True, text=True, check=False)


def test_the_schema_and_the_table_of_metrics_match_report_def():
    done = check_generated(shape.ROOT / "src")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name, old, new, differs", [
    ("render/fields/report.def", '"notes",', '"remarks",', "report/report.schema.json"),
    ("render/fields/report.def", "o->facts.machine.cores_listed, \"cores_listed\"", "o->facts.machine.cores_listed, \"listed\"", "report/report.schema.json"),
    ("report/figures.h", "REPORT_EVENTS_MAX   256", "REPORT_EVENTS_MAX   255", "report/report.schema.json"),
    ("report/report_sizes.h", "REPORT_MATRIX_CORES  256u", "REPORT_MATRIX_CORES  255u", "report/report.schema.json"),
    ("report/README.md", "| `warps` | the run |", "| `warps` | a core |", "report/README.md"),
])
def test_a_schema_or_table_that_does_not_match_is_refused(tmp_path, name, old, new, differs):
    shutil.copytree(shape.ROOT / "src", tmp_path / "src")
    text = (tmp_path / "src" / name).read_text()
    assert text.count(old) == 1
    (tmp_path / "src" / name).write_text(text.replace(old, new))
    done = check_generated(tmp_path / "src")
    assert (done.returncode, done.stderr) == (1, f"{differs} is not as report.def has it: make schema writes it\n")
