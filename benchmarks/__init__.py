"""Speed and memory against peers, and coverage of the intervals. Not part of the test suite."""
