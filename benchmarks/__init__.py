"""Figures: accuracy against truth, speed and memory against named alternatives in the same run (`make bench`)."""
