"""Charts as SVG text: pure functions from numbers to a picture, without a plotting library."""
