"""The EMIT clause, read from a statement's tokens: EMIT rule {AND rule} [LATE INTO table]."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.compiler.plan import Emit, EmitRule
from ouzel.compiler.sql.expressions.literals import interval_us
from ouzel.compiler.sql.syntax.source import QueryText, Span, Tokens, depth_change, is_word, span_of
from ouzel.compiler.sql.syntax.statements import Name
from ouzel.compiler.sql.syntax.words import is_quoted, is_text


@dataclass(frozen=True)
class EmitClause:
    """EMIT as written; `closing` is whether AFTER WATERMARK is among its rules, `late` the table of LATE INTO."""

    emit: Emit
    span: Span
    closing: bool = False
    late: Name | None = None


_ALIASES = {
    "ON WINDOW CLOSE": EmitRule.WATERMARK, "FINAL": EmitRule.WATERMARK, "AFTER WATERMARK": EmitRule.WATERMARK,
    "ON UPDATE": EmitRule.CHANGES, "CHANGES": EmitRule.CHANGES,
    "AFTER DELAY": EmitRule.DELAY, "PERIODIC": EmitRule.DELAY, "EVERY": EmitRule.DELAY,
}  # fmt: skip
_STARTS = ("CHANGES", "STREAM", "CHANGELOG", "UPSERT", "AFTER", "ON", "FINAL", "PERIODIC", "EVERY")


def split_emit(source: QueryText, tokens: Tokens) -> tuple[Tokens, EmitClause | None]:
    """A query without its EMIT clause, and that.

    Raises:
        QueryError: the clause is not one.
    """
    depth = 0
    for index, token in enumerate(tokens[:-1]):
        depth += depth_change(token)
        if is_word(token, "EMIT") and index and is_word(tokens[index + 1], *_STARTS):
            if depth:
                raise source.error(
                    "EMIT stands inside a subquery", span_of([token]), "write it once, at the end of the statement"
                )
            return tokens[:index], _read_clause(source, tokens[index:])
    return tokens, None


def _read_clause(source: QueryText, tokens: Tokens) -> EmitClause:
    span, rest = span_of(tokens), tokens[1:]
    if is_word(rest[0], "STREAM", "CHANGELOG", "UPSERT"):
        rest = rest[1:]
    begin = next((at for at, token in enumerate(rest) if is_word(token, "LATE")), len(rest))
    late = _read_table(source, rest[begin:]) if begin < len(rest) else None
    rules = [_read_rule(source, part, span) for part in _split_rules(rest[:begin])]
    emit = _merge_rules(source, rules, span)
    return EmitClause(emit, span, any(each.rule is EmitRule.WATERMARK for each in rules), late)


def _split_rules(tokens: Tokens) -> list[Tokens]:
    ands = [at for at, token in enumerate(tokens) if is_word(token, "AND")]
    return [tokens[begin + 1 : end] for begin, end in zip([-1, *ands], [*ands, len(tokens)], strict=True)]


def _read_table(source: QueryText, tokens: Tokens) -> Name:
    if len(tokens) != 3 or not is_word(tokens[1], "INTO"):
        raise source.error(
            "LATE INTO names one table, and ends the statement", span_of(tokens), "write LATE INTO late_rows"
        )
    return Name(tokens[2].text, is_quoted(tokens[2]), span_of(tokens[2:]))


def _read_rule(source: QueryText, tokens: Tokens, span: Span) -> Emit:
    words = _words(tokens)
    for count in (3, 2, 1):
        rule = _ALIASES.get(" ".join(words[:count]))
        if rule:
            break
    else:
        raise source.error(
            f"EMIT {' '.join(words)} is not known",
            span,
            "write EMIT CHANGES, EMIT AFTER WATERMARK or EMIT AFTER DELAY INTERVAL '5' SECOND",
        )
    rest = tokens[count:]
    if rule is EmitRule.DELAY:
        return Emit(rule, interval_us(source, rest, span) // 1000)
    if rule is EmitRule.WATERMARK and _words(rest[:2]) == ["WITH", "LATENESS"]:
        return Emit(rule, lateness_us=interval_us(source, rest[2:], span))
    if rest:
        _refuse_rest(source, rest)
    return Emit(rule)


def _merge_rules(source: QueryText, rules: list[Emit], span: Span) -> Emit:
    """All rules as one: what leaves before the watermark leaves by the other rule, and late rows change what has left."""
    by_rule = {each.rule: each for each in rules}
    if len(by_rule) < len(rules):
        raise source.error("EMIT has a rule twice", span, "write each once")
    if EmitRule.CHANGES in by_rule and EmitRule.DELAY in by_rule:
        raise source.error(
            "EMIT CHANGES AND AFTER DELAY: with CHANGES nothing is left to wait for a delay", span, "write one of them"
        )
    lateness_us = max(each.lateness_us for each in rules)
    early = by_rule.get(EmitRule.CHANGES) or by_rule.get(EmitRule.DELAY) or rules[0]
    return Emit(early.rule, early.delay_ms, lateness_us)


def _words(tokens: Tokens) -> list[str]:
    return [token.text if is_text(token) else token.text.upper() for token in tokens]


def _refuse_rest(source: QueryText, rest: Tokens) -> None:
    if is_word(rest[0], "WITH"):
        problem = "WITH LATENESS belongs to EMIT AFTER WATERMARK"
        raise source.error(problem, span_of(rest), "write EMIT AFTER WATERMARK WITH LATENESS INTERVAL '1' HOUR")
    shown = source.text[slice(*span_of(rest))]
    advice = f"the EMIT clause ends the statement: write {shown} before EMIT"
    raise source.error(f"{rest[0].text} does not belong here", span_of(rest), advice)
