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
body { margin: 16px; font: 14px/1.45 system-ui, sans-serif; color: #1d2433; background: white; }
h1 { font-size: 17px; } h2 { font-size: 15px; margin: 22px 0 6px; }
p { max-width: 76em; color: #667085; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: 3px 12px 3px 0; border-bottom: 1px solid #d0d5dd; vertical-align: top; }
td { overflow-wrap: anywhere; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.bars { min-width: 22em; width: 40%; }
.bars i { display: block; height: 6px; margin: 1px 0; min-width: 1px; }
i.measured { background: #1d2433; } i.before { background: #e0a458; } i.after { background: #1f77b4; }
.key i { display: inline-block; width: 12px; height: 8px; margin: 0 4px 0 14px; }
</style>
</head>
<body>
<h1>Calibration of ${document["target"]}${f', preset {document["preset"]}' if document["preset"] else ''}</h1>
<p>Mean error of ${document["errors"]["layers"]} layers, in parts of the measured cycles: ${percent(document["errors"]["before"])} before,
${percent(document["errors"]["after"])} with the fitted constants, ${percent(document["errors"]["cross_validated"])} for layers that a fit has not seen.</p>

<h2>Layers, the worst first</h2>
<p class="key"><i class="measured"></i>measured <i class="before"></i>modelled before <i class="after"></i>modelled with the fitted constants</p>
<table id="layers">
<tr><th>layer</th><th>unit</th><th>kernel</th><th class="n">measured</th><th class="n">before</th><th class="n">after</th><th class="n">error before</th><th class="n">error after</th><th>cycles</th></tr>
% for row in layers:
<tr><td>${row["program"]}, ${row["index"]}: ${row["title"]}</td><td>${row["unit"]}</td><td>${row["pattern"]}</td>
<td class="n">${f'{row["measured"]:,}'}</td><td class="n">${f'{row["before"]:,}'}</td><td class="n">${f'{row["after"]:,}'}</td>
<td class="n">${percent(row["error_before"])}</td><td class="n">${percent(row["error_after"])}</td>
<td class="bars">${bar(row["measured"], "measured")}${bar(row["before"], "before")}${bar(row["after"], "after")}</td></tr>
% endfor
</table>

<h2>Constants that are replaced</h2>
<p>One standard error behind the value. Constants without one were replaced by an earlier figures file, or the counters do not determine them.</p>
<table id="figures">
<tr><th>constant</th><th class="n">before</th><th class="n">fitted</th><th>in</th></tr>
% for row in document["figures"]:
<tr><td>${row["unit"]}.${row["constant"]}</td><td class="n">${f'{row["before"]:g}'}</td>
<td class="n">${row["value"]}${'' if row["standard_error"] is None else f' ± {row["standard_error"]:.2g}'}</td><td>${row["in"]}</td></tr>
% endfor
</table>

<h2>Kernels, the worst first</h2>
<table id="kernels">
<tr><th>unit</th><th>kernel</th><th class="n">layers</th><th class="n">mean error before</th><th class="n">after</th></tr>
% for row in document["kernels"]:
<tr><td>${row["unit"]}</td><td>${row["pattern"]}</td><td class="n">${row["layers"]}</td><td class="n">${percent(row["before"])}</td><td class="n">${percent(row["after"])}</td></tr>
% endfor
</table>

<h2>Constants that keep their values</h2>
<p>The counters do not determine: ${", ".join(document["kept"]["not_determined"]) or "none"}.</p>
<p>No measured layer depends on: ${", ".join(document["kept"]["not_in_any_layer"]) or "none"}.</p>
</body>
</html>
