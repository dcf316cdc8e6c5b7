"""Stores that are right as long as nobody comes in between: each leaves out a precaution of the reference."""
