"""Values of statistics, as functions of weights and of the cells of a tally."""
