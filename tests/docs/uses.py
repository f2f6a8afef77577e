"""Which options of which verbs the tests use: read from their sources, and from the commands in pages that are run.

A use is a sequence of words that begins with a verb and holds the option behind it: arguments of a call, a list, a
tuple, a command line. Words of comments, docstrings and other strings do not count. Followed are names of lists,
functions that pass their arguments on, parameters of ``parametrize``, and tables from verbs to arguments. An option of
``match`` itself is used where it is the only word.
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tests.conftest import ROOT

FOLDERS = (ROOT / "core" / "tests", ROOT / "tests", *sorted((ROOT / "plugins").glob("*/tests")))
Function = ast.FunctionDef | ast.AsyncFunctionDef
#: (verb, option)
Use = tuple[str, str]


@dataclass(frozen=True)
class Scope:
    """Where a name is looked up: the functions and the lists of a module, with the lists of one of its functions."""

    verbs: frozenset[str]
    functions: Mapping[str, Sequence[Function]]
    constants: Mapping[str, Sequence[ast.expr]]

    def within(self, node: ast.AST) -> Scope:
        """With the lists that are made in a function."""
        own = {name: [*values, *self.constants.get(name, ())] for name, values in _lists(node).items()}
        return replace(self, constants={**self.constants, **own})


def all_texts() -> tuple[str, ...]:
    """The texts of all tests of the repository in which an option may be used, and of what tests share."""
    paths = [path for folder in FOLDERS for path in sorted(folder.rglob("*.py"))]
    texts = [(path, path.read_text(encoding="utf-8")) for path in paths]
    return tuple(text for path, text in texts if not path.name.startswith("test_") or '"-' in text)


def uses(texts: Iterable[str], verbs: Iterable[str]) -> frozenset[Use]:
    """Every (verb, option) that the tests with these texts use."""
    trees = [ast.parse(text) for text in texts]
    everywhere = _functions(trees)
    found: set[Use] = set()
    for tree in trees:
        others = [node for node in tree.body if not isinstance(node, Function | ast.ClassDef)]
        functions = {**everywhere, **_functions([tree])}
        constants = _lists(ast.Module(others, []))
        scope = Scope(frozenset(verbs), functions, constants)
        for node in others:
            found.update(_of_tree(node, scope))
        for whole in tree.body:
            for function in [whole] if isinstance(whole, Function) else getattr(whole, "body", []):
                if isinstance(whole, Function | ast.ClassDef):
                    found.update(_of_tree(function, scope.within(function)))
    return frozenset(found)


def _functions(trees: Iterable[ast.Module]) -> dict[str, list[Function]]:
    found: dict[str, list[Function]] = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, Function):
                found.setdefault(node.name, []).append(node)
    return found


def _lists(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """By name the lists and tuples that it stands for, in assignments and loops."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            pairs = [(node.target, node.value)]
        elif isinstance(node, ast.For):
            pairs = [(node.target, node.iter)]
        else:
            continue
        for target, value in pairs:
            if isinstance(value, ast.List | ast.Tuple | ast.BinOp | ast.IfExp):
                for name in ast.walk(target):
                    if isinstance(name, ast.Name):
                        found.setdefault(name.id, []).append(value)
    return found


def _of_tree(tree: ast.AST, scope: Scope) -> Iterator[Use]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _of_words(_words(node.args, scope), scope.verbs)
            yield from _through(node, scope)
        elif isinstance(node, ast.List | ast.Tuple):
            yield from _of_words(_words(node.elts, scope), scope.verbs)
        elif isinstance(node, ast.Dict):
            yield from _of_table(node, scope)
        elif isinstance(node, Function):
            yield from _of_parameters(node, scope)


