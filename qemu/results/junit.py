"""The cases of a run as a JUnit report."""
import xml.etree.ElementTree as xml

from results.plain import clean

ELEMENTS = {"fail": "failure", "error": "error", "skip": "skipped"}


def render(cases, elapsed_s, properties=None):
    count = {outcome: str(sum(case.outcome == outcome for case in cases)) for outcome in ELEMENTS}
    suite = xml.Element("testsuite", name="baretick", tests=str(len(cases)), failures=count["fail"],
                        errors=count["error"], skipped=count["skip"], time=f"{elapsed_s:.3f}")
    if properties:
        listed = xml.SubElement(suite, "properties")
        for name, value in properties.items():
            xml.SubElement(listed, "property", name=name, value=clean(value))
    for case in cases:
        node = xml.SubElement(suite, "testcase", classname=f"baretick.{case.group}", name=clean(case.name))
        text = clean(case.text)
        if case.outcome in ELEMENTS:
            xml.SubElement(node, ELEMENTS[case.outcome], message=text)
        elif text:
            xml.SubElement(node, "system-out").text = text
    return xml.tostring(suite, encoding="utf-8", xml_declaration=True) + b"\n"
