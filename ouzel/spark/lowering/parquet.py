"""Reading Parquet in a job's text: Spark's own reader, behind a look at the types that the files hold.

The rule is that of connectors/formats/widening.py, in Spark's terms; a test compares the two. A job has of it what its columns need.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ouzel.compiler.functions.spark_types import to_spark_type
from ouzel.compiler.types import ArrayType, DataType, DecimalType, MapType, RowType, walk_type
from ouzel.spark.lowering.layout import assignment
from ouzel.spark.lowering.text import docstring, quote

READ_PARQUET = "read_parquet"
"""The function to call: session, path, and the columns in DDL, in as many texts as one likes."""

WIDER = {
    "smallint": "tinyint", "int": "tinyint smallint", "bigint": "tinyint smallint int", "double": "tinyint smallint int float",
    "binary": "string", "timestamp_ntz": "date timestamp", "timestamp": "timestamp_ntz",
}  # fmt: skip
"""Declared type -> types of files that it takes besides itself; decimals and what is nested have rules of their own."""

CASES: dict[type[DataType], str] = {
    RowType: """\
        case T.StructType(), T.StructType():
            there = {field.name.lower(): field.dataType for field in held}
            return all(f.name.lower() in there and fits(there[f.name.lower()], f.dataType) for f in declared)
""",
    ArrayType: """\
        case T.ArrayType(), T.ArrayType():
            return fits(held.elementType, declared.elementType)
""",
    MapType: """\
        case T.MapType(), T.MapType():
            return fits(held.keyType, declared.keyType) and fits(held.valueType, declared.valueType)
""",
    DecimalType: """\
        case T.DecimalType(), T.DecimalType():
            return 0 <= declared.scale - held.scale <= declared.precision - held.precision
        case T.IntegralType(), T.DecimalType():
            return declared.precision - declared.scale >= (20 if held == T.LongType() else 10)
""",
}

FITS = '''def fits(held: T.DataType, declared: T.DataType) -> bool:
    """Whether a column of the declared type has a place for every value of the type that a file holds."""
    match held, declared:
'''

READER = '''def read_parquet(spark: SparkSession, path: str, *columns: str) -> DataFrame:
    """The files' columns by name, in types that lose nothing."""
    table = T.StructType.fromDDL(", ".join(columns))
    try:
        frames = [spark.read.parquet(path, mergeSchema=True)]
    except Exception as error:
        if "CANNOT_MERGE_SCHEMAS" not in str(error):  # one column has several types
            raise
        frames = [spark.read.parquet(file) for file in spark.read.schema(table).parquet(path).inputFiles()]
    held = [(field.name, field.dataType) for frame in frames for field in frame.schema]
    for column in table:
        declared = column.dataType.simpleString()
        kinds = [kind for name, kind in held if name.lower() == column.name.lower()]
        if not kinds:
            raise ValueError(f"{path} has no column '{column.name}'; it has {', '.join(dict(held))}")
        for kind in kinds:
            if REFUSED:
                raise ValueError(
                    f"{path} holds column '{column.name}' as {kind.simpleString()}, and the table declares it {declared}, "
                    "which cannot take every value of it; declare it as the file has it, and CAST it in the query"
                )
    is_exact = len(frames) == 1 and all((column.name, column.dataType) in held for column in table)
    return frames[0].to(table) if is_exact else spark.read.schema(table).parquet(path)
'''


def parquet_reader(declared: Iterable[DataType], of_folders: bool = False) -> str:
    """The functions of a job that reads Parquet into columns of these types; `of_folders` if it is given lists of folders too."""
    kinds = [part for kind in declared for part in walk_type(kind)]
    names, there = {to_spark_type(kind) for kind in kinds}, {type(kind) for kind in kinds}
    wider = {name: held for name, held in WIDER.items() if name in names}
    cases = [case for kind, case in CASES.items() if kind in there]
    reader = _reader(cases, wider)
    parts = (_wider(wider), _fits(cases, wider), _of_folders(reader) if of_folders else reader)
    return "\n\n".join(part for part in parts if part)


Wider = Mapping[str, str]


def _wider(wider: Wider) -> str:
    if not wider:
        return ""
    items = ", ".join(f"{quote(name)}: {quote(held)}" for name, held in wider.items())
    told = (
        "What a column may be in a file besides what it is in the table. Spark alone would cut an INT for a SMALLINT."
    )
    return "\n".join([*assignment("WIDER", [f"{{{items}}}"]), docstring(told), ""])


def _fits(cases: Sequence[str], wider: Wider) -> str:
    taken = ' or held.simpleString() in WIDER.get(declared.simpleString(), "").split()' if wider else ""
    return f"{FITS}{''.join(cases)}    return held == declared{taken}\n" if cases else ""


def _of_folders(reader: str) -> str:
    first, line, rest = reader.partition("    table = ")
    named = "    paths, path = ([path], path) if isinstance(path, str) else (path, path[0])\n"
    return (
        first.replace("path: str", "path: str | list[str]")
        + named
        + (line + rest).replace(".parquet(path", ".parquet(*paths")
    )


def _reader(cases: Sequence[str], wider: Wider) -> str:
    taken = 'kind.simpleString() not in [declared, *WIDER.get(declared, "").split()]'
    plain = taken if wider else "kind.simpleString() != declared"
    return READER.replace("REFUSED", "not fits(kind, column.dataType)" if cases else plain)
