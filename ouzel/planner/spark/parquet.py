"""Reading Parquet in a job's text: Spark's own reader, behind a look at the types that the files hold.

The rule is that of connectors/formats/widening.py, in Spark's terms; a test compares the two.
"""

from __future__ import annotations

READ_PARQUET = "read_parquet"
"""The function to call: session, path, and the columns in DDL, in as many texts as one likes."""

PARQUET = '''WIDER = {
    "smallint": {"tinyint"},
    "int": {"tinyint", "smallint"},
    "bigint": {"tinyint", "smallint", "int"},
    "double": {"tinyint", "smallint", "int", "float"},
    "binary": {"string"},
    "timestamp_ntz": {"date", "timestamp"},
    "timestamp": {"timestamp_ntz"},
}
"""What a column may be in a file besides what it is in the table. Spark alone would cut an INT for a SMALLINT."""


def fits(held: T.DataType, declared: T.DataType) -> bool:
    """Whether a column of the declared type has a place for every value of the type that a file holds."""
    match held, declared:
        case T.StructType(), T.StructType():
            there = {field.name.lower(): field.dataType for field in held}
            return all(f.name.lower() in there and fits(there[f.name.lower()], f.dataType) for f in declared)
        case T.ArrayType(), T.ArrayType():
            return fits(held.elementType, declared.elementType)
        case T.MapType(), T.MapType():
            return fits(held.keyType, declared.keyType) and fits(held.valueType, declared.valueType)
        case T.DecimalType(), T.DecimalType():
            return 0 <= declared.scale - held.scale <= declared.precision - held.precision
        case T.IntegralType(), T.DecimalType():
            return declared.precision - declared.scale >= (20 if held == T.LongType() else 10)
    return held == declared or held.simpleString() in WIDER.get(declared.simpleString(), set())


def read_parquet(spark: SparkSession, path: str, *columns: str) -> DataFrame:
    """The files' columns by name, in types that lose nothing."""
    declared = T.StructType.fromDDL(", ".join(columns))
    frame = spark.read.schema(declared).parquet(path)
    try:
        schemas = [spark.read.parquet(path, mergeSchema=True).schema]
    except Exception as error:
        if "CANNOT_MERGE_SCHEMAS" not in str(error):  # one column has several types
            raise
        schemas = [spark.read.parquet(file).schema for file in frame.inputFiles()]
    held = [(field.name, field.dataType) for schema in schemas for field in schema]
    for column in declared:
        kinds = [kind for name, kind in held if name.lower() == column.name.lower()]
        if not kinds:
            raise ValueError(f"{path} has no column '{column.name}'; it has {', '.join(dict(held))}")
        for kind in kinds:
            if not fits(kind, column.dataType):
                raise ValueError(
                    f"{path} holds column '{column.name}' as {kind.simpleString()}, and the table declares it "
                    f"{column.dataType.simpleString()}, which cannot take every value of it; "
                    "declare it as the file has it, and CAST it in the query"
                )
    return frame
'''
"""The functions of a job that reads Parquet."""
