"""Fixtures of programs with regions."""

from core.tests.plugin.conftest import site as site  # fake distributions on the path
