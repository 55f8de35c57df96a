"""Makes the sentences on findings, for the terminal and for fleet.html. A sentence must not be more certain than its figures."""
MACHINES_MIN = 5       # a conclusion needs at least so many machines of the same kind, or with the same version change
SHARE = 0.8            # a version change is named as a cause if this share of its machines shows the same effect
VERBS = {"rate error": ("rose", "fell"), "median read": ("is slower", "is faster")}


def format_number(value):
    """Return VALUE with four significant digits."""
    if value is None:
        return "-"
    size = abs(value)
    return f"{value:,.0f}" if size >= 1000 or value == int(value) else f"{value:.4g}"


def format_count(many, noun):
    return f"{many:,} {noun}{'' if many == 1 else 's'}"


def describe_fleet(failed, warned, unlike):
    """Return the headline: the numbers of machines that failed, have warnings, and are unlike their kind."""
    parts = [f"{format_count(failed, 'machine')} failed" if failed else "",
             f"{format_count(warned, 'machine')} with warnings" if warned else "",
             f"{format_count(unlike, 'machine')} unlike {'its' if unlike == 1 else 'their'} kind" if unlike else
             "no machine is proven to be unlike its kind"]
    text = "; ".join(filter(None, parts))
    return text[0].upper() + text[1:]


def describe_unknown_machines(reports):
    return (f"{format_count(reports, 'report')} of unknown machines, with neither a serial number nor a label; each counts as a "
            "machine of its own")


def describe_limitations(answers):
    """Return notes that are about all runs, such as the number of runs with a wrong date."""
    if answers.misdated:
        yield (f"{format_count(answers.misdated, 'run')} dated before 2024 or after the time of reading, because the machine's RTC is "
               "wrong; the time of reading counts as the date")
    if answers.cut:
        yield (f"Only the first {answers.shown_max:,} rows of these tables are shown and searched for new findings: "
               f"{', '.join(answers.cut)}")


def format_value_with_interval(row):
    """Return the value in ROW as text, with its unit. If the value has an interval, add the ends of the interval."""
    unit = f" {row['unit']}"
    if row["low"] is None or row["low"] == row["high"]:
        return format_number(row["value"]) + unit
    return f"{format_number(row['value'])}{unit} ({format_number(row['low'])} to {format_number(row['high'])})"


def describe_outlier(row):
    subject = "" if row["subject"] == "machine" else f"{row['subject']}, "
    return (f"{subject}{row['measure']}: {format_value_with_interval(row)}; the median of {format_count(row['machines'], 'machine')} of its kind is "
            f"{format_number(row['middle'])} {row['unit']}")


def describe_unusual_trait(row):
    what = row["measure"] if row["subject"] == "machine" else f"{row['subject']}, {row['measure']}"
    return f"{what}: {row['value']}; {row['machines_so']:,} of {format_count(row['machines'], 'machine')} of its kind have {row['usual']}"


def describe_failure(row):
    where = "" if row["subject"] == "machine" else f"{row['subject']}, "
    return f"{where}{row['rule']}: {row['text'] or 'the report has no details'}"


def describe_kernel_tsc_rate(row):
    """Return a sentence about the difference between the TSC rate that the kernel uses and the measured rate."""
    off = "low" if row["ppm"] > 0 else "high"
    clock = f"its clock is {row['kernel_clock']}" if row["kernel_clock"] else "its clock is not known"
    return (f"Linux {row['kernel'] or 'of unknown version'} counts the TSC with {row['believed_hz'] / 1e6:.6f} MHz, which is "
            f"{abs(row['ppm']):.3f} ppm too {off} ({row['ppm_low']:+.3f} to {row['ppm_high']:+.3f}); {clock}")


def describe_machine_change(row):
    """Return a sentence about a change and its date."""
    where = "" if row["subject"] == "machine" else f"{row['subject']}, "
    if row["what"] == "new finding":
        return f"{where}new finding: {row['now']}"
    if row["what"] == "finding gone":
        return f"{where}finding gone: {row['before']}"
    unit = {"rate error": " ppm", "median read": " ns"}.get(row["what"], "")
    values = [row["before"], row["now"]]
    if unit:
        values = [format_number(None if value is None else float(value)) for value in values]
    return f"{where}{row['what']}: {values[0]} before, now {values[1]}{unit}"


def describe_two_machine_groups(row):
    return (f"{row['kind']}: in {row['subject']}, {row['measure']}, {row['beyond']:,} of {format_count(row['machines'], 'machine')} are "
            "far from the rest: these are two groups, so none of them is an outlier")


def describe_version_changes(rows):
    """Yield (version change, number of machines, sentences) for each change of a product's version, such as a firmware update."""
    steps = {}
    for row in rows:
        steps.setdefault((row["what"], row["product"], row["before"], row["now"]), []).append(row)
    for (what, product, before, now), found in steps.items():
        machines = max(row["machines"] for row in found)
        yield f"{product}, {what} {before} to {now}", machines, list(_describe_update_effects(found, machines))


def _describe_update_effects(found, machines):
    if machines < MACHINES_MIN:
        yield f"not determined: {format_count(machines, 'machine')} had this version change, which is too few"
        return
    said = False
    for row in found:
        for changed, verb in zip((row["up"], row["down"]), VERBS.get(row["measure"], ("rose", "fell"))):
            if row["machines"] >= MACHINES_MIN and changed >= SHARE * row["machines"]:
                said = True
                yield (f"{row['subject']}: {row['measure']} {verb} on {changed:,} of {format_count(row['machines'], 'machine')}, "
                       f"median {format_number(row['middle_before'])} before, {format_number(row['middle_now'])} {row['unit']} after")
    if not said:
        yield f"no figure is proven to have changed on most of the {format_count(machines, 'machine')}"


def find_kinds_with_few_machines(kinds):
    """Return the kinds of machines that have too few machines for a comparison."""
    return [row for row in kinds if row["machines"] + row["not_known"] and (row["machines"] < MACHINES_MIN or row["kind"] == "-")]
