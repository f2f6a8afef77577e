"""Reports and advice for match: report pages, and the verbs report, diff, check, explain, fit and doctor."""

__version__ = "0.1.0"
