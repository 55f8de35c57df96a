"""Runs the queries in the folder sql/ in the order of their numbers. Each result becomes a table that later queries use."""
import contextlib
import glob
import os
import re

HOME = os.path.join(os.path.dirname(os.path.realpath(__file__)), "sql")
SHOWN_MAX = 20_000  # maximum number of rows of the result of a query that are shown
CLOCKS_MAX = 16     # maximum number of clocks that are shown, because each is a column of a table
CLOCK = re.compile(r"[a-z][a-z0-9_]{0,31}")  # pattern of a clock's name that is safe in a query


def read_queries():
    """Yield (name, text) of each query in order."""
    paths = sorted(glob.glob(os.path.join(HOME, "*-*.sql")), key=lambda path: int(os.path.basename(path).split("-")[0]))
    for path in paths:
        with open(path, encoding="ascii") as file:
            yield os.path.basename(path).split("-")[1][:-len(".sql")], file.read()


def make_sort_key(name):
    """Return a key that sorts names as people do: node2 before node10."""
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in re.split(r"([0-9]+)", name)]


class Answers:
    """The results of all queries on a data set."""

    shown_max = SHOWN_MAX

    def __init__(self, dataset, engine="duckdb"):
        self.names, self.cut = {}, []
        with contextlib.closing(dataset.open_engine(engine)) as base:
            for name, text in read_queries():
                base.store_table(name, text)
            self.names = {run: (machine, source, page, started_at) for run, machine, source, page, started_at in
                          base.run_query("SELECT run, machine, source, page, CAST(started_at AS VARCHAR(40)) FROM runs")[1]}
            self.outliers = self._query_first_rows(base, "outliers", "SELECT * FROM beyond WHERE NOT is_group ORDER BY score DESC, who, measure, subject")
            self.groups = self._query_first_rows(base, "groups", "SELECT kind, measure, subject, max(machines) AS machines, count(*) AS beyond "
                                      "FROM beyond WHERE is_group GROUP BY kind, measure, subject ORDER BY kind, measure, subject")
            self.unlike = self._query_first_rows(base, "unlike", "SELECT * FROM unlike ORDER BY score DESC, who, measure, subject")
            self.changes = self._query_first_rows(base, "changes", "SELECT * FROM changes ORDER BY span DESC, who, what, subject, "
                                      "before NULLS LAST, now NULLS LAST")
            self.versions = self._query_first_rows(base, "versions", "SELECT * FROM versions ORDER BY machines DESC, what, product, before, now, measure, subject")
            self.failures = self._query_first_rows(base, "failures", "SELECT * FROM failures ORDER BY who, rule, subject")
            self.warnings = self._query_first_rows(base, "warnings", "SELECT * FROM warnings ORDER BY who, rule, subject")
            self.kernels = self._query_first_rows(base, "kernels", "SELECT * FROM kernels ORDER BY abs(ppm) DESC, who")
            self.kinds = self._query_first_rows(base, "kinds", "SELECT * FROM kinds ORDER BY machines DESC, kind")
            self.kind_count, = base.run_query("SELECT count(*) FROM kinds")[1][0]
            self.known, self.unknown, self.failed, self.warned, self.misdated = base.run_query(
                "SELECT count(CASE WHEN place = 1 THEN machine END), count(CASE WHEN place = 1 AND machine IS NULL THEN 1 END), "
                "count(CASE WHEN place = 1 AND verdict = 'fail' THEN 1 END), "
                "count(CASE WHEN place = 1 AND verdict = 'warn' THEN 1 END), count(CASE WHEN misdated THEN 1 END) "
                "FROM measured")[1][0]
            self.machines = self._query_first_rows(base, "machines", "SELECT run, who, machine, known_by, coalesce(kind, '-') AS kind, verdict, runs_of_it, "
                                        "profile, tool_version FROM measured WHERE place = 1 ORDER BY who")
            self.tsc_rates = self._query_first_rows(base, "tsc_rates", "SELECT m.run, c.hz_value, c.hz_low, c.hz_high FROM measured m JOIN clocks c "
                                         "ON c.run = m.run WHERE m.place = 1 AND c.clock = 'tsc' ORDER BY m.who")
            self.read_clocks, self.reads = self._query_median_read_times(base)
            self.machines, self.reads = (sorted(rows, key=lambda row: make_sort_key(self.get_machine_name(row["run"])))
                                         for rows in (self.machines, self.reads))
            self.runs, self.not_done = base.run_query("SELECT count(*), count(reason) FROM runs")[1][0]
            self.undone = self._query_first_rows(base, "undone", "SELECT run, reason FROM runs WHERE reason IS NOT NULL ORDER BY source, run")

    def list_findings(self):
        """Return the findings as a set of (machine, kind, subject). A new finding changes the exit status of
        qemu/fleet.
        """
        return {("figure", row["who"], row["measure"], row["subject"]) for row in self.outliers} | {
            ("trait", row["who"], row["measure"], row["subject"]) for row in self.unlike} | {
            ("failure", row["who"], row["rule"], row["subject"]) for row in self.failures}

    def get_machine_name(self, run):
        """Return the machine's name as it is shown to users."""
        machine, source, *_ = self.names[run]
        return machine or f"not known: {source}"

    def _query_median_read_times(self, base):
        """Return (clocks whose reads were timed, the fastest first; one row for each machine, with the median time of a read of
        each clock in ns).
        """
        known = base.run_query("SELECT clock FROM clocks WHERE p50_ns IS NOT NULL GROUP BY clock ORDER BY min(p50_ns), clock")[1]
        clocks = [clock for clock, in known if clock and CLOCK.fullmatch(clock)][:CLOCKS_MAX]
        medians = "".join(f", max(CASE WHEN c.clock = '{clock}' THEN c.p50_ns END) AS ns_{clock}" for clock in clocks)
        return clocks, self._query_first_rows(base, "reads", f"SELECT m.run AS run, m.who AS who{medians} FROM measured m JOIN clocks c "
                                                 "ON c.run = m.run WHERE m.place = 1 AND c.p50_ns IS NOT NULL "
                                                 "GROUP BY m.run, m.who ORDER BY m.who")

    def _query_first_rows(self, base, name, query):
        """Return the first SHOWN_MAX rows of QUERY. If there are more, add NAME to self.cut."""
        names, rows = base.run_query(f"{query} LIMIT {self.shown_max + 1}")
        found = [dict(zip(names, row)) for row in rows]
        if len(found) > self.shown_max:
            self.cut.append(name)
        return found[:self.shown_max]
