"""How a validation report looks."""

STYLE = """
:root { --ground:#f6f7f9; --paper:#fff; --ink:#1b2330; --soft:#5b6675; --line:#dfe3e9;
  --good:#1a7f4b; --good-bg:#e3f4ea; --warn:#8a5a00; --warn-bg:#fdf1d7; --bad:#b3261e; --bad-bg:#fce8e6;
  --info:#1f5fa8; --info-bg:#e6f0fb; }
@media (prefers-color-scheme: dark) { :root { --ground:#12161c; --paper:#1a2029; --ink:#e6eaf0; --soft:#9aa6b5;
  --line:#2d3642; --good:#63d297; --good-bg:#12301f; --warn:#f0bf5c; --warn-bg:#33270c; --bad:#ff8a80; --bad-bg:#3a1715;
  --info:#86b8f2; --info-bg:#142740; } }
* { box-sizing:border-box; }
body { margin:0; background:var(--ground); color:var(--ink);
  font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif; }
main { max-width:60rem; margin:0 auto; padding:2rem 1rem 4rem; }
h1 { margin:.1rem 0; font-size:1.7rem; overflow-wrap:anywhere; }
h2 { margin:2.2rem 0 .8rem; font-size:1.1rem; }
h3 { display:flex; flex-wrap:wrap; gap:.6rem; align-items:center; margin:0 0 .6rem; font-size:1rem; }
code { font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace; font-size:.92em; overflow-wrap:anywhere; }
a { color:var(--info); }
.kicker { margin:0; color:var(--soft); text-transform:uppercase; letter-spacing:.08em; font-size:.75rem; }
.sub { margin:.2rem 0 1rem; color:var(--soft); }
.verdict { display:inline-block; margin:0; padding:.3rem .9rem; border-radius:999px; font-weight:600; }
.good { color:var(--good); } .warn { color:var(--warn); } .bad { color:var(--bad); } .info { color:var(--info); }
.verdict.good,.badge.good { background:var(--good-bg); } .verdict.warn,.badge.warn { background:var(--warn-bg); }
.verdict.bad,.badge.bad,.note.bad { background:var(--bad-bg); } .badge.info { background:var(--info-bg); }
.badge { padding:.05rem .6rem; border-radius:999px; font-size:.8rem; font-weight:600; }
.note { padding:.7rem 1rem; border-radius:8px; }
.tiles { display:grid; grid-template-columns:repeat(auto-fit,minmax(8rem,1fr)); gap:.8rem; margin-top:1.4rem; }
.tile { padding:.8rem 1rem; background:var(--paper); border:1px solid var(--line); border-radius:8px; }
.tile b { display:block; font-size:1.5rem; line-height:1.2; } .tile span { color:var(--soft); font-size:.85rem; }
.check { margin-bottom:1rem; padding:1rem 1.2rem; background:var(--paper); color:var(--ink);
  border:1px solid var(--line); border-left:4px solid currentColor; border-radius:8px; }
.check.bad { border-left-color:var(--bad); } .check.warn { border-left-color:var(--warn); }
.check.info { border-left-color:var(--info); }
dl { display:grid; grid-template-columns:max-content 1fr; gap:.15rem 1rem; margin:0; }
dt { color:var(--soft); } dd { margin:0; overflow-wrap:anywhere; white-space:pre-wrap; }
details { margin-top:.8rem; } summary { cursor:pointer; color:var(--soft); }
.wide { margin-top:.5rem; overflow-x:auto; border:1px solid var(--line); border-radius:8px; background:var(--paper); }
table { width:100%; border-collapse:collapse; font-size:.9rem; }
th,td { padding:.4rem .8rem; text-align:left; vertical-align:top; border-bottom:1px solid var(--line); }
td { white-space:pre-wrap; overflow-wrap:anywhere; min-width:5rem; max-width:28rem; }
th { color:var(--soft); font-weight:600; white-space:nowrap; } tr:last-child td { border-bottom:0; }
.null { color:var(--soft); font-style:italic; }
@media (max-width:36rem) { dl { grid-template-columns:1fr; } dd { margin-bottom:.5rem; } }
@media print { body { background:none; } .check,.tile { break-inside:avoid; } }
"""
