"""Makes text safe to show. Every line that is printed or written to JUnit, TAP and Markdown goes through clean_text()."""

LENGTH_MAX = 4000  # maximum number of characters of a sentence; the rest is cut


def clean_text(text, longest=LENGTH_MAX):
    """Return TEXT on one line, without escape sequences, control characters, and characters that change the direction of text."""
    text = str(text)
    if len(text) > longest:
        text = text[:longest] + "..."
    if text.isprintable():
        return text
    text = text.encode("utf-8", "backslashreplace").decode()  # the bytes of a path may not be valid UTF-8
    return "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in text)
