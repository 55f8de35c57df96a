"""The file tests/sentences lists all sentences that baretick prints. The tests look for words that only this project
uses."""
import re

import pytest

from harness import ROOT, load_program

# Words that earlier sentences used in a sense that a new reader does not know. The words of the field are ping-pong,
# core, round, schedule, falseticker, stolen time, observed, offset, passed, not checked.
WORDS = re.compile(r"\b(meetings?|players?|plays?|seats?|tours?|courts?|hears?|heard|accus\w+|ballots?|electorate|party|parties|watched|"
                   r"taken away|set apart|stands? apart|turns? of|kept(?! theirs)|not seen|to live by|whom?(?= (counts?|reads?|ran|is|was)\b))\b", re.I)


sentences = load_program(ROOT / "tests" / "sentences")


def test_the_list_has_sentences_of_all_kinds():
    listed = dict((sentence, place) for place, sentence in sentences.all_sentences())
    assert len(listed) > 700
    for sentence, folder in (
            ("%s stepped back %lu time%s in %lu reads, at worst by %lu ticks.", "src/judge"),
            ("The output of channel 2 (OUT) does not rise when its count ends: loops that wait for it measure wrong times or never end.", "src/rules"),
            ("PIE is set: the firmware uses the periodic flag, so baretick does not read that flag.", "drivers/clocks"),
            ("The firmware does not reset this machine: switch it off by hand.", "boot/"),
            ("A clock that steps back gives negative durations and events in the wrong order.", "src/rules"),
            ("The true rate lies within the bar; a bar that includes 0 shows no deviation. A − B: how", "src/page")):
        assert listed[sentence].startswith(folder)


def test_no_sentence_has_a_word_that_only_this_project_has():
    found = [(place, sentence) for place, sentence in sentences.all_sentences()
             if WORDS.search(sentence)]
    assert found == []


def test_no_long_sentence_is_twice_in_the_rule_catalogue():
    """Otherwise a change of one copy may forget the others."""
    parts = [part for _, sentence in sentences.sentences_of((ROOT / "src/rules/catalogue.c").read_text())
             for part in re.split(r"(?<=\.) ", sentence) if len(part) >= 60 and part.endswith(".")]
    assert len(parts) > 50
    assert [part for part in parts if parts.count(part) > 1] == []


@pytest.mark.parametrize("source, said", [
    ('say("The clock kept " /* one */ "its promise.");', True),
    ('say("The players of a\\n" \n "round");', True),
    ('note("A core was " +\n\t"watched");', True),
    ('note(`${count} of the time was taken away`);', True),
    ('say("The watchdog of Linux; party-line");', True),
    ('say("The watchdog counted; partly"); /* "was watched here" */', False),
    ('say("%s changed; %s kept theirs.");', False),
    ('_Static_assert(a == b,\n\t"two players here");', False),
    ('#include "a meeting.h"', False),
])
def test_only_a_forbidden_word_is_found(source, said):
    assert any(WORDS.search(sentence) for _, sentence in sentences.sentences_of(source)) == said
