"""qemu/run --boots N: which boot gives the report and the exit status. A script stands for QEMU."""
import pytest

from harness import report, spoken

IMAGE = bytes(510) + b"\x55\xaa"
# Prints the text `serial-N` in boot N, and ends with the status in `status-N`.
BODY = """\
boots = len(open(here + "/pid").read().split())
line = here + f"/serial-{boots}"
sys.stdout.buffer.write(open(line, "rb").read() if os.path.exists(line) else b"")
sys.stdout.flush()
sys.exit(33 if not os.path.exists(here + f"/status-{boots}") else int(open(here + f"/status-{boots}").read()))
"""
PASSED, FAILED = 0x10 << 1 | 1, 0x11 << 1 | 1


@pytest.fixture
def series(run, fake, tmp_path):
    """Return a function series(verdicts) that boots once for each verdict. None is a boot that prints nothing."""
    def call(verdicts, *words):
        tool = fake(b"", BODY, boots_efi=False)
        (tmp_path / "stick").write_bytes(IMAGE)
        for number, verdict in enumerate(verdicts, 1):
            if verdict:
                document = {**report(verdict, (("tsc", verdict),)), "notes": [f"boot {number}"]}
                (tmp_path / f"serial-{number}").write_bytes(spoken(document))
            (tmp_path / f"status-{number}").write_text(str(FAILED if verdict == "fail" else PASSED if verdict else 0))
        return run(*tool, "--boots", str(len(verdicts)), "--image", tmp_path / "stick", *words, "--", "profile=quick")
    return call


def test_the_last_boot_gives_the_report_and_all_boots_get_the_option(series, tmp_path):
    done = series(["pass", "pass", "pass"])
    assert done.status == 0 and done.report["notes"] == ["boot 3"], done
    assert len((tmp_path / "pid").read_text().split()) == 3
    assert [f"boot {number} of 3" in done.stdout + done.stderr for number in (1, 2, 3)] == [True] * 3
    assert b"stick.img" in (tmp_path / "argv").read_bytes()


def test_a_failure_in_an_earlier_boot_is_a_failure(series):
    done = series(["pass", "fail", "pass"])
    assert done.status == 1 and done.report["verdict"] == "pass", done
    assert "a clock failed in 1 of 3 boots" in done.stdout + done.stderr


def test_a_boot_that_died_is_named_and_the_series_goes_on(series):
    done = series(["pass", None, "pass"])
    assert done.status == 0 and done.report["notes"] == ["boot 3"], done
    assert "boot 2 of 3 gave no report: " in done.stdout + done.stderr


def test_if_the_last_boot_died_the_report_is_that_of_the_boot_before(series):
    done = series(["pass", "pass", None])
    assert done.status == 2 and "the last of 3 boots gave no report: " in done.stdout + done.stderr, done
    assert done.report["notes"] == ["boot 2"]


@pytest.mark.parametrize("started, said", [(1, True), (3, False)])
def test_a_single_boot_of_a_series_says_how_to_do_all(run, fake, tmp_path, started, said):
    """The option boots= of the stick's baretick.cfg asks for three boots, and QEMU ends after each."""
    document = {**report("pass", (("tsc", "pass"),)), "boots": {"started": started, "planned": 3}}
    done = run(*fake(spoken(document)), "--", "profile=quick")
    assert done.status == 0 and ("this was boot 1 of 3: --boots 3 does all of them" in done.stdout + done.stderr) == said, done


@pytest.mark.parametrize("words, sentence", [
    (["--boot", "cd"], "--boots does not go with --boot cd"), (["--boot", "bare"], "--boots does not go with --boot bare"),
    (["--display", "vnc"], "--boots does not go with --display")])
def test_a_series_needs_a_stick(run, fake, words, sentence):
    done = run(*fake(boots_efi=False), "--boots", "2", *words)
    assert done.status == 2 and sentence in done.stderr, done


def test_an_invalid_number_of_boots_is_refused(run, fake):
    done = run(*fake(boots_efi=False), "--boots", "0")
    assert done.status == 2 and "argument --boots: '0' is not a whole number from 1 to 1000" in done.stderr, done
