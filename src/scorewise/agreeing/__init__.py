"""Do raters agree? The kappa family, in words, and where they differ."""
