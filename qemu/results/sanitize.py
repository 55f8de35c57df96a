"""The one place where text becomes safe to show: every terminal line, JUnit, TAP and Markdown goes through clean()."""

LENGTH_MAX = 4000  # characters of a sentence; the rest is cut


def clean(text, longest=LENGTH_MAX):
    """TEXT on one line, without escapes, controls, or characters that turn the direction of writing round."""
    text = str(text)
    if len(text) > longest:
        text = text[:longest] + "..."
    if text.isprintable():
        return text
    text = text.encode("utf-8", "backslashreplace").decode()  # bytes of a path that are no text
    return "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in text)
