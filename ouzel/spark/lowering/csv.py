"""Reading CSV with headers in a job's text: Spark's own reader, which goes by the first file's header, is given files that are alike."""

from __future__ import annotations

READ_CSV = "read_csv"
"""The function to call: session, path, the columns, and options of Spark's reader."""

CSV = '''def read_csv(spark: SparkSession, path: str, *columns: str, **options: object) -> DataFrame:
    """Columns by the names that each file's own header gives them: files may have them in another order."""
    files: dict[tuple[str, ...], list[str]] = {}
    for file in map(unquote, spark.read.text(path).inputFiles()):
        header = tuple(spark.read.csv(file, header=True, **options).columns)
        files.setdefault(header, []).append(file)
    frames = [
        spark.read.csv(alike, header=True, **options).select(*columns) for header, alike in files.items() if header
    ]
    empty = spark.createDataFrame([], ", ".join(f"{name} string" for name in columns))
    return reduce(DataFrame.union, frames[1:], frames[0]) if frames else empty
'''
"""The function of a job that reads CSV."""
