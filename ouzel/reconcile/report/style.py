"""The page's style sheet: one calm column, in light and in dark."""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fbfaf8; --card: #ffffff; --ink: #23272e; --soft: #646b76; --faint: #9aa1ab; --line: #e6e4df; --code: #f5f3ef;
  --good: #2f7d5b; --good-wash: #e9f4ee; --warn: #97690f; --warn-wash: #fbf3df; --bad: #b3372e; --bad-wash: #fbecea;
  --late: #d9a93c; --lost: #8f5a2b; --in-flight: #9db3c6; --float: #4d9f94;
  --value-differs: #c8453b; --only-in-stream: #4ba3e3; --only-in-batch: #4a2377;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #16181c; --card: #1d2025; --ink: #dfe2e7; --soft: #9aa2ae; --faint: #6c7480; --line: #2d3138; --code: #191c20;
    --good: #7cc9a3; --good-wash: #1c2b24; --warn: #e0b355; --warn-wash: #2d2718; --bad: #ef8a80; --bad-wash: #34211f;
    --late: #dcae52; --lost: #a5713f; --in-flight: #7f95a8; --float: #6ab8ad;
    --value-differs: #e26a5f; --only-in-stream: #2f86c9; --only-in-batch: #e3d0fb;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.55 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 44px 28px 80px; }
