"""Measures of agreement: functions of `Ratings`."""
