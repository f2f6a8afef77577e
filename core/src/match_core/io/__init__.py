"""Files that users read and write: arrays, models, caches."""
