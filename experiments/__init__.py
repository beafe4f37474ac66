"""Studies that can be run again, from data beside the checkout or that ships with scikit-learn."""
