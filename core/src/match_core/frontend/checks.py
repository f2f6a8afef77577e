from __future__ import annotations


def check_nodes(proto, source):
    pass


def check_shapes(proto, source):
    pass
