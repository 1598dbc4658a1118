"""Figures as values: what is drawn, in one restrained style; matplotlib is loaded when one is rendered."""

from probekit.report.figures.bars import bar_figure
from probekit.report.figures.canvas import Figure, Frame, inline
from probekit.report.figures.flow import flow_figure
from probekit.report.figures.heat import heat_figure
from probekit.report.figures.histogram import histogram_figure
from probekit.report.figures.lines import Series, line_figure, risk_coverage_figure
from probekit.report.figures.plane import Point, iso_f1_figure, scatter_figure

__all__ = [
    "Figure",
    "Frame",
    "Point",
    "Series",
    "bar_figure",
    "flow_figure",
    "heat_figure",
    "histogram_figure",
    "inline",
    "iso_f1_figure",
    "line_figure",
    "risk_coverage_figure",
    "scatter_figure",
]
