"""What the data set is asked: the queries of sql/, in their order, each a table for those after it."""
import contextlib
import glob
import os

HOME = os.path.join(os.path.dirname(os.path.realpath(__file__)), "sql")
SHOWN_MAX = 20_000  # rows of one answer


def queries():
    """(name, text) of each, in order."""
    paths = sorted(glob.glob(os.path.join(HOME, "*-*.sql")), key=lambda path: int(os.path.basename(path).split("-")[0]))
    for path in paths:
        with open(path, encoding="ascii") as file:
            yield os.path.basename(path).split("-")[1][:-len(".sql")], file.read()


class Answers:
    """The tables that the queries made of a data set."""

    def __init__(self, dataset):
        self.names = {}
        with contextlib.closing(dataset.connect()) as base:
            for name, text in queries():
                base.execute(f"CREATE TEMP TABLE {name} AS\n{text}")
            self.names = {run: (machine, source, page, started_at) for run, machine, source, page, started_at in
                          base.execute("SELECT run, machine, source, page, CAST(started_at AS VARCHAR) FROM runs").fetchall()}
            self.outliers = _rows(base, "SELECT * FROM beyond WHERE NOT is_group ORDER BY score DESC, who, measure, subject")
            self.groups = _rows(base, "SELECT kind, measure, subject, max(machines) AS machines, count(*) AS beyond "
                                      "FROM beyond WHERE is_group GROUP BY kind, measure, subject ORDER BY kind, measure, subject")
            self.unlike = _rows(base, "SELECT * FROM unlike ORDER BY score DESC, who, measure, subject")
            self.changes = _rows(base, "SELECT * FROM changes ORDER BY span DESC, who, what, subject, before, now")
            self.versions = _rows(base, "SELECT * FROM versions ORDER BY machines DESC, what, product, before, now, measure, subject")
            self.failures = _rows(base, "SELECT * FROM failures ORDER BY who, rule, subject")
            self.kinds = _rows(base, "SELECT * FROM kinds ORDER BY machines DESC, kind")
            self.machines = _rows(base, "SELECT run, who, machine, known_by, coalesce(kind, '-') AS kind, verdict, runs_of_it, "
                                        "profile, tool_version FROM measured WHERE place = 1 ORDER BY who")
            self.runs, self.not_done = base.execute(
                "SELECT count(*), count(reason) FROM runs").fetchone()

    def odd(self):
        """{(machine, what, of what)} of what is to be looked at: what is new of it is worth an exit status."""
        return {("figure", row["who"], row["measure"], row["subject"]) for row in self.outliers} | {
            ("trait", row["who"], row["measure"], row["subject"]) for row in self.unlike} | {
            ("failure", row["who"], row["rule"], row["subject"]) for row in self.failures}

    def name(self, run):
        """What people call the machine of RUN."""
        machine, source, *_ = self.names[run]
        return machine or f"not known: {source}"


def _rows(base, query):
    done = base.execute(f"{query} LIMIT {SHOWN_MAX}")
    names = [column[0] for column in done.description]
    return [dict(zip(names, row)) for row in done.fetchall()]
