"""The gallery (`make gallery`): one page of many records and reports."""
import json
import lzma
import re
import subprocess

import pytest

from harness import ROOT

REPLAY = ROOT / "build" / "baretick-replay"
GOLDENS = ROOT / "tests" / "goldens"
pytestmark = pytest.mark.skipif(not REPLAY.exists(), reason="build/baretick-replay is not there: type make")


def gallery(*words):
    return subprocess.run([ROOT / "qemu" / "fleet", "--gallery", *words], capture_output=True, text=True, timeout=120)


def unpack(name, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.decompress((ROOT / "tests" / "records" / f"{name}.record.xz").read_bytes()))


def table_of(folder):
    """Return the content of the gallery's page, and its rows. A row is {title of a column: cell}."""
    content = json.loads(re.search(r'id="fleet">(.*?)</script>', (folder / "index.html").read_text())[1])
    table, = content["tables"]
    titles = [column[0] for column in table["columns"]]
    return content, [dict(zip(titles, row)) for row in table["rows"]]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the folder of a gallery of two records and a report. One record has the report of another machine next to it."""
    folder = tmp_path_factory.mktemp("gallery")
    unpack("hpet-back", folder / "in" / "one" / "report.record")
    (folder / "in" / "one" / "report.json").write_bytes((GOLDENS / "clean.json").read_bytes())
    unpack("xen", folder / "in" / "xen.record")
    (folder / "in" / "sick").mkdir()
    (folder / "in" / "sick" / "report.json").write_bytes((GOLDENS / "sick.json").read_bytes())
    done = gallery("--out", folder / "out", folder / "in")
    assert (done.returncode, done.stderr) == (0, ""), done
    assert done.stdout == f"3 runs. The page: {folder / 'out' / 'index.html'}\n"
    return folder / "out"


def test_each_run_has_a_row_with_the_figures_of_its_report(made):
    content, rows = table_of(made)
    assert content["headline"] == "3 runs" and sum(int(fact.split()[0]) for fact in content["facts"]) == 3
    sick = json.loads((GOLDENS / "sick.json").read_bytes())
    row, = (row for row in rows if row["record"]["link"] is None)
    assert row["verdict"] == sick["verdict"] == "fail"
    assert row["findings"].split(", ") == list(dict.fromkeys(finding["rule"] for finding in sick["findings"]))
    clocks = {clock["id"]: clock for clock in sick["clocks"]}
    assert row["tsc, ns"] == float(f"{clocks['tsc']['cost']['read_ns']['value']:.3g}") and row["cores"] == sick["machine"]["cores_started"]


def test_a_record_is_judged_again_and_can_be_downloaded(made):
    _, rows = table_of(made)
    with_record = [row for row in rows if row["record"]["link"]]
    assert sorted(row["verdict"] for row in with_record) == sorted(
        json.loads(path.read_bytes())["verdict"] for path in made.glob("*/report.json") if (path.parent / "report.record").exists())
    back, = (row for row in with_record if "clock-backward" in row["findings"])
    assert (made / back["record"]["link"]).read_bytes() == (made.parent / "in" / "one" / "report.record").read_bytes()
    assert b"<script" in (made / back["machine"]["link"]).read_bytes()


def test_a_page_that_came_with_a_report_is_made_again_without_its_scripts(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "one.json").write_bytes((GOLDENS / "sick.json").read_bytes())
    (tmp_path / "in" / "one.html").write_text("<script>document.title = 'not baretick'</script>")
    assert gallery("--out", tmp_path / "out", tmp_path / "in").returncode == 0
    (row,) = table_of(tmp_path / "out")[1]
    page = (tmp_path / "out" / row["machine"]["link"]).read_bytes()
    assert b"not baretick" not in page and b'"schema":"baretick.report/' in page


def test_the_page_has_no_serial_number(made):
    serial = json.loads((GOLDENS / "sick.json").read_bytes())["machine"]["identity"]["serial"]
    assert serial and serial not in (made / "index.html").read_text()


def test_a_damaged_record_is_named_and_left_out(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "bad.record").write_bytes(b"no record")
    (tmp_path / "in" / "good.json").write_bytes((GOLDENS / "clean.json").read_bytes())
    done = gallery("--out", tmp_path / "out", tmp_path / "in")
    assert done.returncode == 0 and "bad.record" in done.stderr and done.stderr.endswith(": skipped\n"), done
    assert len(table_of(tmp_path / "out")[1]) == 1


@pytest.mark.parametrize("words", [["--db", "x"], ["--rejudge"]])
def test_options_of_a_comparison_do_not_go_with_a_gallery(tmp_path, words):
    done = gallery(*words, tmp_path)
    assert done.returncode == 2 and "--gallery goes with no" in done.stderr


def test_without_any_run_no_page_is_made(tmp_path):
    done = gallery("--out", tmp_path / "out", tmp_path)
    assert done.returncode == 2 and not (tmp_path / "out" / "index.html").exists()
