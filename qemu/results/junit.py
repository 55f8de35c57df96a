"""Writes the test cases of a run as a JUnit report. Also writes one file with a test suite for each of several runs."""
import os
import xml.etree.ElementTree as xml

from results import files
from results.sanitize import clean_text

ELEMENTS = {"fail": "failure", "error": "error", "skip": "skipped"}
DECLARATION = b"<?xml version='1.0' encoding='utf-8'?>\n"


def make_suite(cases, elapsed_s, properties=None, name="baretick"):
    """Return the element `testsuite` of one run, with the name NAME."""
    count = {outcome: str(sum(case.outcome == outcome for case in cases)) for outcome in ELEMENTS}
    made = xml.Element("testsuite", name=name, tests=str(len(cases)), failures=count["fail"],
                       errors=count["error"], skipped=count["skip"], time=f"{elapsed_s:.3f}")
    if properties:
        listed = xml.SubElement(made, "properties")
        for key, value in properties.items():
            xml.SubElement(listed, "property", name=key, value=clean_text(value))
    for case in cases:
        node = xml.SubElement(made, "testcase", classname=f"{name}.{case.group}", name=clean_text(case.name))
        text = clean_text(case.text)
        if case.outcome in ELEMENTS:
            xml.SubElement(node, ELEMENTS[case.outcome], message=text)
        elif text:
            xml.SubElement(node, "system-out").text = text
    return made


def format_junit(cases, elapsed_s, properties=None):
    return DECLARATION + xml.tostring(make_suite(cases, elapsed_s, properties), encoding="utf-8") + b"\n"


class Suites:
    """Writes a file of several suites, each as soon as its run has finished. Until complete_file() is called, PATH keeps its old
    contents.
    """

    def __init__(self, path):
        self._path, self._new = path, path + ".new"
        self._flaw = None
        self._file = files.create_file(self._new)
        self._write_data(DECLARATION + b"<testsuites>\n")

    def add_suite(self, made):
        self._write_data(xml.tostring(made, encoding="utf-8") + b"\n")

    def complete_file(self):
        """Complete the file. Return the reason if it could not be written, or None."""
        self._write_data(b"</testsuites>\n")
        self._file.close()
        self._call_and_store_error(os.replace, self._new, self._path)
        return self._flaw

    def _write_data(self, data):
        self._call_and_store_error(files.write_all_bytes, self._file, data)

    def _call_and_store_error(self, action, *arguments):
        """Call ACTION. If it raises OSError, store the error, because a full disk must not end the other runs."""
        try:
            if not self._flaw:
                action(*arguments)
        except OSError as error:
            self._flaw = f"{self._path} cannot be written: {error.strerror}"
