"""Runs queries in Spark, which `make fleet-spark` installs. Spark runs on this machine only, not on a cluster."""
import contextlib
import os
import shutil
import tempfile

from readers import rows
from lab import engine

MEMORY_MAX = "1g"
THREADS = 2
MISSING = "there is no Spark: `make fleet-spark` puts it into build/fleet-spark"
NO_JAVA = "Spark needs Java 17 or later: neither JAVA_HOME nor PATH leads to one (`make fleet-spark` installs it)"
SETTINGS = {
    "spark.master": f"local[{THREADS}]", "spark.app.name": "qemu/fleet", "spark.driver.memory": MEMORY_MAX,
    "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
    "spark.sql.catalogImplementation": "in-memory", "spark.sql.shuffle.partitions": str(THREADS),
    # Types as in DuckDB: times without a zone, and days that are text, because a day may be `unknown`.
    "spark.sql.session.timeZone": "UTC", "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
}
KINDS = {"VARCHAR": "STRING", "TIMESTAMP": "TIMESTAMP_NTZ"}


def find_java():
    """Return the path of the program java, or None."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which(os.path.join(home, "bin", "java") if home else "java")


def load_spark():
    """Return the module pyspark.sql."""
    engine.add_packages_to_sys_path("fleet-spark")
    try:
        import pyspark.sql
    except ImportError as error:
        raise engine.Missing(MISSING) from error
    if not find_java():
        raise engine.Missing(NO_JAVA)
    return pyspark.sql


def start_session(folder):
    """Return a session whose files are in FOLDER. Messages of Spark's Java program go to a file in FOLDER, because they are of no
    use to users.
    """
    builder = load_spark().SparkSession.builder
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    builder = builder.config("spark.local.dir", folder).config("spark.sql.warehouse.dir", os.path.join(folder, "warehouse"))
    for name in [name for name in os.environ if name.startswith(("SPARK_", "PYSPARK_"))]:
        del os.environ[name]  # removes settings that belong to another installation of Spark
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    log = os.path.join(folder, "log")
    errors = os.dup(2)
    try:
        with open(log, "wb") as file:
            os.dup2(file.fileno(), 2)
        return builder.getOrCreate()
    except Exception as error:
        with open(log, encoding="utf-8", errors="replace") as file:
            said = [line.strip() for line in file if line.strip() and not line.startswith("WARN")]
        raise engine.Missing(f"Spark, which needs Java 17 or later, did not start with {find_java()}: {(said or [error])[0]}") from error
    finally:
        os.dup2(errors, 2)
        os.close(errors)


@contextlib.contextmanager
def raise_spark_errors_as_failed():
    """Turn exceptions of Spark and of the connection to its Java program into engine.Failed, with the first line of their text.
    """
    import py4j.protocol
    import pyspark.errors

    try:
        yield
    except (py4j.protocol.Py4JError, pyspark.errors.PySparkException, OSError, EOFError) as error:
        lines = str(error).strip().splitlines()
        raise engine.Failed(f"Spark failed: {lines[0] if lines else type(error).__name__}") from error


class Spark:
    """Answers queries on the Parquet files in the folder DATA. Has the same functions as lab.engine's DuckDB."""

    def __init__(self, data):
        self.folder = tempfile.mkdtemp(prefix="baretick-spark-")
        self.session = None
        try:
            self.session = start_session(self.folder)
            # Spark treats a path as a pattern, so the data is read through a link whose path has no characters with a meaning in
            # a pattern.
            link = os.path.join(self.folder, "data")
            os.symlink(data, link)
            nothing = os.path.join(self.folder, "nothing")
            os.mkdir(nothing)
            for table, columns in rows.SPREAD_COLUMNS.items():
                schema = ", ".join(f"{name} {KINDS.get(kind, kind)}" for name, kind, _ in columns)
                self._create_view(table, os.path.join(link, table) if os.path.isdir(os.path.join(data, table)) else nothing, schema)
        except BaseException:
            self.close()
            raise

    def _create_view(self, name, path, schema):
        with raise_spark_errors_as_failed():
            self.session.read.schema(schema).parquet(path).createOrReplaceTempView(name)

    def store_table(self, name, query):
        """Store the result of QUERY as the table NAME. It is stored in a file, because Spark recomputes a view at each use."""
        path = os.path.join(self.folder, name)
        with raise_spark_errors_as_failed():
            frame = self.session.sql(query)
            frame.write.parquet(path)
            schema = frame.schema
        self._create_view(name, path, schema)

    def run_query(self, query):
        """Run QUERY. Return (names of the columns, rows)."""
        with raise_spark_errors_as_failed():
            frame = self.session.sql(query)
            return frame.columns, [tuple(row) for row in frame.collect()]

    def close(self):
        if self.session:
            with contextlib.suppress(engine.Failed), raise_spark_errors_as_failed():
                self.session.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
