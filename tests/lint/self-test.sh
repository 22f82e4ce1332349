#!/usr/bin/env bash
# Proves that each lint check fires: a small clean tree passes all of them, then one fault after
# the other is planted in a copy and the check meant for it must name it. Ends with TAP's plan.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
tests=0 failed=0

result() { # result STATUS NAME
	tests=$((tests + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tests - $2"
	else
		echo "not ok $tests - $2"
		failed=$((failed + 1))
	fi
}

c_file() { # c_file PATH INCLUDE...
	local path=$tree/$1 include
	shift
	mkdir -p "$(dirname "$path")"
	{
		for include in "$@"; do echo "#include $include"; done
		printf '\nint f(void)\n{\n\treturn 0;\n}\n'
	} >"$path"
}

fresh_tree() {
	tree=$work/tree
	rm -rf "$tree"
	mkdir -p "$tree"/{agent,common,coordinator,deploy,proto,tests}
	touch "$tree"/{LICENSE,Makefile,README.md,.clang-format}
	c_file common/base/err.h
	c_file common/base/tls.c '"common/base/err.h"' '<openssl/ssl.h>' '<yaml.h>'
	c_file common/measure/hist.h '"common/base/err.h"'
	c_file common/plan/plan.h '"common/measure/hist.h"'
	c_file common/formats/fio.h '"common/measure/hist.h"'
	c_file proto/wire.h '"common/plan/plan.h"' '"common/formats/fio.h"'
	c_file proto/wire.c '"proto/wire.h"' '"proto/arraymark.pb-c.h"' '<protobuf-c/protobuf-c.h>'
	c_file agent/link/spool.c '"proto/wire.h"' '<sqlite3.h>'
	c_file agent/volume/zfs.c '"common/plan/plan.h"' '<blkid/blkid.h>'
	c_file agent/job.h
	c_file coordinator/run.h '"common/plan/plan.h"'
	c_file coordinator/listener.c '"coordinator/run.h"' '<openssl/ssl.h>' '<event2/event.h>'
	c_file coordinator/store/sql.c '"coordinator/run.h"' '<sqlite3.h>'
	c_file coordinator/results/set.h '"common/measure/hist.h"'
	c_file coordinator/ctl/run.c '"coordinator/results/set.h"' '"proto/wire.h"'
	c_file tests/unit/test_wire.c '"agent/job.h"' '"proto/arraymark.pb-c.h"' '<sqlite3.h>'
	printf '/* strcpy(a, b) and sh -c in a comment,\n * sprintf(too) */\n' >>"$tree/agent/job.h"
	printf '#define X "strcpy(a)" // gets(x)\n#define my_system(x) x\n' >>"$tree/agent/job.h"
	printf '#define Y "/bin/sh"\n' >>"$tree/tests/unit/test_wire.c"
	mkdir "$tree/deploy/man"
	printf '.Dd November 30, 2026\n.Dt PAGE 1\n.Os\n.Sh NAME\n.Nm page\n.Nd a page\n' >"$tree/deploy/man/page.1"
	printf '.Sh DESCRIPTION\n.Ql a ,\n.Ql b .\n' >>"$tree/deploy/man/page.1"
}

fires() { # fires CHECK WORDS NAME: the check fails on the tree and says WORDS
	local out status
	out=$("$here/$1.sh" "$tree" 2>&1)
	status=$?
	[ "$status" -eq 1 ] && grep -qF -- "$2" <<<"$out"
	result $? "$1: $3"
}

passes() { # passes CHECK NAME
	local out
	out=$("$here/$1.sh" "$tree" 2>&1)
	result $? "$1: $2"
	[ -z "$out" ] || printf '%s\n' "$out" | sed 's/^/# /'
}

bad_include() { # bad_include FILE INCLUDE WORDS
	fresh_tree
	c_file "$1" "$2"
	fires includes "$3" "$1 includes $2"
}

body() { # body LINES: a function whose braces enclose so many lines
	printf 'void g(void)\n{\n'
	for ((i = 0; i < $1; i++)); do printf '\tg();\n'; done
	printf '}\n'
}

for check in includes size banned toplevel man; do
	fresh_tree
	passes $check "a clean tree passes"
done
for check in includes size banned; do
	fresh_tree
	find "$tree" -name '*.[ch]' -delete
	fires $check "no C file found" "a tree without C files fails"
done

bad_include common/base/x.c '"common/measure/hist.h"' 'base may not include measure'
bad_include common/measure/x.c '"common/plan/plan.h"' 'measure may not include plan'
bad_include common/plan/x.c '"common/formats/fio.h"' 'plan may not include formats'
bad_include common/formats/x.c '"common/plan/plan.h"' 'formats may not include plan'
bad_include common/plan/x.c '"proto/wire.h"' 'plan may not include proto'
bad_include proto/x.c '"agent/job.h"' 'proto may not include agent'
bad_include agent/x.c '"coordinator/run.h"' 'agent may not include coordinator'
bad_include agent/x.c '"coordinator/results/set.h"' 'agent may not include results'
bad_include coordinator/x.c '"agent/job.h"' 'coordinator may not include agent'
bad_include coordinator/store/x.c '"agent/job.h"' 'coordinator may not include agent'
bad_include coordinator/results/x.c '"coordinator/run.h"' 'results may not include coordinator'
bad_include coordinator/results/x.c '"proto/wire.h"' 'results may not include proto'
bad_include coordinator/ctl/x.c '"coordinator/run.h"' 'ctl may not include coordinator'
bad_include coordinator/ctl/x.c '"agent/job.h"' 'ctl may not include agent'
bad_include common/base/x.c '"tests/unit/test_wire.c"' 'base may not include tests'
bad_include agent/x.c '"job.h"' 'is no file seen from the root'
bad_include agent/x.c '"agent/../agent/job.h"' 'is no file seen from the root'
bad_include agent/x.c '"proto/arraymark.pb-c.h"' 'belongs to proto/ alone'
bad_include coordinator/x.c '<sqlite3.h>' 'SQL lives in the two stores'
bad_include agent/volume/x.c '<openssl/evp.h>' 'TLS lives in'
bad_include coordinator/results/x.c '<event2/event.h>' 'event loops live at the edges'
bad_include coordinator/results/x.c '<sys/socket.h>' 'are pure'
bad_include agent/x.c '<protobuf-c/protobuf-c.h>' 'wire types live in proto/'
bad_include common/plan/x.c '<yaml.h>' 'YAML is read in common/base'
bad_include coordinator/x.c '<blkid/blkid.h>' 'business of the agent'

fresh_tree
body 69 >>"$tree/agent/job.h"
fires size 'g has 71 lines' "a function of 71 lines"
fresh_tree
body 68 >>"$tree/agent/job.h"
out=$("$here/size.sh" "$tree") && [[ $out == *"note: g has 70 lines"* ]]
result $? "size: a function of 70 lines is noted"
fresh_tree
body 2 | sed 'N;s/\n{/ {/' >>"$tree/agent/job.h"
fires size 'on a line of its own' "a brace behind a function's head"
line() { # line COLUMNS: a comment of so many, "…" among them
	printf '/* …%*s */\n' "$(($1 - 7))" ''
}
fresh_tree
line 111 >>"$tree/agent/job.h"
fires size '111 characters' "a line of 111 characters"
fresh_tree
line 110 >>"$tree/agent/job.h"
passes size "a line of 110 characters, of which not all are ASCII, passes"
fresh_tree
yes '/* line */' | head -n 601 >"$tree/agent/long.h"
fires size '601 lines' "a file of 601 lines"
fresh_tree
find "$tree" -name '*.[ch]' -exec sed -i '/^{/d' {} +
fires size 'no function found' "sources without any function"

for call in 'strcpy(a, b)' 'strcat (a, b)' 'sprintf(a, "x")' 'gets(a)' 'x = system("ls")' \
	'!popen("ls", "r")' '"a" "b", strtok(a, b)' '/* c */ atoi(a)'; do
	fresh_tree
	printf '\t%s;\n' "$call" >>"$tree/common/base/tls.c"
	fires banned 'is banned' "$call"
done
for shell in '"/bin/sh", "-c"' '"bash"' '"exec sh -c true"' '"/usr/bin/dash"'; do
	fresh_tree
	printf '\trun(%s);\n' "$shell" >>"$tree/agent/job.h"
	fires banned 'a shell is banned' "$shell"
done
fresh_tree
printf '/*\n*/ gets(a);\n' >>"$tree/agent/job.h"
fires banned 'gets() is banned' "code behind a comment of two lines"

fresh_tree
touch "$tree/notes.txt"
fires toplevel 'notes.txt: does not belong' "a stray file"
fresh_tree
mkdir "$tree/src"
fires toplevel 'src: does not belong' "a stray folder"
fresh_tree
rm "$tree/LICENSE"
fires toplevel 'LICENSE: is missing' "a missing file"

man_fault() { # man_fault LINE WORDS NAME
	fresh_tree
	printf '%s\n' "$1" >>"$tree/deploy/man/page.1"
	fires man "$2" "$3"
}
man_fault 'serial:…' 'page.1:10: not ASCII' "a character that not every terminal has"
man_fault '.Ql a , Ql b' 'page.1:10: the quotes go around the whole list' "quotes around a list"
man_fault '.Pq Ql a , b' 'page.1:10: the quotes go around the whole list' "quotes around a list in parentheses"
man_fault '.Dq No difference' 'page.1:10: .Dq loses No' "a quoted word that is a macro"
if command -v mandoc >/dev/null; then
	man_fault '.Frobnicate' 'unknown macro' "a macro that is none"
fi
fresh_tree
rm -r "$tree/deploy/man"
fires man 'no manual page found' "no page"

if command -v systemd-analyze >/dev/null; then
	fresh_tree
	fires units 'no unit found' "no unit"
	mkdir "$tree/deploy/systemd"
	printf '[Service]\nExecStart=@BINDIR@/a\n' >"$tree/deploy/systemd/a.service"
	passes units "a unit passes"
	echo 'ProtectSystems=yes' >>"$tree/deploy/systemd/a.service"
	fires units 'ProtectSystems' "a key that is none"
fi

echo "1..$tests"
[ "$failed" -eq 0 ]
