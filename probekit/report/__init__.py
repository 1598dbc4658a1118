"""Evaluations made readable: tables, figures, one self-contained HTML page. Nothing is computed here."""

from probekit.report.figures import (
    Figure,
    Frame,
    Point,
    Series,
    bar_figure,
    flow_figure,
    heat_figure,
    histogram_figure,
    iso_f1_figure,
    line_figure,
    risk_coverage_figure,
    scatter_figure,
)
from probekit.report.formats import to_csv, to_html, to_latex, to_markdown
from probekit.report.markup import Html, join, tag, text
from probekit.report.page import Section, page, write_page
from probekit.report.run import ReportPaths, choose_mix, load_evaluation, report
from probekit.report.switch import switch
from probekit.report.tables import Cell, Column, Estimate, Table, full_table, results_table
from probekit.report.terminal import show, to_terminal

__all__ = [
    "Cell",
    "Column",
    "Estimate",
    "Figure",
    "Frame",
    "Html",
    "Point",
    "ReportPaths",
    "Section",
    "Series",
    "Table",
    "bar_figure",
    "choose_mix",
    "flow_figure",
    "full_table",
    "heat_figure",
    "histogram_figure",
    "iso_f1_figure",
    "join",
    "line_figure",
    "load_evaluation",
    "page",
    "report",
    "results_table",
    "risk_coverage_figure",
    "scatter_figure",
    "show",
    "switch",
    "tag",
    "text",
    "to_csv",
    "to_html",
    "to_latex",
    "to_markdown",
    "to_terminal",
    "write_page",
]
