"""Unsigned integer expressions of C: sums of products, literals folded."""

from __future__ import annotations

from dataclasses import dataclass

_Product = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Expression:
    """A sum of products. ``terms``: (symbols of one product, coefficient), in order of first use; symbols are C text
    that needs no parentheses as a factor."""

    terms: tuple[tuple[_Product, int], ...] = ()

    @property
    def value(self) -> int | None:
        """The number if there are no symbols, else None."""
        if any(symbols for symbols, _ in self.terms):
            return None
        return sum(coefficient for _, coefficient in self.terms)

    def split(self) -> tuple[Expression, Expression]:
        """The literal part and the rest."""
        literal = tuple(term for term in self.terms if not term[0])
        return Expression(literal), Expression(tuple(term for term in self.terms if term[0]))

    def __add__(self, other: Expression) -> Expression:
        sums: dict[_Product, int] = {}
        for symbols, coefficient in (*self.terms, *other.terms):
            sums[symbols] = sums.get(symbols, 0) + coefficient
        return Expression(tuple((symbols, factor) for symbols, factor in sums.items() if factor))

    def __mul__(self, other: Expression | int) -> Expression:
        right = number(other) if isinstance(other, int) else other
        result = Expression()
        for symbols, coefficient in self.terms:
            for more, factor in right.terms:
                result += Expression((((*symbols, *more), coefficient * factor),))
        return result

    def bits_to_bytes(self) -> Expression:
        """A count of bits in bytes, rounded up."""
        if all(coefficient % 8 == 0 for _, coefficient in self.terms):
            return Expression(tuple((symbols, coefficient // 8) for symbols, coefficient in self.terms))
        if self.value is not None:
            return number(-(-self.value // 8))
        return symbol(f"(({self + number(7)}) / 8u)")

    def __str__(self) -> str:
        if not self.terms:
            return "0u"
        ordered = sorted(self.terms, key=lambda term: (term[1] < 0, not term[0]))
        text = ""
        for symbols, coefficient in ordered:
            sign = " - " if coefficient < 0 else " + " if text else ""
            literal = [f"{abs(coefficient)}u"] if abs(coefficient) != 1 or not symbols else []
            text += sign + " * ".join([*symbols, *literal])
        return text


ZERO = Expression()


def number(value: int) -> Expression:
    """A literal."""
    return Expression((((), value),)) if value else Expression()


def symbol(text: str) -> Expression:
    """A C operand: a name, or text in parentheses."""
    return Expression((((text,), 1),))


def total(expressions: list[Expression]) -> Expression:
    """The sum of all."""
    result = Expression()
    for expression in expressions:
        result += expression
    return result
