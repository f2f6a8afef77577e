<%page expression_filter="h"/>\
<%def name="bar(cycles, kind)"><i class="${kind}" style="width: ${f'{100 * cycles / longest:.2f}'}%"></i></%def>\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'">
<title>match calibrate: ${document["target"]}</title>
<style>
/* The colours and sizes of the report page (match-report). */
:root {
  color-scheme: light dark;
  --page: light-dark(#ffffff, #14171d); --panel: light-dark(#f6f7f9, #1c2028); --line: light-dark(#dde1e8, #323946);
  --text: light-dark(#1c2030, #e6e9ef); --soft: light-dark(#586174, #a3acbb); --accent: light-dark(#3a45b8, #aab4ff);
  --before: light-dark(#c98a3c, #e0a458);
}
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; color: var(--text); background: var(--page);
  font-variant-numeric: tabular-nums; }
header { border-bottom: 1px solid var(--line); padding: 14px 24px; }
main { padding: 0 24px 56px; max-width: 1120px; }
h1 { font-size: 20px; line-height: 1.25; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 17px; line-height: 1.3; margin: 32px 0 10px; }
p { margin: 6px 0; max-width: 76em; color: var(--soft); font-size: 14px; overflow-wrap: anywhere; }
.stats { display: flex; flex-wrap: wrap; gap: 16px 48px; margin: 24px 0; }
.stats dt { color: var(--soft); font-size: 14px; }
.stats dd { margin: 0; font-size: 28px; font-weight: 600; line-height: 1.25; letter-spacing: -0.01em; }
.frame { overflow-x: auto; }
.frame:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; padding: 6px 12px 6px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
td:first-child { min-width: 14em; overflow-wrap: break-word; }
.n { text-align: right; white-space: nowrap; }
.bars { min-width: 10em; width: 20%; }
.bars i { display: block; height: 6px; margin: 2px 0; min-width: 1px; border-radius: 2px; }
i.measured { background: var(--text); } i.before { background: var(--before); } i.after { background: var(--accent); }
.key i { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin: 0 7px 0 16px; }
.key i:first-child { margin-left: 0; }
@media (max-width: 600px) { header, main { padding-left: 14px; padding-right: 14px; } }
</style>
</head>
<body>
<% errors = document["errors"] %>\
<header>
<h1>Calibration of ${document["target"]}</h1>
<p>${f'preset {document["preset"]}, ' if document["preset"] else ''}${errors["layers"]} measured layers, fitted constants: ${len(document["figures"])}</p>
</header>
<main>
<dl class="stats">
<div><dt>mean error before</dt><dd>${percent(errors["before"])}</dd></div>
<div><dt>with the fitted constants</dt><dd>${percent(errors["after"])}</dd></div>
<div><dt>for layers that a fit has not seen</dt><dd>${percent(errors["cross_validated"])}</dd></div>
</dl>
<p>Errors are shares of the measured cycles.</p>

<h2>Layers, the worst first</h2>
<p class="key"><i class="measured"></i>measured <i class="before"></i>modelled before <i class="after"></i>modelled with the fitted constants</p>
<div class="frame" tabindex="0" role="region" aria-label="layers"><table id="layers">
<tr><th>layer</th><th>unit</th><th>kernel</th><th class="n">measured</th><th class="n">before</th><th class="n">after</th><th class="n">error before</th><th class="n">error after</th><th>cycles</th></tr>
% for row in layers:
<tr><td>${row["program"]}, ${row["index"]}: ${row["title"]}</td><td>${row["unit"]}</td><td>${row["pattern"]}</td>
<td class="n">${f'{row["measured"]:,}'}</td><td class="n">${f'{row["before"]:,}'}</td><td class="n">${f'{row["after"]:,}'}</td>
<td class="n">${percent(row["error_before"])}</td><td class="n">${percent(row["error_after"])}</td>
<td class="bars">${bar(row["measured"], "measured")}${bar(row["before"], "before")}${bar(row["after"], "after")}</td></tr>
% endfor
</table></div>

<h2>Constants that are replaced</h2>
<p>The number after ± is one standard error. A constant without it comes from an earlier figures file, or the counters do not determine it.</p>
<div class="frame" tabindex="0" role="region" aria-label="figures"><table id="figures">
<tr><th>constant</th><th class="n">before</th><th class="n">fitted</th><th>in</th></tr>
% for row in document["figures"]:
<tr><td>${row["unit"]}.${row["constant"]}</td><td class="n">${f'{row["before"]:g}'}</td>
<td class="n">${row["value"]}${'' if row["standard_error"] is None else f' ± {row["standard_error"]:.2g}'}</td><td>${row["in"]}</td></tr>
% endfor
</table></div>

<h2>Kernels, the worst first</h2>
<div class="frame" tabindex="0" role="region" aria-label="kernels"><table id="kernels">
<tr><th>unit</th><th>kernel</th><th class="n">layers</th><th class="n">mean error before</th><th class="n">after</th></tr>
% for row in document["kernels"]:
<tr><td>${row["unit"]}</td><td>${row["pattern"]}</td><td class="n">${row["layers"]}</td><td class="n">${percent(row["before"])}</td><td class="n">${percent(row["after"])}</td></tr>
% endfor
</table></div>

<h2>Constants that keep their values</h2>
<p>The counters do not determine: ${", ".join(document["kept"]["not_determined"]) or "none"}.</p>
<p>No measured layer depends on: ${", ".join(document["kept"]["not_in_any_layer"]) or "none"}.</p>
</main>
</body>
</html>
