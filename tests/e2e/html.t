#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The HTML report in a real browser (headless Chromium): nothing on its console, nothing loaded, every
# canvas drawn, at no width wider than its window, all cells and verdicts on a phone; of a run made here,
# of a fleet, of a file of old results, of next to nothing, and with names that are markup.
# Functions are passed by name, which the linter cannot follow.
# shellcheck disable=SC2317,SC2119
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

for CHROMIUM in chromium chromium-browser google-chrome ''; do
	if [ -z "$CHROMIUM" ] || command -v "$CHROMIUM" >/dev/null; then break; fi
done

# browse FILE OPTION…: loads it; its console is in $T/console, what the options print on stdout.
browse() {
	local page=$1
	shift
	rm -rf --one-file-system "$T/profile"
	timeout --kill-after=5 60 "$CHROMIUM" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync \
		--host-resolver-rules='MAP * ~NOTFOUND' --user-data-dir="$T/profile" --hide-scrollbars \
		--enable-logging=stderr "$@" "file://$page" 2>"$T/browser" </dev/null
	STATUS=$?
	grep -E ':CONSOLE' "$T/browser" >"$T/console"
	return "$STATUS"
}

# looked_at FILE WIDTH…: what a script finds out about the page at each width, one "WIDTH NAME=VALUE" a
# line. It is put into a copy of the page without the policy, under which nothing but the page's own
# scripts would run. The copy stands in frames of those widths, since windows are never as narrow as a
# phone.
looked_at() {
	local copy=$T/copy.html page=$1
	shift
	{
		sed -e '/<meta http-equiv="Content-Security-Policy"/d' -e '/^<\/body>$/,$d' "$page"
		cat <<-'END'
			<script>
			addEventListener("load", () => {
				const pixelsOf = (c) => c.width && c.height ? c.getContext("2d").getImageData(0, 0, c.width, c.height).data : [];
				const painted = [...document.querySelectorAll("canvas")].filter((c) => {
					const pixels = pixelsOf(c);
					let n = 0;
					for (let i = 3; i < pixels.length; i += 4) n += pixels[i] > 0;
					return n > 200;
				});
				const charts = typeof Chart === "undefined" ? [] : Object.values(Chart.instances);
				const cut = charts.filter((c) => c.legend && c.legend.legendHitBoxes.some((b) => b.top + b.height > c.height));
				const crowded = charts.filter((c) => {
					const x = c.scales.x;
					c.ctx.font = "12px system-ui, sans-serif";
					return x.ticks.some((t, i) => i > 0 && x.getPixelForTick(i) - x.getPixelForTick(i - 1)
						< (c.ctx.measureText(t.label).width + c.ctx.measureText(x.ticks[i - 1].label).width) / 2);
				});
				const same = charts.filter((c) => Object.values(c.scales).some((s) => {
					const labels = s.options.display ? s.ticks.map((t) => t.label) : [];
					return new Set(labels).size < labels.length;
				}));
				const twins = charts.filter((c) => {
					const marks = new Map(c.data.datasets.filter((d) => d.layout !== undefined)
						.map((d) => [d.layout, [d.borderColor || d.pointBackgroundColor, d.borderDash || d.pointStyle].join()]));
					return new Set(marks.values()).size < marks.size;
				});
				// the line of no change is not longer than the lane of an interval
				const crossed = charts.filter((c) => c.canvas.closest(".forest")).filter((c) => {
					const pixels = pixelsOf(c.canvas), zoom = c.currentDevicePixelRatio;
					const x = Math.round(c.scales.x.getPixelForValue(0) * zoom);
					let run = 0, longest = 0;
					for (let y = 0; y < c.chartArea.bottom * zoom - 2; y++) {
						run = pixels[4 * (y * c.canvas.width + x) + 3] > 0 ? run + 1 : 0;
						longest = Math.max(longest, run);
					}
					return longest > 22 * zoom;
				});
				const seen = (e) => { const r = e.getBoundingClientRect(); return r.width > 0 && r.left >= 0 && r.right <= innerWidth + 1; };
				const cells = [...document.querySelectorAll("details[open] td")].filter((e) => e.textContent);
				const verdicts = [...document.querySelectorAll("details[open] table")].flatMap((t) => {
					const at = [...t.querySelectorAll("th")].findIndex((h) => h.textContent === "verdict");
					return at < 0 ? [] : [...t.querySelectorAll("tbody tr")].map((r) => r.cells[at]);
				});
				parent.postMessage(["plots=" + document.querySelectorAll(".plot").length,
					"painted=" + painted.length,
					"loaded=" + performance.getEntriesByType("resource").length,
					"images=" + document.querySelectorAll("img, iframe, object, link").length,
					"scripts=" + document.querySelectorAll("script").length,
					"cut=" + cut.length,
					"crowded=" + crowded.length,
					"same=" + same.length,
					"twins=" + twins.length,
					"crossed=" + crossed.length,
					"cells=" + cells.length,
					"hidden=" + cells.filter((e) => !seen(e)).length,
					"verdicts=" + verdicts.length,
					"unseen=" + verdicts.filter((e) => !seen(e)).length,
					"wide=" + (document.documentElement.scrollWidth > innerWidth)].map((s) => innerWidth + " " + s), "*");
			});
			</script>
			</body></html>
		END
	} >"$copy"
	{
		cat <<-'END'
			<!DOCTYPE html><html><head><title></title><script>
			let all = "looked";
			onmessage = (e) => { all += "\n" + e.data.join("\n"); document.title = all + "\n"; };
			</script></head><body>
		END
		printf '<iframe src="copy.html" width="%u" height="900" style="border:0"></iframe>\n' "$@"
		echo '</body></html>'
	} >"$T/frame.html"
	browse "$T/frame.html" --window-size=2000,1000 --virtual-time-budget=5000 --dump-dom | sed -n '/<title>looked/,/<\/title>/p'
}

