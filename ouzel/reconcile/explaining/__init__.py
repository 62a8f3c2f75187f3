"""Why rows differ: the classes of differences, and what holds each excuse to the input."""
