"""A report in the folder of a run is replaced only by a new report."""
import json
import os

import pytest

from harness import report, spoken


def content(folder):
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


@pytest.mark.parametrize("words", [["--", "profile=quik"], ["--junit", "/nowhere/x.xml"], ["--efi", "/nowhere/x.efi"]])
def test_a_wrong_call_leaves_the_last_report_as_it_is(run, fake, tmp_path, words):
    out = tmp_path / "last"
    assert run(*fake(spoken()), "--out", out).status == 0
    before = content(out)
    done = run("--out", out, *words)
    assert done.status == 2 and done.stdout.endswith(f"The report of the last run is in {out}\n")
    assert content(out) == before


def test_a_run_without_a_report_keeps_the_last_one_beside_it(run, fake, tmp_path):
    out = tmp_path / "last"
    assert run(*fake(spoken()), "--out", out).status == 0
    before = (out / "report.html").read_bytes()
    for _ in range(2):
        done = run(*fake(b"baretick 0.1.0\n", "sys.exit(1)"), "--out", out)
        assert done.status == 2 and (out / "earlier" / "report.html").read_bytes() == before
        assert (out / "report.txt").read_text().startswith("No report: ")
    assert run(*fake(spoken()), "--out", out).status == 0
    assert (out / "report.html").read_bytes() == (out / "earlier" / "report.html").read_bytes() == before


def test_the_report_of_the_run_before_is_kept_and_the_comparison_is_named(run, fake, tmp_path):
    out = tmp_path / "last"
    texts = [f"{word} table\n".encode() for word in ("first", "second", "third")]
    done = [run(*fake(spoken(text=text)), "--out", out) for text in texts[:2]]
    assert "The report of the run before" not in done[0].stdout
    assert f"The report of the run before is in {out}/earlier." in done[1].stdout
    assert f"qemu/run --baseline {out}/report.json" in done[1].stdout
    assert [(folder / "report.txt").read_bytes() for folder in (out, out / "earlier")] == [texts[1], texts[0]]
    third = run(*fake(spoken(text=texts[2])), "--out", out, "--baseline", out / "report.json")
    assert third.status == 0 and third.stderr.endswith("nothing is worse than the baseline\n"), third
    assert (out / "earlier" / "report.txt").read_bytes() == texts[1]


def test_a_link_in_the_place_of_the_last_report_is_not_followed(run, fake, tmp_path):
    out, other = tmp_path / "last", tmp_path / "other"
    other.mkdir()
    (other / "report.json").write_text("somebody's")
    assert run(*fake(spoken()), "--out", out).status == 0
    os.symlink(other, out / "earlier")
    assert run(*fake(b"", "sys.exit(1)"), "--out", out).status == 2
    assert (other / "report.json").read_text() == "somebody's" and not (out / "earlier").is_symlink()


def test_a_report_of_a_run_that_was_ended_early_is_a_report(run, tmp_path):
    out = tmp_path / "last"
    out.mkdir()
    (out / "report.json").write_text(json.dumps(report("incomplete")))
    before = content(out)
    assert run("--out", out, "--", "profile=quik").status == 2
    assert content(out) == before
