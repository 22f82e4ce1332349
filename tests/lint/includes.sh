#!/usr/bin/env bash
# Who may include whom: base <- measure <- plan, formats <- proto <- agent, coordinator,
# coordinator/ctl. Checks every .c and .h below ROOT (default: this repository):
#   - quoted includes name an existing file from the root, and one that the folder may see;
#   - generated *.pb-c.h stays in proto/ (tests may craft messages with it);
#   - libraries stay where they belong (SQLite in the stores, TLS at the edges, ...).
# Usage: includes.sh [ROOT]
set -u
cd "${1:-$(dirname "$0")/../..}" || exit 2

mapfile -t files < <(find agent common coordinator proto tests deploy -name '*.[ch]' 2>/dev/null | sort)
if [ "${#files[@]}" -eq 0 ]; then
	echo "includes.sh: no C file found in $PWD" >&2
	exit 1
fi

awk '
# The folder whose rule a path falls under.
function unit_of(path) {
	if (path ~ /^common\/base\//) return "base"
	if (path ~ /^common\/measure\//) return "measure"
	if (path ~ /^common\/plan\//) return "plan"
	if (path ~ /^common\/formats\//) return "formats"
	if (path ~ /^proto\//) return "proto"
	if (path ~ /^agent\//) return "agent"
	if (path ~ /^coordinator\/results\//) return "results"
	if (path ~ /^coordinator\/ctl\//) return "ctl"
	if (path ~ /^coordinator\//) return "coordinator"
	if (path ~ /^tests\//) return "tests"
	return "none"
}
function complain(text) {
	printf "%s:%d: %s\n", FILENAME, FNR, text
	bad = 1
}
function exists(path,    line, status) {
	if (path in known) return known[path]
	status = (getline line < path) >= 0
	close(path)
	return known[path] = status
}
function check_own(target,    from, to) {
	from = unit_of(FILENAME)
	if (target ~ /\.pb-c\.h$/) {
		if (from != "proto" && from != "tests")
			complain("generated " target " belongs to proto/ alone: use its plain structs")
		return
	}
	if (target ~ /(^|\/)\.\.?\// || !exists(target)) {
		complain("\"" target "\" is no file seen from the root of the repository")
		return
	}
	to = unit_of(target)
	if (index(may[from], " " to " ") == 0)
		complain(from " may not include " to " (" target ")")
}
function check_system(target,    from, i) {
	from = FILENAME
	if (from ~ /^tests\//) return
	for (i = 1; i <= rules; i++)
		if (target ~ header[i] && from !~ allowed[i])
			complain("<" target "> is not for this folder: " why[i])
}
function library(pattern, folders, reason) {
	header[++rules] = pattern
	allowed[rules] = folders
	why[rules] = reason
}
BEGIN {
	may["base"] = " base "
	may["measure"] = may["base"] "measure "
	may["plan"] = may["measure"] "plan "
	may["formats"] = may["measure"] "formats "
	may["proto"] = may["measure"] "plan formats proto "
	may["agent"] = may["proto"] "agent "
	may["results"] = may["measure"] "plan formats results "
	may["coordinator"] = may["proto"] "results coordinator "
	may["ctl"] = may["proto"] "results ctl "
	may["tests"] = may["agent"] "results coordinator ctl tests "
	may["none"] = " "
	library("^sqlite3", "^(coordinator/store|agent/link)/", "SQL lives in the two stores")
	library("^protobuf-c/", "^proto/", "wire types live in proto/")
	library("^openssl/|^event2/bufferevent_ssl", \
		"^(common/base|proto|agent|agent/link|coordinator|coordinator/ctl)/[^/]*$", \
		"TLS lives in common/base and at the edges")
	library("^event2/", \
		"^(common/base|proto|agent|agent/link|coordinator|coordinator/store|coordinator/ctl)/[^/]*$", \
		"event loops live at the edges")
	library("^yaml\\.h$", "^common/base/", "YAML is read in common/base")
	library("^gsl/", "^coordinator/results/", "statistics live in coordinator/results")
	library("^blkid/", "^agent/", "block devices are the business of the agent")
	library("^sys/socket\\.h$|^netinet/|^arpa/|^netdb\\.h$", \
		"^(common/base|proto|agent|coordinator|coordinator/ctl|coordinator/store|agent/[a-z]+)/[^/]*$", \
		"results, schedules, plans and formats are pure")
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
	split($0, part, "\"")
	check_own(part[2])
	seen++
}
/^[ \t]*#[ \t]*include[ \t]*</ {
	split($0, part, /[<>]/)
	check_system(part[2])
	seen++
}
END {
	if (!seen) {
		print "includes.sh: no include found in any file"
		bad = 1
	}
	exit bad
}
' "${files[@]}"