h1 { font-size: 27px; font-weight: 600; letter-spacing: -0.01em; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 17px; font-weight: 600; margin: 52px 0 14px; }
h3 { font-size: 13px; font-weight: 600; color: var(--soft); margin: 0 0 8px; }
p { margin: 0; }
.sub { color: var(--soft); margin-top: 4px; }
.verdict { margin: 26px 0 22px; padding: 18px 22px; border-radius: 10px; border-left: 4px solid; }
.verdict strong { font-size: 18px; font-weight: 600; display: block; }
.verdict span { color: var(--soft); }
.verdict ul { margin: 8px 0 0; padding-left: 20px; overflow-wrap: anywhere; }
:target { outline: 2px solid var(--value-differs); outline-offset: 2px; border-radius: 4px; }
.good { background: var(--good-wash); border-color: var(--good); } .good strong { color: var(--good); }
.warn { background: var(--warn-wash); border-color: var(--warn); } .warn strong { color: var(--warn); }
.bad { background: var(--bad-wash); border-color: var(--bad); } .bad strong { color: var(--bad); }
.figures { display: grid; grid-template-columns: repeat(4, 1fr); gap: 14px; }
.figures div { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 18px; }
.figures b { display: block; font-size: 25px; font-weight: 600; font-variant-numeric: tabular-nums; letter-spacing: -0.02em; }
.figures span { color: var(--soft); font-size: 13px; }
.note { color: var(--warn); margin-top: 16px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 18px 20px; }
.mark { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-right: 9px; vertical-align: 0; }
.classes { width: 100%; border-collapse: collapse; }
.classes td { padding: 7px 0; border-top: 1px solid var(--line); vertical-align: baseline; }
.classes tr:first-child td { border-top: 0; }
.classes td:nth-child(1) { white-space: nowrap; padding-right: 24px; font-weight: 600; }
.classes td:nth-child(2) { text-align: right; padding-right: 28px; font-variant-numeric: tabular-nums; }
.classes td:nth-child(3) { color: var(--soft); width: 100%; }
svg { display: block; width: 100%; height: auto; }
svg.narrow { display: none; }
svg a rect { cursor: pointer; } svg a:hover rect { opacity: 0.7; }
svg text { fill: var(--soft); font: 12px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg .axis { stroke: var(--faint); stroke-width: 1; }
.caption { color: var(--soft); font-size: 13px; margin-top: 10px; }
details { background: var(--card); border: 1px solid var(--line); border-radius: 10px; margin-bottom: 12px; }
summary { cursor: pointer; padding: 13px 18px; font-weight: 600; list-style-position: inside; }
summary small { color: var(--soft); font-weight: 400; font-size: 13.5px; margin-left: 10px; }
.scroll { overflow: auto; max-height: 640px; padding: 0 18px 16px; }
.rows { border-collapse: collapse; font-size: 13.5px; font-variant-numeric: tabular-nums; min-width: 100%; }
.rows th, .rows td { padding: 6px 14px 6px 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
.rows th { text-align: left; font-weight: 500; color: var(--soft); position: sticky; top: 0; background: var(--card); }
.rows td { vertical-align: top; }
.rows tr:last-child td { border-bottom: 0; }
.rows .number { text-align: right; }
.rows .key { font-weight: 600; color: var(--ink); }
.rows .differs { padding: 3px 14px 3px 0; }
.pair { display: inline-grid; grid-template-columns: auto auto; gap: 0 8px; text-align: right; }
.pair { background: var(--bad-wash); border-radius: 6px; padding: 3px 9px; }
.soft .pair { background: var(--code); }
.pair i { font-style: normal; color: var(--soft); font-size: 11.5px; text-align: left; align-self: center; }
.pair b { font-weight: 600; }
.long { display: inline-block; width: max-content; max-width: 44ch; white-space: normal; overflow-wrap: anywhere; }
.missing { color: var(--soft); font-size: 12.5px; }
.about { color: var(--soft); font-size: 13.5px; padding: 0 18px 8px; }
.null { color: var(--faint); font-style: italic; }
.plans { display: grid; grid-template-columns: 1fr 1fr; gap: 16px; }
.plans > div { min-width: 0; }
pre { margin: 0; background: var(--code); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px;
  overflow: auto; max-height: 560px;
  font: 12px/1.55 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; tab-size: 4; }
.plans pre { font-size: 11.5px; white-space: pre-wrap; overflow-wrap: anywhere; }
code { font: 12.5px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
.empty { color: var(--soft); }
footer { margin-top: 56px; color: var(--faint); font-size: 13px; }
@media (max-width: 860px) {
  .plans { grid-template-columns: 1fr; } .figures { grid-template-columns: 1fr 1fr; } main { padding: 28px 16px 60px; }
}
@media (max-width: 600px) {
  h1 { font-size: 22px; } h2 { margin: 36px 0 12px; }
  .figures { gap: 10px; } .figures div { padding: 11px 14px; } .figures b { font-size: 21px; }
  .verdict { padding: 14px 16px; } .card { padding: 14px 14px; }
  svg.wide { display: none; } svg.narrow { display: block; }
  .classes tr { display: grid; grid-template-columns: 1fr auto; padding: 9px 0; border-top: 1px solid var(--line); }
  .classes tr:first-child { border-top: 0; }
  .classes td { border: 0; padding: 0; } .classes td:nth-child(2) { padding: 0; }
  .classes td:nth-child(3) { grid-column: 1 / -1; font-size: 13.5px; padding-top: 2px; }
  .cards, .cards tbody { display: block; }
  .cards tr:first-child { display: none; }
  .cards tr { display: flex; flex-direction: column; padding: 10px 12px; margin-bottom: 10px; background: var(--paper);
    border: 1px solid var(--line); border-radius: 8px; }
  .cards td, .rows.cards .number, .rows.cards .differs { display: flex; justify-content: space-between; gap: 14px; padding: 3px 0;
    border: 0; text-align: right; white-space: normal; overflow-wrap: anywhere; }
  .cards td::before { content: attr(data-label); color: var(--soft); font-weight: 400; text-align: left; flex: none; max-width: 45%; }
  .cards .missing { justify-content: flex-start; order: -3; } .cards .missing:empty { display: none; }
  .cards .differs { order: -2; } .cards .key { order: -1; }
  .scroll { padding: 0 12px 12px; max-height: none; }
}
@media print { details, .card, pre { break-inside: avoid; } pre, .scroll { max-height: none; } }
"""
