"""Runs DuckDB from the environment that `make fleet` makes, with any Python."""
import os
import sys

BUILD = os.path.normpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "build"))
MEMORY_MAX = "1GB"
THREADS = 2
MISSING = "there is no DuckDB: `make fleet` puts it into build/fleet-python"


class Missing(Exception):
    """The environment does not exist yet; the message says how to make it."""


class Failed(Exception):
    """The engine failed to answer a query."""


def reach(environment):
    """Add the packages of build/ENVIRONMENT to this Python's path."""
    place = os.path.join(BUILD, environment, "lib", f"python{sys.version_info[0]}.{sys.version_info[1]}", "site-packages")
    if place not in sys.path:
        sys.path.append(place)


def load():
    """Return the module duckdb."""
    reach("fleet-python")
    try:
        import duckdb
    except ImportError as error:
        raise Missing(MISSING) from error
    return duckdb


def connect(path=":memory:", folder=None):
    """Return a connection with limits on memory and threads. FOLDER is for data that does not fit into memory. The connection
    loads no extensions."""
    settings = {"memory_limit": MEMORY_MAX, "threads": THREADS, "autoinstall_known_extensions": False,
                "autoload_known_extensions": False}
    if folder:
        settings["temp_directory"] = folder
    return load().connect(path, config=settings)


class DuckDB:
    """Answers queries on the tables that the connection BASE has; lab.spark's Spark does the same."""

    def __init__(self, base):
        self.base = base

    def table(self, name, query):
        """Make the result of QUERY a table NAME."""
        self.base.execute(f"CREATE TEMP TABLE {name} AS\n{query}")

    def rows(self, query):
        """Return (names of the columns, rows) of QUERY."""
        done = self.base.execute(query)
        return [column[0] for column in done.description], done.fetchall()

    def close(self):
        self.base.close()
