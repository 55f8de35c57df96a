"""DuckDB, out of the environment that `make fleet` makes, whoever's Python this is."""
import os
import sys

HOME = os.path.normpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "build", "fleet-python"))
MEMORY_MAX = "1GB"
THREADS = 2
MISSING = "there is no DuckDB: `make fleet` puts it into build/fleet-python"


class Missing(Exception):
    """The environment has to be made first."""


def load():
    """The module duckdb."""
    place = os.path.join(HOME, "lib", f"python{sys.version_info[0]}.{sys.version_info[1]}", "site-packages")
    if place not in sys.path:
        sys.path.append(place)
    try:
        import duckdb
    except ImportError as error:
        raise Missing(MISSING) from error
    return duckdb


def connect(path=":memory:", folder=None):
    """A connection within bounds, whose spilled data goes into FOLDER, and which loads nothing from anywhere."""
    settings = {"memory_limit": MEMORY_MAX, "threads": THREADS, "autoinstall_known_extensions": False,
                "autoload_known_extensions": False}
    if folder:
        settings["temp_directory"] = folder
    return load().connect(path, config=settings)
