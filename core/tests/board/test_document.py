"""What a board file may say: keys and types."""

from __future__ import annotations

from pathlib import Path

import pytest
from match_core.board.document import is_board_file, parse_board, read_board
from match_core.contract.errors import UsageError

from core.tests.board.boards import BOARD


def refused(text: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        parse_board(text, "pair.toml")
    assert caught.value.code == "MATCH-U060"
    return caught.value


def test_a_whole_board() -> None:
    board = parse_board(BOARD, "pair.toml")
    assert (board.name, board.host, board.home, board.store) == ("pair", "host", "l2", "")
    assert [(unit.name, unit.soc, unit.package) for unit in board.units] == [
        ("host", "", ""),
        ("red_core", "red", "match-red"),
        ("blue_core", "blue", "match-blue"),
    ]
    assert board.links[1].figures == {"setup_cycles": 7}
    assert board.text == BOARD


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ('home = "l2"', "", "the key 'home' is missing"),
        ('home = "l2"', "home = 2", "home is 2, a text expected"),
        ('home = "l2"', 'home = ""', "home is '', a text expected"),
        ('home = "l2"', 'hone = "l2"\nhome = "l2"', "the key 'hone' is not known"),
        ('name = "pair"', 'name = "My board"', "the name 'My board' is not a lower-case C identifier"),
        ("setup_cycles = 7", "setup_cycles = -7", "setup_cycles is -7, a whole number of 0 or more expected"),
        ("setup_cycles = 7", "setup_cycles = true", "setup_cycles is True, a whole number of 0 or more expected"),
        ("setup_cycles = 7", "bytes_per_cycle = 0", "bytes_per_cycle is 0, a positive number expected"),
        ("setup_cycles = 7", "blocking = 1", "blocking is 1, true or false expected"),
        ('clock = { from = "red" }', "clock = { hz = 5 }", "the key 'source' is missing"),
        ("[[units]]", "[[unit]]", "units is None, a list of tables, [[units]] expected"),
        ('package = "match-red"', "memories = { l1 = 1 }", "memories is {'l1': 1}, a table of texts expected"),
        ("[soc]", "[soc", "it is not TOML"),
    ],
)
def test_what_is_no_board(before: str, after: str, why: str) -> None:
    assert before in BOARD
    error = refused(BOARD.replace(before, after))
    assert why.split(",")[0] in error.why or "the key 'units' is missing" in error.why


def test_a_board_may_have_no_links() -> None:
    """Units that all work on the home memory need none."""
    assert parse_board(BOARD[: BOARD.index("[[links]]")], "pair.toml").links == ()


def test_errors_name_the_table() -> None:
    assert refused(BOARD.replace("setup_cycles = 7", "setup = 7")).where == "pair.toml, [[links]] blue_dma"


def test_a_likely_key_is_suggested() -> None:
    assert refused(BOARD.replace("setup_cycles = 7", "setup_cycle = 7")).help == ("did you mean setup_cycles?",)


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    for name, content in (("none.toml", None), ("latin.toml", b"\xff\xfe")):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(UsageError) as caught:
            read_board(tmp_path / name)
        assert caught.value.code == "MATCH-U060"


def test_targets_are_files_by_their_ending() -> None:
    assert is_board_file("boards/pair.toml")
    assert not is_board_file("chip")
