"""Charts as SVG text: pure functions from numbers to a picture, without a plotting library.

line_chart   curves over a common axis
bar_chart    one figure for each of several things
strip_chart  who held how much, and when
frame        what surrounds the marks of a chart
axis         where a value lies, and which values are written there
palette      the colours of the dashboard
units        how an amount is written for people
svg          how an element of a picture is written
"""
