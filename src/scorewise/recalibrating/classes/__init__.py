"""Recalibration of several classes."""
