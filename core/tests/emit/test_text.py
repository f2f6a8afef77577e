"""Expressions and lines of C."""

from __future__ import annotations

import ast

from hypothesis import given, settings
from hypothesis import strategies as st
from match_core.emit.expression import Expression, number, symbol, total
from match_core.lower.text import WIDTH, broken, comment

VALUES = {"a": 24, "b": 40, "c": 56}
ATOMS = st.one_of(st.integers(0, 50).map(number), st.sampled_from(sorted(VALUES)).map(symbol))
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
    ),
    max_leaves=6,
)


def value(expression: Expression) -> int:
    """What the C text computes for ``VALUES``."""
    text = str(expression).replace("u", "").replace("/", "//").strip()
    return int(eval(compile(ast.parse(text, mode="eval"), "", "eval"), {}, dict(VALUES)))


@settings(deadline=None)
@given(EXPRESSIONS, EXPRESSIONS)
def test_text_of_sums_and_products_computes_the_same(left: Expression, right: Expression) -> None:
    assert value(left + right) == value(left) + value(right)
    assert value(left * right) == value(left) * value(right)
    assert value(total([left, right, left])) == 2 * value(left) + value(right)


@settings(deadline=None)
@given(EXPRESSIONS)
def test_bits_become_bytes(bits: Expression) -> None:
    assert value(bits.bits_to_bytes()) == -(-value(bits) // 8)


def test_text_is_short() -> None:
    a, b = symbol("a"), symbol("b")
    assert str(a * 4 * b * 2 + number(3)) == "a * b * 8u + 3u"
    assert str(a + a * -1) == "0u"
    assert str(number(-3) + a) == "a - 3u"
    assert str((a * 3).bits_to_bytes()) == "((a * 3u + 7u) / 8u)"
    assert (number(3) * 5).value == 15
    assert a.value is None


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(["near", "step->k * 64u", "match_min_u32(4u, 7u - step->k)", "16u"]), min_size=1, max_size=30
    )
)
def test_long_calls_are_broken_between_arguments(arguments: list[str]) -> None:
    text = f"copy_in_3d({', '.join(arguments)});"
    lines = broken(text, 4)
    assert all(len(line) <= WIDTH for line in lines)
    assert " ".join(line.strip() for line in lines) == text
    assert all(
        line.endswith(",") and line.count("(") == line.count(")") + (n == 0) for n, line in enumerate(lines[:-1])
    )


@settings(deadline=None)
@given(st.text(alphabet="abc -;:.", max_size=400))
def test_comments_fit(words: str) -> None:
    assert all(len(line) <= WIDTH for line in comment("title", words, indent=4).splitlines())
