"""The word count: how often was each word said over New York's loudspeakers in 2013?

    python dsl_examples/word_count.py

The same as sql_examples/word_count.sql.
"""

from pathlib import Path

from ouzel import Source, monoid

DATA = Path(__file__).parent.parent / "sql_examples/data"

lines = Source.file(str(DATA / "announcements.txt"))  # every line is a record: a str
words = lines.flat_map(str.split).map(lambda word: (word, 1))
counts = words.sum_by_key(monoid.Sum())

if __name__ == "__main__":
    print(counts.table().top_k(10, by="value"))
