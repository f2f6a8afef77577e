"""Names from model files are hostile: what leaves the sanitisers is safe in C, whatever goes in."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from match_core.ir.naming import IDENTIFIER_LIMIT, TEXT_LIMIT, c_identifier, comment_text

HOSTILE = (
    "*/ int x; /*",
    "a\nb\r\n#define main evil",
    "??/",
    "what??/\n",
    "",
    "_",
    "__x",
    "_Bool",
    "int",
    "while",
    "0day",
    "ναι",
    "🙂",
    "\0",
    "\u2028",
    'say "hi"',
    "back\\",
    "a" * 10_000,
    "${7*7}",
    "%s%n",
    "\ud800",
)
KEYWORDS = ("auto", "int", "register", "typedef", "class", "bool", "main", "linux", "NULL", "I")


@pytest.mark.parametrize("text", HOSTILE)
def test_identifiers_of_hostile_names(text):
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", c_identifier(text))


@pytest.mark.parametrize("word", KEYWORDS)
def test_reserved_words_do_not_stay(word):
    assert c_identifier(word) != word
    assert c_identifier(word).startswith(word)


@given(st.text())
def test_identifiers_are_valid_bounded_and_stable(text):
    name = c_identifier(text)
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name)
    assert len(name) <= IDENTIFIER_LIMIT
    assert c_identifier(text) == name
    assert c_identifier(name) == name


@given(st.text(string.ascii_letters, min_size=100), st.text(string.ascii_letters, min_size=1))
def test_long_names_with_a_common_beginning_stay_apart(head, tail):
    assert c_identifier(head) != c_identifier(head + tail)


@given(st.text(), st.integers(16, 80))
def test_identifiers_keep_to_the_limit(text, limit):
    assert len(c_identifier(text, limit)) <= limit


@given(st.one_of(st.text(), st.sampled_from(HOSTILE), st.text("*/\\?\n\"'<>:%[]")), st.integers(16, 200))
def test_comment_text_cannot_leave_its_comment_or_string(text, limit):
    safe = comment_text(text, limit)
    assert len(safe) <= limit
    assert all(" " <= char <= "~" for char in safe)
    assert not set(safe) & set('*\\?"')
    assert comment_text(safe, limit) == safe


def test_comment_text_keeps_what_is_harmless():
    assert comment_text("model/block_1/Conv:0 [3x3]") == "model/block_1/Conv:0 [3x3]"
    assert comment_text("x" * 500) == "x" * (TEXT_LIMIT - 3) + "..."


def test_limits_below_the_digest_are_refused():
    with pytest.raises(ValueError, match="at least"):
        c_identifier("x", 4)
    with pytest.raises(ValueError, match="at least"):
        comment_text("x", 4)
