"""Makes text safe to show, and prints it. No other module prints on a terminal, except for machine/console.py. Every line of JUnit,
TAP and Markdown goes through clean_text(), too.
"""
import argparse
import sys
import traceback

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


def print_line(text, stream=None, longest=LENGTH_MAX):
    """Print TEXT as one clean line on STREAM, or on the standard output."""
    stream = stream or sys.stdout
    encoding = stream.encoding or "ascii"
    print(clean_text(text, longest).encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)


def print_error(text):
    print_line(text, sys.stderr)


def print_exception():
    """Print the present exception, and where it was raised."""
    for line in traceback.format_exc().splitlines():
        print_error(line)


class ArgumentParser(argparse.ArgumentParser):
    """Prints messages as clean lines. An argument in them may be the name of a file, which others have chosen."""

    def _print_message(self, message, file=None):
        for line in (message or "").splitlines():
            print_line(line, file or sys.stderr)
