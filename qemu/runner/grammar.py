"""Checks baretick's options before a boot, by options.json, which is generated from the application's table of options.

tests/unit/report/options.cases lists inputs and their results. This file and src/options must give the same results.
"""
import json
import re

from results import files

NAME = "options.json"
SIZE_MAX = 1 << 20  # largest options.json in bytes
SHOWN_MAX = 48      # maximum number of characters of a word in a sentence
DIGITS_MAX = 19     # maximum number of digits of a number without leading zeros; no option allows a larger number
LIMIT = "limit."
NAME_MAX = 31       # maximum number of characters of a name, as in src/options/options.h
URL_MAX = 191       # maximum number of characters of a URL, as in src/options/url.h
# A comment or a word. Blanks and # between quotation marks are part of the word. Without a closing quotation mark, the
# quotation ends at the end of the line.
WORD = re.compile(r'#[^\r\n]*|((?:"[^"\r\n]*(?:"|(?=[\r\n]|\Z))|[^ \t\r\n#"])+)')
CONTROL = re.compile(r"[^\t\n\r -~\x80-\xff]")
# RFC 1123, 2.1: letters, digits and hyphens. The last part of a name must not be a number.
PART = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
BYTE = r"(?:0?[0-9]?[0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5])"
URL = re.compile(rf"http://(?:{BYTE}(?:\.{BYTE}){{3}}|(?:{PART}\.)*(?![0-9]+[:/]){PART})"
                 r"(?::(?P<port>[0-9]+))?/[A-Za-z0-9._~!$&'()*+,;=:@/?%-]*")


def find_similar_name(word, names):
    """Return the item of NAMES that WORD is similar to, or None. src/options/options_near.c does the same."""
    longest = {name: max(len(name), len(word)) for name in names if max(len(name), len(word)) <= NAME_MAX}
    counts = {name: count_edits_between(word.lower(), name.lower()) for name in longest}
    return min((name for name in counts if counts[name] * 3 <= longest[name]), key=counts.get, default=None)


def count_edits_between(word, name):
    """Return the number of single-letter changes from WORD to NAME. A change inserts, removes or replaces a letter, or swaps
    two neighbours.
    """
    above, row = [], list(range(len(name) + 1))
    for i, mine in enumerate(word):
        before, above, row = above, row, [i + 1]
        for j, its in enumerate(name):
            row.append(min(above[j] + (mine != its), above[j + 1] + 1, row[j] + 1))
            if i and j and mine == name[j - 1] and its == word[i - 1]:
                row[-1] = min(row[-1], before[j - 1] + 1)
    return row[-1]


def format_suggestion(word, names):
    """Return the question "did you mean ...?" for a misspelled WORD, or "" if no name is similar."""
    name = find_similar_name(word, names)
    return f" (did you mean {name}?)" if name else ""


def parse_number(digits):
    """Return the value of DIGITS, or None if they are not a number or above every maximum."""
    if not re.fullmatch("[0-9]+", digits) or len(digits.lstrip("0")) > DIGITS_MAX:
        return None
    return int(digits)


class Grammar:
    """The options of an application, with their valid values."""

    def __init__(self, path):
        self._all = json.loads(files.read_file(path, SIZE_MAX).decode("ascii"))
        self._options = self._all["options"]

    def find_option_flaws(self, data):
        """Return a sentence for each word that the application would refuse. DATA is the contents of the fw_cfg item."""
        text = data.decode("latin-1")  # latin-1 maps each byte to one character
        control = CONTROL.search(text)
        if control:
            return [f"the control character {ord(control[0]):02x}h at byte {control.start() + 1}; options are "
                    "key=value in printable ASCII"]
        words = [match[1] for match in WORD.finditer(text) if match[1]]
        return [f'"{make_printable(word)}" {flaw}' for word, flaw in ((word, self._find_flaw(word)) for word in words) if flaw]

    def _find_flaw(self, word):
        key, given, value = word.partition("=")
        rule = key[len(LIMIT):] if key.startswith(LIMIT) else None
        name = key if rule is None else f"{LIMIT}RULE"
        option = self._options.get(name)
        if option is None:
            return f"is not an option{format_suggestion(key, self._options)}; the options are {', '.join(self._options)}"
        if rule is not None and rule not in self._all["rules"]:
            return f"names no rule that has a limit{format_suggestion(rule, self._all['rules'])}; these have, with units that the option rules prints: {', '.join(self._all['rules'])}"
        if option["kind"] == "flag":
            return f"is not valid: {name} takes no value" if given else None
        if given and self._is_valid(option, value):
            return None
        return f"{'is not valid' + self._suggest_value(option, value) if given else 'has no value'}: {name}= takes {option['takes']}"

    def _suggest_value(self, option, value):
        if option["kind"] != "clocks":
            return format_suggestion(value, option["words"])
        clocks = self._all["clocks"]
        return format_suggestion(next(name for name in value.split(",") if name not in clocks), clocks)

    def _is_valid(self, option, value):
        return value in option["words"] or bool(getattr(self, f"_is_valid_{option['kind']}")(option, value))

    def _is_valid_words(self, _option, _value):
        return False

    def _is_valid_count(self, option, value):
        found = parse_number(value)
        return found is not None and option["min"] <= found <= option["max"]

    _is_valid_limit = _is_valid_count

    def _is_valid_time(self, option, value):
        parts = re.fullmatch("([0-9]+)([a-z]+)", value)
        unit = self._all["units"].get(parts[2]) if parts else None
        count = parse_number(parts[1]) if unit else None
        return count is not None and option["min"] <= count * unit <= option["max"]

    def _is_valid_percent(self, option, value):
        parts = re.fullmatch(r"([0-9]+)(?:\.([0-9]{1,6}))?", value)
        whole = parse_number(parts[1]) if parts else None
        return whole is not None and whole * 10**6 + int((parts[2] or "").ljust(6, "0")) <= option["max"]

    def _is_valid_text(self, option, value):
        inside = value[1:-1] if len(value) >= 2 and value[0] == value[-1] == '"' else value
        return re.fullmatch("[ !#-~]*", inside) and len(inside) <= option["max"]

    def _is_valid_clocks(self, _option, value):
        return all(name in self._all["clocks"] for name in value.split(","))

    def _is_valid_url(self, _option, value):
        parts = URL.fullmatch(value) if len(value) <= URL_MAX else None
        port = parse_number(parts["port"] or "1") if parts else None
        return port is not None and 1 <= port <= 65535


def make_printable(word):
    printable = re.sub("[^ -~]", "?", word[:SHOWN_MAX])
    return printable + ("..." if len(word) > SHOWN_MAX else "")
