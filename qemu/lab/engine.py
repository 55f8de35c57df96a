"""Runs DuckDB, which `make fleet` installs in a separate Python environment. This file works in any version of Python."""
import contextlib
import os
import sys

from results import product

MEMORY_MAX = "1GB"
THREADS = 2
MISSING = ("there is no DuckDB: install the Python package duckdb" if product.IS_RELEASE else
           "there is no DuckDB: `make fleet` puts it into build/fleet-python")


class Missing(Exception):
    """The environment with the engine is not installed. The message is a sentence that says how to install it."""


class Failed(Exception):
    """The engine failed to answer a query."""


def add_packages_to_sys_path(environment):
    """Add the packages of build/ENVIRONMENT to this Python's path."""
    place = os.path.join(product.BUILD, environment, "lib", f"python{sys.version_info[0]}.{sys.version_info[1]}", "site-packages")
    if place not in sys.path:
        sys.path.append(place)


def load_duckdb():
    """Return the module duckdb."""
    add_packages_to_sys_path("fleet-python")
    try:
        import duckdb
    except ImportError as error:
        raise Missing(MISSING) from error
    return duckdb


@contextlib.contextmanager
def raise_duckdb_errors_as_failed():
    """Turn exceptions of DuckDB into Failed, with the first line of their text. For example, a Parquet file may be damaged."""
    try:
        yield
    except load_duckdb().Error as error:
        raise Failed(f"DuckDB failed: {(str(error).strip().splitlines() or [type(error).__name__])[0]}") from error


def connect_to_duckdb(path=":memory:", folder=None):
    """Return a connection with limits on memory and threads. Data that does not fit into memory is stored in FOLDER. The
    connection loads no extensions.
    """
    settings = {"memory_limit": MEMORY_MAX, "threads": THREADS, "autoinstall_known_extensions": False,
                "autoload_known_extensions": False}
    if folder:
        settings["temp_directory"] = folder
    return load_duckdb().connect(path, config=settings)


class DuckDB:
    """Answers queries on the tables of the connection BASE. Has the same functions as lab.spark's Spark."""

    def __init__(self, base):
        self.base = base

    def store_table(self, name, query):
        """Store the result of QUERY as the table NAME."""
        self.base.execute(f"CREATE TEMP TABLE {name} AS\n{query}")

    def run_query(self, query):
        """Run QUERY. Return (names of the columns, rows)."""
        done = self.base.execute(query)
        return [column[0] for column in done.description], done.fetchall()

    def close(self):
        self.base.close()
