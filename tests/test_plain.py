"""Tests of tests/plain: its patterns of hard sentences, the limits on their share, and its rules for the subjects of
commits."""
import pathlib

import pytest

from harness import ROOT, load_program


plain = load_program(ROOT / "tests" / "plain")

HARD = {
    "a clause stands for a noun": "What comes in a window.",
    "'what' stands for a noun": "Returns what was measured.",
    "starts with a preposition": "of a period",
    "a pronoun and 'of'": "The clock by which all is timed.",
    "a pronoun for a noun": "Gives up those that did not finish.",
    "a genitive without a noun": "Edges of a guest's may be late.",
    "a part acts like a person": "The PIT vouches for it.",
    "an unusual word": "It is written beside the report.",
    "colons or semicolons for words": "Two words: one; the other.",
}


def test_the_share_of_hard_sentences_and_the_subjects_of_commits_are_within_their_bounds():
    assert plain.problems() == []


@pytest.mark.parametrize("reason", plain.PATTERNS)
def test_a_hard_sentence_is_found_by_its_pattern(reason):
    assert plain.why_hard(HARD[reason]) == reason


@pytest.mark.parametrize("sentence", [
    "Returns true if the clock counts, false otherwise.", "What is a gap?", "A guest's clocks may be late.", "Time in ns; 0 if none."])
def test_a_plain_sentence_is_accepted(sentence):
    assert plain.why_hard(sentence) is None


def test_a_long_sentence_is_found():
    assert plain.why_hard("word " * 31) == "more than 30 words" and plain.why_hard("word " * 30) is None


@pytest.mark.parametrize("name, text, found", [
    ("a.c", 'int a; /* of a period */\n/*\n * One line.\n * Two lines.\n */\n', [(1, "of a period"), (2, "One line.\nTwo lines.")]),
    ("a.nasm", "; The page\n\tmov eax, 1 ; loads it\n", [(1, "The page"), (2, "loads it")]),
    ("a.py", '"""A module."""\nx = """\nno comment\n"""\ny = 1  # a unit\n', [(1, "A module."), (5, "a unit")]),
    ("a.mk", "#!/bin/sh\n# A goal\n# of make\n", [(2, "A goal\nof make")]),
    ("a.md", "One `code`\nparagraph.\n\n    code\n\n| a | b |\n\n- item [x](y)\n- *two*\n", [(1, "One X paragraph."), (8, "item x"), (9, "two")])])
def test_comments_and_paragraphs_are_found_with_their_lines(name, text, found):
    assert list(plain.comments(pathlib.Path(name), text)) == found


def test_an_exception_accepts_a_sentence_by_its_start(tmp_path, monkeypatch):
    assert not plain.look(["tests/test_plain.py"])[0]
    monkeypatch.setattr(plain, "EXCEPTIONS", tmp_path / "none")
    (tmp_path / "none").write_text("# comment\n\nOne sentence\n")
    assert plain.exceptions() == ["One sentence"]
    monkeypatch.setattr(plain, "why_hard", lambda sentence: "hard")
    everything = plain.look(["tests/test_plain.py"])[0]
    (tmp_path / "none").write_text("Tests of tests/plain\n")
    assert len(plain.look(["tests/test_plain.py"])[0]) == len(everything) - 1


def test_a_folder_beyond_its_bound_is_a_problem(monkeypatch):
    monkeypatch.setattr(plain, "BOUNDS", {"tests/test_plain.py": 50})
    monkeypatch.setattr(plain, "commits", lambda: [])
    assert plain.problems() == []
    monkeypatch.setattr(plain, "why_hard", lambda sentence: "hard")
    assert len(plain.problems()) == 1


@pytest.mark.parametrize("subject, reason", [
    ("judge: find clock jumps in the second sweep too", None),
    ("qemu/run: add --max-stolen", None),
    ("Makefile, CHANGELOG: describe goals", None),
    ("add a thing", "not 'component: imperative'"),
    ("judge: the clock is named", "not an imperative"),
    ("judge: added a rule", "not an imperative"),
    ("judge: add a rule; mend another", "two commits in one"),
    ("judge: " + "a" * 80, "more than 72 characters")])
def test_a_subject_is_component_and_imperative(subject, reason):
    assert plain.why_subject(subject) == reason


def test_a_bad_subject_is_a_problem_unless_its_commit_is_an_exception(tmp_path, monkeypatch):
    monkeypatch.setattr(plain, "BOUNDS", {})
    monkeypatch.setattr(plain, "commits", lambda: [("0123456789", "judge: the clock is named")])
    assert len(plain.problems()) == 1
    monkeypatch.setattr(plain, "EXCEPTIONS", tmp_path / "some")
    (tmp_path / "some").write_text("commit 0123456\n")
    assert plain.problems() == []
