"""The comments of a query, by what they stand at: so that a job says them where it does what they speak of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from textwrap import wrap

from ouzel.compiler.plan import Node
from ouzel.compiler.sql.syntax.source import Comment, QueryText


@dataclass
class Remarks:
    """Lines of comments at the beginnings of statements and at clauses, by their offsets."""

    statements: dict[int, list[str]] = field(default_factory=dict)
    clauses: dict[int, list[str]] = field(default_factory=dict)

    def above(self, node: Node) -> list[str]:
        """What is said of the statement, table, view or CTE that ends in this node."""
        return self.statements.get(node.written.begins, [])

    def at(self, node: Node) -> list[str]:
        """What is said of the node's clause."""
        return self.clauses.get(node.written.clause, [])


def remarks(query: str, nodes: Iterable[Node]) -> Remarks:
    """The comments of the query that these nodes were written in.

    A comment on lines of its own speaks of what begins on the next one, if that is not empty; one behind other text speaks of the clause
    it stands in. What is said of EMIT is for streams, and what is said of columns is for the table: neither has a place in a job.
    """
    found, source = Remarks(), QueryText(query)
    written = [node.written for node in nodes]
    begins, clauses = (
        {each for each in of if each >= 0} for of in zip(*((w.begins, w.clause) for w in written), strict=True)
    )
    text = source.blank_out()
    for comment in _join(query, source.comments()):
        line = _line_spoken_of(query, text, comment)
        starts = sorted(at for at in begins | clauses if at in line)
        if starts and starts[0] in begins:
            found.statements.setdefault(starts[0], []).extend(_wrap(comment))
        else:
            before = [at for at in sorted(clauses) if at < comment.start]
            clause = starts[0] if starts else before[-1] if before else None
            if clause is not None and not (clause < comment.start and _is_left(text[clause : comment.start])):
                found.clauses.setdefault(clause, []).extend(_wrap(comment))
    return found


def _join(query: str, comments: Iterable[Comment]) -> Iterator[Comment]:
    """The comments, with those on lines of their own that follow each other as one."""
    last: Comment | None = None
    for comment in comments:
        own = not query[query.rfind("\n", 0, comment.start) + 1 : comment.start].strip()
        if last is not None and own and re.fullmatch(r"[ \t]*\n[ \t]*", query[last.end : comment.start]):
            last = Comment(last.start, comment.end, (*last.lines, *comment.lines))
            continue
        if last is not None:
            yield last
        last = comment
    if last is not None:
        yield last


def _wrap(comment: Comment) -> list[str]:
    return wrap(" ".join(comment.lines), WIDTH) if comment.lines else []


WIDTH = 100
"""Characters of a line of a comment."""


def _line_spoken_of(query: str, text: str, comment: Comment) -> range:
    """The offsets of the next line of code, for a comment on lines of its own; none for another."""
    line = query.rfind("\n", 0, comment.start) + 1
    if text[line : comment.start].strip():
        return range(0)
    code = re.compile(r"\S").search(text, comment.end)
    if code is None or re.search(r"\n\s*\n", query[comment.end : code.start()].replace("--", "")):
        return range(0)
    end = text.find("\n", code.start())
    return range(code.start(), len(text) if end < 0 else end)


def _is_left(text: str) -> bool:
    """Whether the clause that begins the text has ended for a comment behind it: by EMIT, or with the statement."""
    return bool(re.search(r";|\bEMIT\b", text, re.IGNORECASE))
