"""Measures of several classes: functions of a `ClassTally`."""
