"""Stores reports as Parquet files: DIR/data/TABLE/day=DAY/LOAD-*.parquet. One call of add() is a load. A load is stored
completely or not at all."""
import contextlib
import datetime
import fcntl
import glob
import json
import os
import shutil

from heap import gather, rows
from lab import engine, spark
from results import files

TOLD = "told.json"


class Busy(Exception):
    """Another process uses the folder."""


class Dataset:
    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.data = os.path.join(self.folder, "data")
        self.staging = os.path.join(self.folder, ".load")
        os.makedirs(self.data, exist_ok=True)
        self.lock = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self.lock)
            raise Busy(f"{folder} is in use by another qemu/fleet") from error
        self._sweep()

    def close(self):
        shutil.rmtree(self.staging, ignore_errors=True)
        os.close(self.lock)

    def _files(self, table):
        return glob.glob(os.path.join(glob.escape(self.data), table, "day=*", "*.parquet"))

    def _sweep(self):
        """Remove the incomplete files of a load that was killed. A load writes its runs last, so rows without a run are
        incomplete.
        """
        shutil.rmtree(self.staging, ignore_errors=True)
        whole = {self._part(path) for path in self._files("runs")}
        for path in (path for table in rows.DETAILS for path in self._files(table)):
            if self._part(path) not in whole:
                os.remove(path)

    @staticmethod
    def _part(path):
        folder, name = os.path.split(path)
        return os.path.basename(folder), name.split("-")[0]

    def connect(self, path=":memory:"):
        """Return a connection that has the tables as views."""
        base = engine.connect(path, os.path.join(self.folder, ".load"))
        for table in rows.COLUMNS:
            base.execute(f"CREATE OR REPLACE TEMP VIEW {table} AS {self._select(table)}")
        return base

    def asked(self, name):
        """Return the engine NAME (duckdb or spark), which can answer queries on the tables."""
        return spark.Spark(self.data) if name == "spark" else engine.DuckDB(self.connect())

    def _select(self, table):
        empty = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind, _ in rows.SPREAD_COLUMNS[table])
        if not self._files(table):
            return f"SELECT {empty} WHERE 1 = 0"
        names = ", ".join(name for name, _, _ in rows.SPREAD_COLUMNS[table])
        where = os.path.join(glob.escape(self.data), table, "*", "*.parquet").replace("'", "''")
        # Files that an older qemu/fleet wrote may lack a column.
        return (f"SELECT {names} FROM (SELECT * FROM read_parquet('{where}', hive_partitioning = true, "
                f"hive_types = {{'day': VARCHAR}}, union_by_name = true) UNION ALL BY NAME SELECT {empty} WHERE 1 = 0)")

    def known(self):
        """Return the digests of all stored reports."""
        with contextlib.closing(self.connect()) as base:
            return frozenset(digest for digest, in base.execute("SELECT run FROM runs").fetchall())

    def add(self, words, refuse):
        """Add the reports of the files, folders and sticks WORDS. Return (number of new reports, number of reports that were
        already stored)."""
        now = datetime.datetime.now(datetime.timezone.utc)
        load = now.strftime("%Y%m%dT%H%M%S%f")
        known, seen, again = self.known(), set(), 0
        os.makedirs(self.staging)
        with contextlib.ExitStack() as open_files:
            into = {table: open_files.enter_context(open(os.path.join(self.staging, table), "w", encoding="ascii"))
                    for table in rows.COLUMNS}
            for digest, tables in gather.gather(words, known, now.replace(tzinfo=None).isoformat(" "), refuse):
                if tables is None or digest in seen:
                    again += 1
                    continue
                seen.add(digest)
                for table, lines in tables.items():
                    into[table].write(lines)
        if seen:
            self._write(load)
        return len(seen), again

    def _write(self, load):
        with contextlib.closing(engine.connect(":memory:", os.path.join(self.staging, "spilled"))) as base:
            for table in rows.COLUMNS:
                lines = os.path.join(self.staging, table)
                if os.path.getsize(lines):
                    self._copy(base, table, lines, load)
        for table in [*rows.DETAILS, "runs"]:
            self._move(table)

    def _copy(self, base, table, lines, load):
        columns = ", ".join(f"{name}: '{kind}'" for name, kind, _ in rows.SPREAD_COLUMNS[table])
        base.execute(f"COPY (SELECT * FROM read_json(?, format = 'newline_delimited', columns = {{{columns}}}) ORDER BY day) "
                     f"TO '{self.staging.replace(chr(39), chr(39) * 2)}/{table}.parquet' "
                     f"(FORMAT parquet, PARTITION_BY (day), FILENAME_PATTERN '{load}-{{i}}')", [glob.escape(lines)])

    def _move(self, table):
        made = os.path.join(self.staging, f"{table}.parquet")
        for path in glob.glob(os.path.join(glob.escape(made), "day=*", "*.parquet")):
            to = os.path.join(self.data, table, os.path.relpath(path, made))
            os.makedirs(os.path.dirname(to), exist_ok=True)
            os.rename(path, to)

    def told(self):
        """Return the findings that were printed last, or None if there is no such list."""
        try:
            with open(os.path.join(self.folder, TOLD), encoding="ascii") as file:
                return {tuple(each) for each in json.load(file)}
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def tell(self, odd):
        files.replace(os.path.join(self.folder, TOLD), json.dumps(sorted(odd)).encode("ascii"))

    def export(self, path):
        """Write a DuckDB database with the same tables to PATH. It replaces an older file."""
        new = path + ".new"
        with contextlib.suppress(FileNotFoundError):
            os.remove(new)
        with contextlib.closing(engine.connect(new)) as base:
            for table in rows.COLUMNS:
                base.execute(f"CREATE TABLE {table} AS {self._select(table)}")
        os.replace(new, path)
