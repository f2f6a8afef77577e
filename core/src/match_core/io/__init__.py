"""Arrays in and out: the files that users give and get."""