# is_fine NAME FILE [PLOTS]: the page has that many plots at least.
is_fine() {
	local name=$1 page=$2 plots=${3:-1} found width
	check "$name: the browser shows it" browse "$page" --screenshot="$T/shot.png"
	check "$name: its screenshot is a picture" test -s "$T/shot.png"
	is "$name: the console is silent" "$(cat "$T/console")" ""
	found=$(looked_at "$page" 390 768 1280 1920)
	like "$name: nothing is loaded" "$found" '^1280 loaded=0$'
	like "$name: nothing could be" "$found" '^1280 images=0$'
	like "$name: its scripts are its own" "$found" '^1280 scripts=4$'
	check "$name: it has plots" test "$(sed -n 's/^1280 plots=//p' <<<"$found")" -ge "$plots"
	like "$name: layouts can be told apart" "$found" '^1280 twins=0$'
	like "$name: so can the numbers of every axis" "$found" '^1280 same=0$'
	for width in 390 768 1280 1920; do
		is "$name: each plot is drawn at $width" "$(sed -n "s/^$width painted=//p" <<<"$found")" \
			"$(sed -n "s/^$width plots=//p" <<<"$found")"
		like "$name: nothing is wider than $width" "$found" "^$width wide=false$"
		like "$name: each verdict is seen at $width" "$found" "^$width unseen=0$"
		like "$name: no line runs through words at $width" "$found" "^$width crossed=0$"
	done
	like "$name: a phone shows every cell of its tables" "$found" '^390 hidden=0$'
	like "$name: whole legends" "$found" '^390 cut=0$'
	like "$name: and room between the ticks" "$found" '^390 crowded=0$'
}

# export_of FILE: the lines on standard input as an export of run 1 that is whole.
export_of() {
	jq -c 'select(.type != "end")' >"$1"
	echo "{\"type\":\"end\",\"run\":1,\"lines\":$(wc -l <"$1")}" >>"$1"
}

html_of() { # html_of PAGE OPTION…
	local page=$1
	shift
	ARRAYMARK_COORDINATOR=127.0.0.1:1 "$FLEET_BIN/arraymark" report --format html -o "$page" "$@"
}

write_plan() {
	cat >"$T/plan.yaml" <<-END
		name: two-folders
		hosts: [one]
		trials: 3
		layouts:
		  left:  {existing: $FLEET/one/existing}
		  right: {existing: $FLEET/one/existing}
		workloads:
		  write: {stream: {op: write, size: 4M, block-size: 256K}}
		  read:  {stream: {op: read, of: write}}
		samples: 100ms
	END
}

# The check itself: a page that loads something and says something is found out.
test_check() {
	cat >"$T/bad.html" <<-'END'
		<!DOCTYPE html>
		<html><head><title>bad</title></head><body>
		<img src="http://127.0.0.1:9/x.png"><canvas></canvas><div class="plot" style="width:1000px;height:10px"></div>
		<details open><div style="width:100px;overflow-x:auto"><table><thead><tr><th>layout<th>verdict</thead><tbody>
		<tr><td><div style="width:400px">a</div><td>slower</tbody></table></div></details>
		<script>console.log("spoken")</script>
		</body>
		</html>
	END
	browse "$T/bad.html" --dump-dom >/dev/null
	like "what a page says is heard" "$(cat "$T/console")" 'spoken'
	local found
	found=$(looked_at "$T/bad.html" 390)
	like "what it loads is seen" "$found" '^390 loaded=1$'
	like "an empty canvas is seen" "$found" '^390 painted=0$'
	like "too wide is seen" "$found" '^390 wide=true$'
	like "a verdict beyond the edge is seen" "$found" '^390 unseen=1$'
	like "cells beyond the edge are seen" "$found" '^390 hidden=2$'
}

