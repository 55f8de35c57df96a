"""Stores reports as Parquet files: DIR/data/TABLE/day=DAY/LOAD-*.parquet. LOAD stands for one call of add_reports(), whose rows
are stored completely or not at all."""
import contextlib
import datetime
import fcntl
import glob
import json
import os
import shutil

from readers import gather, rows
from lab import engine, spark
from results import files

PRINTED = "told.json"
PRINTED_MAX = 64 << 20  # bytes


class Busy(Exception):
    """Another process uses the folder of the data set."""


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
        self._remove_incomplete_files()

    def close(self):
        shutil.rmtree(self.staging, ignore_errors=True)
        os.close(self.lock)

    def _list_files(self, table):
        return glob.glob(os.path.join(glob.escape(self.data), table, "day=*", "*.parquet"))

    def _remove_incomplete_files(self):
        """Remove the files of a load that was killed. A load stores its file of the table `runs` last, so a load without this
        file is incomplete.
        """
        shutil.rmtree(self.staging, ignore_errors=True)
        whole = {self._get_day_and_batch_name(path) for path in self._list_files("runs")}
        for path in (path for table in rows.DETAILS for path in self._list_files(table)):
            if self._get_day_and_batch_name(path) not in whole:
                os.remove(path)

    @staticmethod
    def _get_day_and_batch_name(path):
        folder, name = os.path.split(path)
        return os.path.basename(folder), name.split("-")[0]

    def connect_to_tables(self, path=":memory:"):
        """Return a DuckDB connection in which each table of the data set is a view."""
        base = engine.connect_to_duckdb(path, os.path.join(self.folder, ".load"))
        for table in rows.COLUMNS:
            base.execute(f"CREATE OR REPLACE TEMP VIEW {table} AS {self._make_select_query(table)}")
        return base

    def open_engine(self, name):
        """Return the engine NAME (duckdb or spark), which can answer queries on the tables."""
        return spark.Spark(self.data) if name == "spark" else engine.DuckDB(self.connect_to_tables())

    def _make_select_query(self, table):
        empty = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind, _ in rows.SPREAD_COLUMNS[table])
        if not self._list_files(table):
            return f"SELECT {empty} WHERE 1 = 0"
        names = ", ".join(name for name, _, _ in rows.SPREAD_COLUMNS[table])
        where = os.path.join(glob.escape(self.data), table, "*", "*.parquet").replace("'", "''")
        # Files that an older qemu/fleet wrote may lack a column. The second SELECT adds it with the value NULL.
        return (f"SELECT {names} FROM (SELECT * FROM read_parquet('{where}', hive_partitioning = true, "
                f"hive_types = {{'day': VARCHAR}}, union_by_name = true) UNION ALL BY NAME SELECT {empty} WHERE 1 = 0)")

    def list_known_reports(self):
        """Return the digests of all stored reports."""
        with contextlib.closing(self.connect_to_tables()) as base:
            return frozenset(digest for digest, in base.execute("SELECT run FROM runs").fetchall())

    def add_reports(self, words, refuse, rejudged=None):
        """Add the reports in WORDS, which are paths of files, folders and sticks. Return (number of new reports, number of
        reports that were already stored). Unless REJUDGED is None, reports with a record are judged again, and REJUDGED counts
        them.
        """
        now = datetime.datetime.now(datetime.timezone.utc)
        load = now.strftime("%Y%m%dT%H%M%S%f")
        known, seen, again = self.list_known_reports(), set(), 0
        os.makedirs(self.staging)
        with contextlib.ExitStack() as open_files:
            into = {table: open_files.enter_context(open(os.path.join(self.staging, table), "w", encoding="ascii"))
                    for table in rows.COLUMNS}
            for digest, tables in gather.gather_reports(words, known, now.replace(tzinfo=None).isoformat(" "), refuse, rejudged):
                if tables is None or digest in seen:
                    again += 1
                    continue
                seen.add(digest)
                for table, lines in tables.items():
                    into[table].write(lines)
        if seen:
            self._store_batch_as_parquet(load)
        return len(seen), again

    def _store_batch_as_parquet(self, load):
        with contextlib.closing(engine.connect_to_duckdb(":memory:", os.path.join(self.staging, "spilled"))) as base:
            for table in rows.COLUMNS:
                lines = os.path.join(self.staging, table)
                if os.path.getsize(lines):
                    self._write_parquet_files(base, table, lines, load)
        for table in [*rows.DETAILS, "runs"]:
            self._move_parquet_files_into_data_set(table)

    def _write_parquet_files(self, base, table, lines, load):
        columns = ", ".join(f"{name}: '{kind}'" for name, kind, _ in rows.SPREAD_COLUMNS[table])
        base.execute(f"COPY (SELECT * FROM read_json(?, format = 'newline_delimited', columns = {{{columns}}}) ORDER BY day) "
                     f"TO '{self.staging.replace(chr(39), chr(39) * 2)}/{table}.parquet' "
                     f"(FORMAT parquet, PARTITION_BY (day), FILENAME_PATTERN '{load}-{{i}}')", [glob.escape(lines)])

    def _move_parquet_files_into_data_set(self, table):
        made = os.path.join(self.staging, f"{table}.parquet")
        for path in glob.glob(os.path.join(glob.escape(made), "day=*", "*.parquet")):
            to = os.path.join(self.data, table, os.path.relpath(path, made))
            os.makedirs(os.path.dirname(to), exist_ok=True)
            os.rename(path, to)

    def read_printed_findings(self):
        """Return the findings that the last call of qemu/fleet printed, or None if there are none yet."""
        try:
            found = {tuple(each) for each in files.parse_json(files.read_file(os.path.join(self.folder, PRINTED), PRINTED_MAX))}
            sorted(found)  # save_printed_findings() sorts them together with new ones
            return found
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def save_printed_findings(self, findings):
        files.replace_file(os.path.join(self.folder, PRINTED), json.dumps(sorted(findings)).encode("ascii"))

    def export_database(self, path):
        """Write all tables of the data set to PATH, as a DuckDB database. An older file at PATH is replaced."""
        new = path + ".new"
        with contextlib.suppress(FileNotFoundError):
            os.remove(new)
        with contextlib.closing(engine.connect_to_duckdb(new)) as base:
            for table in rows.COLUMNS:
                base.execute(f"CREATE TABLE {table} AS {self._make_select_query(table)}")
        os.replace(new, path)
