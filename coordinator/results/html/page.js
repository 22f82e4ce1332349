/*
 * Draws the plots of a report: what stands in the element "data", each into the place of its
 * number. Nothing else is read and nothing is loaded. Colours come from the style sheet, so a plot
 * follows the page into the dark and onto paper; a layout has a colour, a shape and a dash.
 */
"use strict";
(function () {
	const shapes = ["circle", "triangle", "rect", "rectRot", "star", "crossRot", "cross", "rectRounded"];
	const dashes = [[], [6, 3], [2, 2], [9, 3, 2, 3], [12, 4], [4, 4], [1, 3], [8, 2, 2, 2]];
	const open = ["star", "crossRot", "cross"]; // drawn by their stroke alone
	const verdictShapes = { faster: ["triangle", 0], slower: ["triangle", 180], "no-difference": ["circle", 0], "too-few": ["cross", 0], host: ["circle", 0] };

	function color(name) {
		return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
	}
	function layoutColor(i) {
		return color("c" + (i % 8));
	}
	// Beyond eight the colours come again, each with another shape and dash.
	function markOf(i) {
		return (i + 3 * Math.floor(i / 8)) % 8;
	}
	function shapeOf(i) {
		return shapes[markOf(i)];
	}
	function dashOf(i) {
		return dashes[markOf(i)];
	}

	const measure = document.createElement("canvas").getContext("2d");
	function cut(ctx, text, width) {
		if (ctx.measureText(text).width <= width) return text;
		while (text.length > 1 && ctx.measureText(text + "…").width > width) text = text.slice(0, -1);
		return text + "…";
	}

	// ---- numbers ----

	// As many significant digits; whole numbers are told in full.
	function digits(v, most = 3) {
		const before = v === 0 ? 0 : Math.floor(Math.log10(Math.abs(v))) + 1;
		return String(Number(v.toFixed(Math.min(Math.max(most - before, 0), 20))));
	}
	const bytes = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
	// Rates are told in MiB/s for as long as they are readable.
	function bytePower(v, unit) {
		let i = 0;
		while (Math.abs(v) >= (unit === "B/s" && i === 2 ? 9999.5 : 1023.5) && i + 1 < bytes.length) {
			v /= 1024;
			i++;
		}
		return i;
	}
	function padded(v) {
		return String(v).padStart(2, "0");
	}
	function nanoseconds(v, of, most) {
		if (of < clockFrom * 1e9) {
			const i = [1e9, 1e6, 1e3].findIndex((ns) => of >= 0.9995 * ns), power = i < 0 ? 1 : [1e9, 1e6, 1e3][i];
			return digits(v / power, most) + " " + (i < 0 ? "ns" : ["s", "ms", "µs"][i]);
		}
		// rounded once, so that no minute has 60 seconds
		const places = of >= 3600e9 ? Math.max(most - 4, 0) : Math.max(most - 3, 2);
		const total = Number((v / 1e9).toFixed(places)), minutes = Math.floor(total / 60);
		const rest = Number((total - 60 * minutes).toFixed(places));
		const seconds = (rest < 10 ? "0" : "") + (Number.isInteger(rest) ? rest : rest.toFixed(places)) + "s";
		if (minutes >= 60) return Math.floor(minutes / 60) + "h" + padded(minutes % 60) + "m" + (rest ? seconds : "");
		return minutes ? minutes + "m" + seconds : Number(rest) + "s";
	}
	// In the unit that is right for `of`: numbers beside each other share it.
	function text(v, unit, of = v, most = 3) {
		if (v === null || !isFinite(v)) return "";
		of = Math.abs(of);
		switch (unit) {
		case "s": return v === 0 ? "0 s" : nanoseconds(v * 1e9, of * 1e9, most);
		case "ns": return nanoseconds(v, of, most);
		case "B":
		case "B/s": {
			const i = bytePower(of, unit);
			return digits(v / Math.pow(1024, i), most) + " " + bytes[i] + unit.slice(1);
		}
		default: return digits(v, most) + " " + unit;
		}
	}
	// All of an axis, with digits enough that they differ.
	function texts(list, unit, of) {
		for (let most = 3; ; most++) {
			const shown = list.map((v) => text(v, unit, of === undefined ? v : of, most));
			if (new Set(shown).size === shown.length || most === 12) return shown;
		}
	}
	function percent(ln) {
		const p = 100 * Math.expm1(ln);
		return (p > 0 ? "+" : "") + String(Number(p.toPrecision(2))) + "%";
	}

	// ---- parts of charts ----

	function axis(title, more) {
		return Object.assign({
			title: { display: !!title, text: title, color: color("dim") },
			ticks: { color: color("dim"), maxRotation: 0 },
			grid: { color: color("line") },
			border: { color: color("line") },
		}, more || {});
	}
	// On a linear axis: round numbers of the unit that the values are shown in.
	function roundTicks(scale, unit) {
		const room = (scale.max - scale.min) / 6;
		const power = Math.pow(10, Math.floor(Math.log10(room / unit))) * unit;
		const step = power * [1, 2, 5, 10].find((s) => s * power >= room);
		stepTicks(scale, step);
	}
	function stepTicks(scale, step) {
		const list = [];
		for (let i = Math.ceil(scale.min / step); i * step <= scale.max; i++) list.push({ value: i * step });
		if (list.length > 1) scale.ticks = list;
	}
	function byteTicks(unit) {
		return (scale) => roundTicks(scale, Math.pow(1024, bytePower(scale.max, unit)));
	}
	const clockFrom = 600; // seconds; from there on, and in a run with such times, they are told in minutes
	function secondTicks(clock) {
		return (scale) => {
			if (clock || scale.max >= clockFrom) minuteTicks(scale);
		};
	}
	function minuteTicks(scale) {
		const room = (scale.max - scale.min) / 6;
		const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600].find((s) => s >= room);
		if (step) stepTicks(scale, step);
		else roundTicks(scale, 3600);
	}
	function values(unit, more, clock) {
		const own = { B: byteTicks("B"), "B/s": byteTicks("B/s"), s: secondTicks(clock) }[unit];
		return Object.assign({ ticks: ticks(unit, clock) }, own ? { afterBuildTicks: own } : {}, more);
	}
	// Beside each other as many as their words leave room for.
	function valuesAcross(unit, more, clock) {
		const scale = values(unit, more, clock);
		delete scale.ticks.maxTicksLimit;
		return scale;
	}
	function ticks(unit, clock) {
		return {
			color: color("dim"), maxRotation: 0, maxTicksLimit: 7, autoSkipPadding: 16,
			callback(v, i, all) { // of a logarithmic axis each in its own unit
				const of = this.type === "logarithmic" ? undefined : Math.max(clock ? clockFrom : 0, ...all.map((t) => Math.abs(t.value)));
				return texts(all.map((t) => t.value), unit, of)[i];
			},
		};
	}
	// On a logarithmic axis: powers of ten and, over few of them, their 2 and 5.
	function logTicks(scale) {
		const decades = Math.log10(scale.max / scale.min);
		const steps = decades < 2 ? [1, 2, 5] : [1];
		const list = [];
		for (let e = Math.floor(Math.log10(scale.min)); e <= Math.ceil(Math.log10(scale.max)); e++) {
			for (const s of steps) {
				const v = s * Math.pow(10, e);
				if (v >= scale.min && v <= scale.max) list.push({ value: v });
			}
		}
		if (list.length > 1) scale.ticks = list;
	}
	// A triangle of a circle's radius looks smaller.
	function radius(i) {
		return shapeOf(i) === "triangle" ? 6.5 : 5;
	}
	function pointStyle(i) {
		const shape = shapeOf(i);
		return {
			pointStyle: shape,
			pointRadius: radius(i),
			pointHoverRadius: 7,
			pointBorderWidth: open.includes(shape) ? 2 : 1,
			pointBorderColor: open.includes(shape) ? layoutColor(i) : color("ground"),
			pointBackgroundColor: layoutColor(i),
		};
	}
	const legendFont = "12px system-ui, sans-serif", legendBox = 28, legendGap = 16;
	function shownName(name, place) {
		measure.font = legendFont;
		return cut(measure, name, place.clientWidth - legendBox - 2 * legendGap);
	}
	// A plot's place grows by what its legend needs beyond one line.
	function makeRoom(place, plot, present) {
		let x = 0, rows = 1;
		for (const i of present) {
			const width = legendBox + legendGap + measure.measureText(shownName(plot.layouts[i], place)).width;
			if (x > 0 && x + width > place.clientWidth) {
				rows++;
				x = 0;
			}
			x += width;
		}
		// the library gives a legend half of the height at most
		place.style.height = Math.max(250 + 22 * (rows - 1), 2 * (22 * rows + 16)) + "px";
	}
	// One entry a layout; a click hides and shows all that belongs to it.
	function legend(plot, lines, place) {
		makeRoom(place, plot, [...new Set((plot.points || plot.lines).map((p) => p.l))]);
		return {
			display: true,
			position: "bottom",
			align: "start",
			labels: {
				usePointStyle: true,
				color: color("ink"),
				boxHeight: 8,
				boxWidth: lines ? legendBox : 8,
				generateLabels: (chart) => plot.layouts.map((name, i) => ({ name, i }))
					.filter(({ i }) => chart.data.datasets.some((d) => d.layout === i))
					.map(({ name, i }) => ({
						text: shownName(name, place),
						fontColor: color("ink"),
						fillStyle: layoutColor(i),
						strokeStyle: layoutColor(i),
						lineWidth: lines || open.includes(shapeOf(i)) ? 2 : 1,
						lineDash: lines ? dashOf(i) : [],
						pointStyle: lines ? "line" : shapeOf(i),
						layout: i,
						hidden: chart.data.datasets.every((d, k) => d.layout !== i || !chart.isDatasetVisible(k)),
					})),
			},
			onClick: (event, item, self) => {
				const chart = self.chart;
				chart.data.datasets.forEach((d, k) => {
					if (d.layout === item.layout) chart.setDatasetVisibility(k, item.hidden);
				});
				chart.update();
			},
		};
	}
	function options(scales, plugins) {
		return {
			animation: false,
			responsive: true,
			maintainAspectRatio: false,
			layout: { padding: { top: 8, right: 8 } }, // for marks on the edge
			scales,
			plugins: Object.assign({ legend: { display: false } }, plugins),
		};
	}

	// ---- every trial, in blocks and in time ----

	// A dot's value, in the unit of them all; a digit more than an axis has.
	function told(plot, v) {
		return text(v, plot.unit, plot.points.reduce((most, p) => Math.max(most, Math.abs(p.v)), plot.clock ? clockFrom : 0), 4);
	}
	// A row a layout, its name above its dots: there is room for any name and any number of them.
	function trialsChart(plot, place) {
		const present = [...new Set(plot.points.map((p) => p.l))].sort((a, b) => a - b);
		const blocks = [...new Set(plot.points.map((p) => p.b))].sort((a, b) => a - b);
		const datasets = blocks.map((b) => {
			const mine = plot.points.filter((p) => p.b === b).sort((a, c) => a.l - c.l);
			return {
				clip: 8,
				data: mine.map((p) => ({ x: p.v, y: present.indexOf(p.l), p })),
				showLine: false,
				pointStyle: mine.map((p) => shapeOf(p.l)),
				pointRadius: mine.map((p) => radius(p.l)),
				pointHoverRadius: 8,
				pointBackgroundColor: mine.map((p) => layoutColor(p.l)),
				pointBorderColor: mine.map((p) => open.includes(shapeOf(p.l)) ? layoutColor(p.l) : color("ground")),
				pointBorderWidth: mine.map((p) => open.includes(shapeOf(p.l)) ? 2 : 1),
			};
		});
		place.style.height = present.length * 44 + 56 + "px";
		return {
			type: "scatter",
			data: { datasets },
			options: options({
				x: axis(plot.metric, valuesAcross(plot.unit, { grace: "5%" }, plot.clock)),
				y: { display: false, reverse: true, min: -0.75, max: present.length - 0.6 },
			}, {
				tooltip: { callbacks: { label: (c) => plot.layouts[c.raw.p.l] + ", block " + c.raw.p.b + ": " + told(plot, c.raw.x) } },
			}),
			plugins: [joinsAndNames(present.map((l) => plot.layouts[l]), plot.join)],
		};
	}
	// Under the dots: what joins those of a block, then the names, on grounds of their own.
	function joinsAndNames(names, join) {
		return {
			id: "names",
			beforeDatasetsDraw(chart) {
				const { ctx, chartArea, scales } = chart;
				ctx.save();
				ctx.strokeStyle = color("dim");
				ctx.lineWidth = 1;
				for (const { data } of join ? chart.data.datasets : []) {
					ctx.beginPath();
					for (const p of data) ctx.lineTo(scales.x.getPixelForValue(p.x), scales.y.getPixelForValue(p.y));
					ctx.stroke();
				}
				ctx.font = legendFont;
				ctx.textBaseline = "alphabetic";
				names.forEach((name, i) => {
					const y = scales.y.getPixelForValue(i) - 12;
					const shown = cut(ctx, name, chartArea.right - chartArea.left);
					ctx.fillStyle = color("ground");
					ctx.fillRect(chartArea.left, y - 11, ctx.measureText(shown).width + 4, 14);
					ctx.fillStyle = color("ink");
					ctx.fillText(shown, chartArea.left, y);
				});
				ctx.restore();
			},
		};
	}
	function orderChart(plot, place) {
		const datasets = plot.layouts.map((name, l) => Object.assign({
			layout: l,
			label: name,
			clip: false,
			data: plot.points.filter((p) => p.l === l).map((p) => ({ x: p.x, y: p.v, p })),
		}, pointStyle(l))).filter((d) => d.data.length);
		return {
			type: "scatter",
			data: { datasets },
			options: options({
				x: axis(plot.timed ? "since the first trial" : "trial", plot.timed
					? valuesAcross("s", { min: 0 }) : { ticks: { color: color("dim"), precision: 0 }, min: 0 }),
				y: axis(plot.metric, values(plot.unit, { grace: "5%" }, plot.clock)),
			}, {
				legend: legend(plot, false, place),
				tooltip: { callbacks: { label: (c) => c.dataset.label + ", block " + c.raw.p.b + ": " + told(plot, c.raw.y) } },
			}),
		};
	}

	// ---- lines ----

	function lineStyle(l, many) {
		return {
			layout: l,
			borderColor: layoutColor(l),
			backgroundColor: layoutColor(l),
			borderDash: dashOf(l),
			borderWidth: many ? 1.25 : 2,
		};
	}
	function linesChart(plot, place) {
		const datasets = plot.lines.map((line) => Object.assign({
			label: plot.layouts[line.l] + ", " + line.label,
			clip: 6,
			data: line.p.map((p) => ({ x: p[0], y: p[1] })),
			pointRadius: line.p.length > 1 ? 0 : 3,
			pointStyle: shapeOf(line.l),
		}, lineStyle(line.l, true)));
		const y = values(plot.unit);
		if (plot.log) Object.assign(y, { type: "logarithmic", afterBuildTicks: logTicks });
		else y.beginAtZero = true;
		return {
			type: "line",
			data: { datasets },
			options: options({
				x: axis("time in the trial", valuesAcross("s", { type: "linear", min: 0 })),
				y: axis("", y),
			}, {
				legend: legend(plot, true, place),
				tooltip: { callbacks: {
					title: (items) => items.length ? text(items[0].parsed.x, "s") : "",
					label: (c) => c.dataset.label + ": " + text(c.parsed.y, plot.unit, c.parsed.y, 4),
				} },
			}),
		};
	}
	function percentilesChart(plot, place) {
		const datasets = plot.lines.map((line) => Object.assign(
			pointStyle(line.l), lineStyle(line.l, false),
			{ label: plot.layouts[line.l], data: line.v, spanGaps: true, clip: 8 }));
		return {
			type: "line",
			data: { labels: plot.labels, datasets },
			options: options({
				x: axis("operations no slower than", { ticks: { color: color("dim"), maxRotation: 50, autoSkip: false } }),
				y: axis("latency", { type: "logarithmic", ticks: ticks(plot.unit), afterBuildTicks: logTicks }),
			}, {
				legend: legend(plot, true, place),
				tooltip: { callbacks: { label: (c) => c.dataset.label + ": " + text(c.parsed.y, plot.unit, c.parsed.y, 4) } },
			}),
		};
	}

	// ---- ratios ----

	// Round percentages over a range of ln ratios; round factors over a wide one.
	function ratioTicks(scale) {
		const lo = Math.expm1(scale.min), hi = Math.expm1(scale.max);
		const list = [];
		if (isWide(scale)) {
			const decades = (scale.max - scale.min) / Math.LN10, most = scale.width / 70;
			const each = Math.max(1, Math.ceil(decades / most));
			const last = Math.ceil(Math.max(-scale.min, scale.max) / Math.LN10 / each) * each;
			for (let e = -last; e <= last; e += each) {
				for (const s of 2 * decades < most ? [1, 3] : [1]) list.push(Math.log(s * Math.pow(10, e)));
			}
		} else {
			const room = (hi - lo) / Math.max(3, Math.min(7, scale.width / 90));
			const power = Math.pow(10, Math.floor(Math.log10(room)));
			const step = power * [1, 2, 5, 10].find((s) => s * power >= room);
			for (let i = Math.ceil(lo / step); i * step <= hi; i++) {
				if (i * step > -1) list.push(Math.log1p(i * step));
			}
		}
		// from no change outwards, where they do not stand too close
		const at = (v) => (v - scale.min) / (scale.max - scale.min) * scale.width, kept = [];
		for (const v of list.filter((v) => v >= scale.min && v <= scale.max).sort((a, b) => Math.abs(a) - Math.abs(b))) {
			if (kept.every((k) => Math.abs(at(k) - at(v)) >= 48)) kept.push(v);
		}
		scale.ticks = kept.sort((a, b) => a - b).map((value) => ({ value }));
	}
	function isWide(scale) {
		return scale.max - scale.min > 2.5;
	}
	function ratioText(v) {
		return isWide(this) ? "×" + digits(Math.exp(v)) : percent(v);
	}
	function ratioRange(values) {
		const known = values.filter((v) => v !== null && isFinite(v)).concat(0);
		const lo = Math.min(...known), hi = Math.max(...known), room = Math.max((hi - lo) * 0.06, 0.002);
		return { min: lo - room, max: hi + room };
	}
	// For each row its words and, in the lane below them, the margin's band, the line of no change and
	// its interval: no line runs through a word, however narrow the page.
	function forestParts(plot) {
		return {
			id: "forest",
			beforeDatasetsDraw(chart) {
				chart.ctx.save();
				chart.ctx.textBaseline = "alphabetic";
				plot.rows.forEach((row, i) => {
					words(chart, row, i);
					if (plot.margin) lane(chart, i, -plot.margin, plot.margin, color("band"));
					lane(chart, i, 0, 0, color("ink"));
					if (row.lo !== null) interval(chart, row, i);
				});
				chart.ctx.restore();
			},
		};
	}
	const laneAbove = 7, laneBelow = 9; // pixels around the middle of a row's interval
	function lane(chart, i, lo, hi, style) {
		const { ctx, chartArea, scales } = chart, y = scales.y.getPixelForValue(i);
		const from = Math.max(scales.x.getPixelForValue(lo), chartArea.left);
		const to = Math.min(scales.x.getPixelForValue(hi), chartArea.right);
		ctx.fillStyle = style;
		ctx.fillRect(from, y - laneAbove, Math.max(to - from, 1), laneAbove + laneBelow);
	}
	function words(chart, row, i) {
		const { ctx, chartArea, scales } = chart, y = scales.y.getPixelForValue(i) - laneAbove;
		const quiet = row.invalid ? color("bad") : color("dim");
		const lines = row.verdict === "host"
			? [[row.label + "  " + row.text, y - 4, legendFont, color("ink")]]
			: [[row.label, y - 19, (row.overall ? "600 " : "") + legendFont, row.invalid ? quiet : color("ink")],
				[row.text, y - 5, legendFont, quiet]];
		for (const [text, base, font, style] of lines) {
			ctx.font = font;
			ctx.fillStyle = style;
			ctx.fillText(cut(ctx, text, chartArea.right - chartArea.left), chartArea.left, base);
		}
	}
	function interval(chart, row, i) {
		const { ctx, scales } = chart, y = scales.y.getPixelForValue(i);
		const from = scales.x.getPixelForValue(row.lo), to = scales.x.getPixelForValue(row.hi);
		ctx.strokeStyle = rowColor(row);
		ctx.lineWidth = 2;
		ctx.beginPath();
		ctx.moveTo(from, y);
		ctx.lineTo(to, y);
		for (const end of [from, to]) {
			ctx.moveTo(end, y - 4);
			ctx.lineTo(end, y + 4);
		}
		ctx.stroke();
	}
	function rowColor(row) {
		if (row.invalid) return color("bad");
		return { faster: color("c0"), slower: color("c1") }[row.verdict] || color("dim");
	}
	function forestChart(plot, place) {
		const rows = plot.rows;
		place.style.height = rows.length * (plot.compact ? 34 : 56) + 60 + "px";
		return {
			type: "scatter",
			data: { datasets: [{
				data: rows.map((row, i) => ({ x: row.d, y: i, row })).filter((p) => p.x !== null),
				pointStyle: (c) => c.raw ? verdictShapes[c.raw.row.verdict][0] : "circle",
				rotation: (c) => c.raw ? verdictShapes[c.raw.row.verdict][1] : 0,
				pointRadius: (c) => c.raw && verdictShapes[c.raw.row.verdict][0] === "triangle" ? 8 : 6,
				pointHoverRadius: 9,
				pointBorderWidth: (c) => c.raw && c.raw.row.verdict === "too-few" ? 2 : 1,
				pointBackgroundColor: (c) => c.raw ? rowColor(c.raw.row) : color("dim"),
				pointBorderColor: (c) => c.raw && c.raw.row.verdict === "too-few" ? rowColor(c.raw.row) : color("ground"),
			}] },
			options: options({
				x: axis(plot.higher ? "← slower · no change · faster →" : "← faster · no change · slower →", Object.assign({
					afterBuildTicks: ratioTicks,
					grid: { drawOnChartArea: false, color: color("line") },
					ticks: { color: color("dim"), maxRotation: 0, autoSkip: false, callback: ratioText },
				}, ratioRange(rows.flatMap((row) => [row.d, row.lo, row.hi]).concat(plot.margin ? [plot.margin, -plot.margin] : [])))),
				y: { display: false, reverse: true, min: -0.85, max: rows.length - 0.65 },
			}, {
				tooltip: { callbacks: { label: (c) => c.raw.row.label + ": " + c.raw.row.text } },
			}),
			plugins: [forestParts(plot)],
		};
	}
	function ratiosChart(plot) {
		const { min, max } = ratioRange(plot.values), n = 30, width = (max - min) / n;
		const bins = new Array(n).fill(0);
		for (const v of plot.values) bins[Math.min(n - 1, Math.floor((v - min) / width))]++;
		return {
			type: "bar",
			data: { datasets: [{
				data: bins.map((count, i) => ({ x: min + (i + 0.5) * width, y: count })),
				backgroundColor: color("c0"),
				barPercentage: 1,
				categoryPercentage: 0.95,
			}] },
			options: options({
				x: axis(plot.label, { type: "linear", min, max, offset: false, afterBuildTicks: ratioTicks,
					grid: { offset: false, color: color("line") },
					ticks: { color: color("dim"), maxRotation: 0, autoSkip: false, callback: ratioText } }),
				y: axis("hosts", { ticks: { color: color("dim"), precision: 0 } }),
			}, {
				tooltip: { callbacks: { title: () => "", label: (c) => c.parsed.y + " hosts around " + percent(c.parsed.x) } },
				subtitle: {
					display: plot.outliers.length > 0,
					color: color("ink"),
					text: "stand out: " + plot.outliers.slice(0, 8).join(", ") + (plot.outliers.length > 8 ? ", …" : ""),
				},
			}),
		};
	}

	// ---- the page ----

	const kinds = { forest: forestChart, ratios: ratiosChart, trials: trialsChart, order: orderChart, lines: linesChart, percentiles: percentilesChart };
	const plots = JSON.parse(document.getElementById("data").textContent).plots;
	const charts = [];

	function draw() {
		charts.splice(0).forEach((chart) => chart.destroy());
		plots.forEach((plot, i) => {
			const place = document.getElementById("plot-" + i), canvas = document.createElement("canvas");
			place.replaceChildren(canvas);
			charts.push(new Chart(canvas, kinds[plot.kind](plot, place)));
		});
	}
	Chart.defaults.font.family = "system-ui, sans-serif";
	draw();
	let width = innerWidth;
	addEventListener("resize", () => {
		if (innerWidth !== width) draw();
		width = innerWidth;
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
	// Paper has its own colours, and no folds.
	let unfolded = [];
	addEventListener("beforeprint", () => {
		unfolded = [...document.querySelectorAll("details:not([open])")];
		unfolded.forEach((d) => { d.open = true; });
		document.documentElement.dataset.paper = "";
		draw();
	});
	addEventListener("afterprint", () => {
		unfolded.forEach((d) => { d.open = false; });
		delete document.documentElement.dataset.paper;
		draw();
	});
})();