test_run() {
	write_plan
	ends "a run ends with 0" 0 fleet_ctl run "$T/plan.yaml"
	fleet_ctl export 1 >"$T/run.jsonl"
	ends "a report of it is written" 0 fleet_ctl report 1 --format html -o "$T/run.html"
	# forest, trials, order, throughput, p99, percentiles, each for write and read
	is_fine "run" "$T/run.html" 11
	check "it is printed" browse "$T/run.html" --print-to-pdf="$T/run.pdf"
	is "without a word on the console" "$(cat "$T/console")" ""
	html_of "$T/again.html" "$T/run.jsonl"
	check "its export gives the same page" cmp "$T/run.html" "$T/again.html"
}

# Seventy hosts like the one that ran: over 60, so a histogram.
test_fleet() {
	jq -c 'if .host then . as $line | range(70) | $line + {host: "n\(.)"}
		else . end' "$T/run.jsonl" | jq -c 'if .elapsed_ns then .elapsed_ns += (.host[1:] | tonumber) * 100000 else . end' | export_of "$T/fleet.jsonl"
	ends "a fleet's report is written" 0 html_of "$T/fleet.html" "$T/fleet.jsonl"
	check "with histograms of its hosts" grep -q 'class="plot ratios"' "$T/fleet.html"
	is_fine "fleet" "$T/fleet.html" 20
}

# More layouts than there are colours, with names that are longer than a phone is wide.
test_many_layouts() {
	jq -c 'def name: "raidz2-of-\(.)-disks-on-the-second-controller-and-the-board";
		if .type == "run" then .layouts = [range(12) | name]
		elif .type == "trial" or .type == "series" then . as $line | range(12) | . as $l
			| $line + {trial: ($line.trial * 12 + $l)}
			| if .type == "trial" then .layout = $l | .layout_name = ($l | name) else . end
		elif .type == "plan" or .type == "environment" then . else empty end' "$T/run.jsonl" | export_of "$T/many.jsonl"
	ends "many layouts are reported" 0 html_of "$T/many.html" "$T/many.jsonl"
	is_fine "many layouts" "$T/many.html" 11
}

test_old_results() {
	ends "old results are reported" 0 html_of "$T/old.html" "$ROOT/deploy/examples/raidz2-8-vs-10-disks.txt"
	is_fine "old results" "$T/old.html" 3
}

# So few trials that nothing can be told, or nothing to compare with.
test_little() {
	local trials='select(.type == "run" or .type == "plan" or .type == "environment" or .type == "trial")'
	jq -c "$trials"' | select((.block // 1) == 1)' "$T/run.jsonl" | export_of "$T/one.jsonl"
	ends "one trial of each is reported" 0 html_of "$T/one.html" "$T/one.jsonl"
	is_fine "one trial" "$T/one.html" 4
	jq -c "$trials"' | select((.block // 1) <= 2)' "$T/run.jsonl" | export_of "$T/two.jsonl"
	ends "two trials of each are reported" 0 html_of "$T/two.html" "$T/two.jsonl"
	like "which are too few" "$(cat "$T/two.html")" '2 with too few trials'
	is_fine "two trials" "$T/two.html" 4
	jq -c "$trials"' | if .type == "run" then .layouts = ["left"] else select((.layout // 0) == 0) end' "$T/run.jsonl" | export_of "$T/alone.jsonl"
	ends "one layout is reported" 0 html_of "$T/alone.html" "$T/alone.jsonl"
	like "which nothing is compared with" "$(cat "$T/alone.html")" 'Nothing is compared here'
	is_fine "one layout" "$T/alone.html" 4
}

test_hostile() {
	jq -c --arg bad '</script><img src=http://127.0.0.1:9/x onerror=document.title=1><!--' \
		'if .type == "run" then .name = $bad | .layouts[0] = $bad
		elif .type == "trial" and .layout == 0 then .layout_name = $bad
		elif .type == "plan" then .text = $bad else . end' "$T/run.jsonl" | export_of "$T/hostile.jsonl"
	ends "names that are markup are reported" 0 html_of "$T/hostile.html" "$T/hostile.jsonl"
	is_fine "markup" "$T/hostile.html" 11
}

main() {
	[ -n "$CHROMIUM" ] || skip_all "there is no chromium here"
	if is_root && ! has_accounts; then skip_all "the accounts of the agent are missing: run deploy/install-deps accounts"; fi
	fleet_init without-zfs
	mkdir -p "$FLEET/one"
	fleet_policy "$FLEET/one" >"$FLEET/one/agent.yaml"
	fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts"
	fleet_agents one 2>"$T/err" || bail "an agent comes up"
	test_check
	test_run
	if ! grep -q 'class="plot' "$T/run.html"; then
		like "without its plotting library the page says so" "$(cat "$T/run.html")" 'tables only'
		done_testing
	fi
	test_fleet
	test_many_layouts
	test_old_results
	test_little
	test_hostile
	done_testing
}

main
