"""The cases of a run as a JUnit report."""
import xml.etree.ElementTree as xml

ELEMENTS = {"fail": "failure", "error": "error", "skip": "skipped"}


def allowed(text):
    """TEXT without the characters that XML 1.0 has no way to say."""
    return "".join(c if c in "\t\n\r" or " " <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" or c > "\uffff" else "?"
                   for c in text)


def render(cases, elapsed_s):
    count = {outcome: str(sum(case.outcome == outcome for case in cases)) for outcome in ELEMENTS}
    suite = xml.Element("testsuite", name="baretick", tests=str(len(cases)), failures=count["fail"],
                        errors=count["error"], skipped=count["skip"], time=f"{elapsed_s:.3f}")
    for case in cases:
        node = xml.SubElement(suite, "testcase", classname=f"baretick.{case.group}", name=allowed(case.name))
        text = allowed(case.text)
        if case.outcome in ELEMENTS:
            xml.SubElement(node, ELEMENTS[case.outcome], message=text)
        elif text:
            xml.SubElement(node, "system-out").text = text
    return xml.tostring(suite, encoding="utf-8", xml_declaration=True) + b"\n"
