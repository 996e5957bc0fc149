"""What does the report look like? As the dashboard does, in one sheet and a few lines of script."""

from __future__ import annotations

from typing import Final

from autoscaler.plots.palette import CHART_STYLE, FONT, tokens_style

SHEET: Final = f"""
{tokens_style()}
{CHART_STYLE}
* {{ box-sizing: border-box; }}
html {{ background: var(--page); color: var(--text); font: 14px/1.45 {FONT};
  font-variant-numeric: tabular-nums; -webkit-font-smoothing: antialiased; }}
body {{ margin: 0; }}
h1, h2, p, dl, dd, figure {{ margin: 0; }}
h1 {{ font-size: 22px; font-weight: 650; letter-spacing: -.015em; }}
h2 {{ font-size: 14px; font-weight: 620; }}
header {{ display: flex; align-items: center; gap: 10px; padding: 12px 24px; font-weight: 620;
  border-bottom: 1px solid var(--border); }}
header button {{ margin-left: auto; padding: 4px 8px; border: 0; border-radius: 5px;
  cursor: pointer; background: none; color: var(--text-muted); font: inherit; font-size: 12px; }}
header button:hover {{ background: var(--sunken); }}
main {{ display: grid; gap: 16px; max-width: 1240px; margin: 0 auto; padding: 24px 20px 48px; }}
.lede {{ max-width: 80ch; margin-top: 6px; color: var(--text-muted); }}
.lede strong {{ color: var(--text); font-weight: 620; }}
.card {{ min-width: 0; border: 1px solid var(--border); border-radius: 12px;
  background: var(--surface); box-shadow: 0 1px 2px rgb(20 22 30 / 5%); }}
.card > h2, .card summary {{ padding: 13px 16px 2px; }}
.card > p {{ padding: 0 16px 6px; color: var(--text-muted); font-size: 12px; }}
.card summary {{ padding-bottom: 13px; cursor: pointer; font-weight: 620; }}
.wide {{ overflow-x: auto; padding: 4px 16px 14px; }}
.wide {{ border-radius: 0 0 12px 12px; --edge: rgb(20 22 30 / 16%);
  background: /* a shadow where there is more to scroll to */
  linear-gradient(to right, var(--surface) 30%, transparent) 0 0 / 44px 100% no-repeat local,
  linear-gradient(to left, var(--surface) 30%, transparent) 100% 0 / 44px 100% no-repeat local,
  linear-gradient(to right, var(--edge), transparent) 0 0 / 12px 100% no-repeat scroll,
  linear-gradient(to left, var(--edge), transparent) 100% 0 / 12px 100% no-repeat scroll; }}
.pair {{ display: grid; grid-template-columns: 1fr 1fr; gap: 16px; }}
.chart {{ display: block; width: 100%; min-width: 720px; height: auto; }}
.pair .chart {{ min-width: 440px; }}
table {{ width: 100%; border-collapse: collapse; white-space: nowrap; }}
th {{ padding: 6px 14px 6px 0; color: var(--text-muted); font-size: 12px; font-weight: 500;
  text-align: right; cursor: help; }}
td {{ padding: 8px 14px 8px 0; border-top: 1px solid var(--border); text-align: right; }}
th:first-child, td:first-child {{ text-align: left; font-weight: 620; }}
th:last-child, td:last-child {{ padding-right: 0; }}
td.best {{ color: var(--good); font-weight: 650; }}
.swatch {{ display: inline-block; width: 9px; height: 9px; margin-right: 8px; border-radius: 3px; }}
dl {{ display: flex; flex-wrap: wrap; gap: 12px 32px; padding: 6px 16px 16px; }}
dt {{ color: var(--text-muted); font-size: 12px; }}
@media (max-width: 860px) {{
  .pair {{ grid-template-columns: 1fr; }}
  main {{ padding: 16px 12px; }}
}}
@media (max-width: 480px) {{ /* bars fit without scrolling, so that their values are seen */
  .card + .pair .chart {{ min-width: 0; }}
  .card + .pair text {{ font-size: 15px; }}
}}
@media print {{ header button {{ display: none; }} .card {{ break-inside: avoid; }} }}
"""
# Toggles the theme; without a choice the page follows the reader's system.
SCRIPT: Final = """
document.querySelector("header button").addEventListener("click", () => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  root.dataset.theme = (root.dataset.theme || system) === "dark" ? "light" : "dark";
});
"""
LOGO: Final = (
    '<svg width="26" height="26" viewBox="0 0 32 32" aria-hidden="true">'
    '<rect width="32" height="32" rx="8" fill="var(--accent)"/>'
    '<g fill="none" stroke="var(--on-accent)" stroke-width="2.4" stroke-linecap="round"'
    ' stroke-linejoin="round"><path d="M6.5 9v14M25.5 9v14"/>'
    '<path d="M10 11.5l3 9 3-9 3 9 3-9"/></g></svg>'
)
