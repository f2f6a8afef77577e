"""Makes text from model files safe: C identifiers, and single-line text for comments and messages.

Names in a model are untrusted. They may contain comment ends, line breaks, trigraphs or megabytes of text.
"""

from __future__ import annotations

import hashlib

#: The longest identifier and the longest comment text that this module returns, in characters.
IDENTIFIER_LIMIT = 64
TEXT_LIMIT = 160

_DIGEST_LENGTH = 8
_ALPHABET = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_RESERVED = frozenset(
    # C11 and later, C++ (headers may be included there), and names that common compilers or libraries predefine.
    [
        *("auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern"),
        *("float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short"),
        *("signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile"),
        *("while", "alignas", "alignof", "bool", "constexpr", "false", "nullptr", "static_assert", "thread_local"),
        *("true", "typeof", "typeof_unqual", "asm", "fortran", "and", "and_eq", "bitand", "bitor", "catch", "class"),
        *("compl", "concept", "const_cast", "co_await", "co_return", "co_yield", "decltype", "delete"),
        *("dynamic_cast", "explicit", "export", "friend", "mutable", "namespace", "new", "noexcept", "not"),
        *("not_eq", "operator", "or", "or_eq", "private", "protected", "public", "reinterpret_cast", "requires"),
        *("static_cast", "template", "this", "throw", "try", "typeid", "typename", "using", "virtual", "wchar_t"),
        *("xor", "xor_eq", "char8_t", "char16_t", "char32_t", "linux", "unix", "main", "errno", "assert", "NULL"),
        *("EOF", "INFINITY", "NAN", "I", "complex", "imaginary", "noreturn", "stdin", "stdout", "stderr", "setjmp"),
        *("va_arg", "va_copy", "va_end", "va_start", "offsetof"),
    ]
)
#: Printable characters that could end a comment or string, continue a line, or form a trigraph.
_UNSAFE_IN_TEXT = frozenset('\\*?"')


def c_identifier(text: str, limit: int = IDENTIFIER_LIMIT) -> str:
    """An identifier that is valid and not reserved in C and C++: starts with a letter, ASCII only, at most ``limit``
    characters (at least 16). Longer texts end in a digest of the whole text, so a shared prefix does not make them
    equal. Different short texts may give the same identifier ("a-b", "a_b"): the caller must make them unique.
    """
    if limit < 2 * _DIGEST_LENGTH:
        raise ValueError(f"identifiers need at least {2 * _DIGEST_LENGTH} characters, not {limit}")
    kept = "".join(char if char in _ALPHABET else "_" for char in text).lstrip("_")
    if not kept:
        kept = f"n{_digest(text)}" if text.strip("_") else "n"
    if not kept[0].isalpha():
        kept = f"n{kept}"
    if len(kept) > limit:
        kept = f"{kept[: limit - _DIGEST_LENGTH - 1]}_{_digest(text)}"
    return f"{kept[: limit - 1]}_" if kept in _RESERVED else kept


def comment_text(text: str, limit: int = TEXT_LIMIT) -> str:
    """The text as one line of printable ASCII that is safe in a C comment, a string literal or a table cell:
    no comment ends or starts, no quotes, backslashes, question marks or control characters; at most ``limit``
    characters (at least 16); truncated texts end in "..."."""
    if limit < 2 * _DIGEST_LENGTH:
        raise ValueError(f"texts need at least {2 * _DIGEST_LENGTH} characters, not {limit}")
    head = text[: limit + 1]
    kept = "".join(char if " " <= char <= "~" and char not in _UNSAFE_IN_TEXT else "_" for char in head)
    return kept if len(text) <= limit else f"{kept[: limit - 3]}..."


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]
