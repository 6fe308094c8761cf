"""Gain unit: prefix sums, the criterion's terms, and their arithmetic."""
