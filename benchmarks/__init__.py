"""Speed and memory against peers; what is simulated or measured on data is in `studies`."""
