"""Verdicts, runs and explorations for people and machines: text, JSON, JUnit."""
