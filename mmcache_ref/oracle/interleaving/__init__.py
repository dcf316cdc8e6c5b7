"""Every interleaving of a few threads on one segment: schedules, their search, and what judges them."""
