"""Target fern for match: two engines that take whole regions."""
