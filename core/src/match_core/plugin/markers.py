"""The pluggy markers and the version of the hook contract."""

import pluggy

PROJECT = "match"
ENTRY_POINT_GROUP = "match.plugins"
#: Version of the hook contract. A plugin states the version it was written for in its module attribute
#: ``match_contract``; another version is refused with an error that names both.
CONTRACT_VERSION = 1

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