def uses_of_command(command: str, verbs: Iterable[str]) -> frozenset[Use]:
    """Of a line of shell."""
    lexer = shlex.shlex(command.replace("\\\n", " "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    parts: list[list[str]] = [[]]
    for word in lexer:
        if set(word) <= set("();<>|&"):
            parts.append([])
        else:
            parts[-1].append(word)
    return frozenset(
        use for words in parts if "match" in words for use in _of_words(words[words.index("match") :], frozenset(verbs))
    )


def _of_words(words: Iterable[str], verbs: frozenset[str]) -> Iterator[Use]:
    """Uses in a sequence of words; other things in it (paths, numbers) are empty words."""
    words = tuple(words)
    if len(words) == 1 and words[0].startswith("--"):
        yield "", words[0]
    verb = ""
    for word in words:
        if not verb and word in verbs:
            verb = word
        elif not verb and word and not word.endswith(("match", "main()", "-c")):
            return  # a sequence of something else
        elif verb and word.startswith("-"):
            yield verb, word.partition("=")[0]


def _words(nodes: Iterable[ast.expr], scope: Scope, seen: tuple[str, ...] = ()) -> list[str]:
    """The constant words of a sequence, with those of the lists that are unpacked in it."""
    words: list[str] = []
    for node in nodes:
        if isinstance(node, ast.Constant):
            words.append(node.value if isinstance(node.value, str) else "")
        elif isinstance(node, ast.JoinedStr):
            first = node.values[0] if node.values else None
            words.append(first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else "")
        elif isinstance(node, ast.Starred):
            words += _words([node.value], scope, seen)
        elif isinstance(node, ast.List | ast.Tuple):
            words += _words(node.elts, scope, seen)
        elif isinstance(node, ast.BinOp):
            words += _words([node.left, node.right], scope, seen)
        elif isinstance(node, ast.IfExp):
            words += _words([node.body, node.orelse], scope, seen)
        elif isinstance(node, ast.Name) and node.id not in seen:
            values = scope.constants.get(node.id, [])
            words += _words(values, scope, (*seen, node.id)) if values else [""]
        else:
            words.append("")
    return words


def _through(call: ast.Call, scope: Scope) -> Iterator[Use]:
    """Options in a call of a function that passes its arguments on to a verb."""
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    given = [word for word in _words([*call.args, *(k.value for k in call.keywords)], scope) if word.startswith("-")]
    if given:
        for function in scope.functions.get(name, []):
            for verb in _passed_to(function, scope):
                yield from ((verb, word.partition("=")[0]) for word in given)


def _passed_to(function: Function, scope: Scope) -> set[str]:
    """The verbs to which a function passes its arguments on, or those of a function that it returns."""
    inner = [node for node in ast.walk(function) if isinstance(node, Function)]
    names = {argument.arg for node in inner for argument in (*node.args.args, *filter(None, [node.args.vararg]))}
    return {verb for verb, starred in _starred(function, scope) if starred & names}


def _starred(function: Function, scope: Scope) -> Iterator[tuple[str, set[str]]]:
    """By verb that the function calls, the names that are unpacked behind it."""
    for node in ast.walk(function):
        elements = node.args if isinstance(node, ast.Call) else getattr(node, "elts", None)
        if isinstance(elements, list):
            verb = next((word for word in _words(elements[:3], scope) if word in scope.verbs), "")
            inner = [item for element in elements if isinstance(element, ast.Starred) for item in ast.walk(element)]
            if verb:
                yield verb, {item.id for item in inner if isinstance(item, ast.Name)}


def _of_parameters(function: Function, scope: Scope) -> Iterator[Use]:
    """Options among the values of parameters that are unpacked behind a verb."""
    values = [
        [node.value for node in ast.walk(argument) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.parametrize"
        for argument in decorator.args[1:]
    ]
    if values:
        for verb in _passed_to(function, scope):
            yield from ((verb, word.partition("=")[0]) for words in values for word in words if word.startswith("-"))


def _of_table(table: ast.Dict, scope: Scope) -> Iterator[Use]:
    """A table from verbs to arguments."""
    for key, value in zip(table.keys, table.values, strict=True):
        if isinstance(key, ast.Constant) and key.value in scope.verbs:
            for word in _words([value], scope):
                if word.startswith("-"):
                    yield str(key.value), word.partition("=")[0]


def without_use(wanted: Iterable[Use], found: frozenset[Use], documented: Callable[[Use], bool]) -> list[str]:
    """What of the options of verbs no test uses, or no page names."""
    told = []
    for use in wanted:
        if use not in found:
            told.append(f"match {' '.join(use)}: no test uses it")
        elif not documented(use):
            told.append(f"match {' '.join(use)}: the page does not name it")
    return told
