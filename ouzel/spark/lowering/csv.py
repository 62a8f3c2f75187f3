"""Reading CSV in a job's text: Spark's own reader, which goes by the first file's header, is given files that are alike.

At the end of a file that reader takes a quote for closed that nothing closes, so that a file which was cut reads as if it were whole.
"""

from __future__ import annotations

READ_CSV = "read_csv"
"""The function to call: session, path, the columns, and options of Spark's reader."""

CSV = '''def read_csv(spark: SparkSession, path: str, *columns: str, **options: object) -> DataFrame:
    """Columns by the names that each file's own header gives them: files may have them in another order."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for file in map(unquote, spark.read.text(path).inputFiles()):
        header = tuple(spark.read.csv(file, header=True, **options).columns)
        alike.setdefault(header, []).append(file)
    frames = []
    for header, files in alike.items():
        if header:
            fields = T.StructType([T.StructField(name, T.StringType()) for name in header])
            frames.append(spark.read.schema(fields).csv(files, header=True, **options).select(*columns))
    if not frames:
        return spark.createDataFrame([], ", ".join(f"{name} string" for name in columns))
    return reduce(DataFrame.union, frames)
'''
"""The function of a job that reads CSV."""


CLOSED = "closed"
"""The function that gives the path back, if it can: session, path, and of the reader's options those that it needs."""

CLOSED_QUOTES = '''def closed(spark: SparkSession, path: str, quote: str = '"', sep: str = ",") -> str:
    """The path, once it is known that its files close every quote: at the end of a file Spark's reader closes it unasked."""
    one, then = re.escape(quote), re.escape(sep)
    inside = f"[^{one}]*+(?:{one}{one}[^{one}]*+)*+"
    field = f"(?:{one}{inside}{one}|(?!{one})[^{then}]*+)"
    line = F.col("value")
    opens = line.rlike(f"^(?:{field}{then})*+{one}{inside}\\\\z")
    closes = line.rlike(f"^{inside}{one}(?:{then}(?:{field}{then})*+{field})?\\\\r?\\\\z")
    lines = spark.read.text(path, lineSep="\\n").where(line.contains(quote)).where(opens | closes)
    if lines.isEmpty():  # as of most files; what follows shuffles
        return path
    marked = lines.select(
        F.col("_metadata.file_path").alias("file"),
        F.struct("_metadata.file_block_start", F.monotonically_increasing_id()).alias("at"),
        opens.alias("opens"),
        closes.alias("closes"),
        F.substring(line, 1, 60).alias("text"),
    )
    sure = F.max(F.when(F.expr("opens != closes"), F.struct("at", "opens")))  # whatever was before this line
    turns = F.collect_list(F.when(F.expr("opens and closes"), F.col("at")))  # open behind this line if not before it
    opened = F.max(F.when(F.col("opens"), F.struct("at", "text")))
    files = marked.groupBy("file").agg(sure.alias("sure"), turns.alias("turns"), opened.alias("opened"))
    odd = "size(filter(turns, at -> sure is null or at > sure.at)) % 2 = 1"
    unclosed = files.where(f"coalesce(sure.opens, false) != ({odd})").select("file", "opened.text")
    for file, text in unclosed.limit(1).collect():
        raise ValueError(f"{unquote(file)} ends inside a quote that nothing closes, which opens in the line {text!r}")
    return path
'''
"""That function. Few lines open a quote that they do not close, or close one that they do not open: by those one knows how a file ends."""
