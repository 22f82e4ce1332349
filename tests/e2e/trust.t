#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Who may connect and what they may do: tokens, certificates, strangers, roles, revocation.
# Functions are passed by name, which the linter cannot follow.
# shellcheck disable=SC2317,SC2119
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# ---- strangers ----

# s_client OPTION…: openssl against the coordinator with stdin as given; deaf after 15 s.
s_client() { timeout 15 openssl s_client -connect "$FLEET_ADDRESS" -quiet "$@" 2>&1; }

# A certificate authority of somebody else's, and a certificate that claims to be an admin's.
stranger_make() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=stranger \
		-keyout "$T/stranger-ca.key" -out "$T/stranger-ca.pem" 2>/dev/null &&
		openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /O=arraymark/OU=admin/CN=admin \
			-keyout "$T/stranger.key" -out "$T/stranger.csr" 2>/dev/null &&
		openssl x509 -req -in "$T/stranger.csr" -CA "$T/stranger-ca.pem" -CAkey "$T/stranger-ca.key" \
			-CAcreateserial -days 2 -out "$T/stranger.pem" 2>/dev/null
}

log_lines() { grep -cE -- "$1" "$FLEET/coordinator.log"; }
log_has() { grep -qE -- "$1" "$FLEET/coordinator.log"; }

# From here on the log counts anew: its limits are per minute and per daemon.
coordinator_restart() {
	fleet_end_pid "$FLEET_COORDINATOR" 15
	mv "$FLEET/coordinator.log" "$FLEET/coordinator-before-$1.log"
	fleet_coordinator_start || bail "the coordinator starts again"
}

# identity USER CERT KEY CA: an identity for ctl_as made from files.
identity() {
	local dir=$T/users/$1/arraymark/coordinators/$FLEET_ADDRESS
	mkdir -p "$dir"
	install -m 600 "$2" "$dir/cert.pem"
	install -m 600 "$3" "$dir/key.pem"
	install -m 600 "$4" "$dir/ca.pem"
	echo "$FLEET_ADDRESS" >"$T/users/$1/arraymark/coordinator"
}

# join NAME TOKEN: as a host of that name would.
join() {
	mkdir -p "$T/hosts/$1"
	"$FLEET_BIN/arraymark-agent" join "$FLEET_ADDRESS" --state "$T/hosts/$1" <<<"$2" >"$T/out" 2>"$T/err"
	STATUS=$?
}

# login USER TOKEN
login() {
	mkdir -p "$T/users/$1"
	ctl_as "$1" login "$FLEET_ADDRESS" <<<"$2" >"$T/out" 2>"$T/err"
	STATUS=$?
}

was_refused() { # NAME STATUS REGEX: the last join or login
	if [ "$STATUS" -eq "$2" ] && grep -qE -- "$3" "$T/err"; then
		ok "$1"
	else
		not_ok "$1" "ended with $STATUS, not $2, or without '$3':" "$(cat "$T/err" "$T/out")"
	fi
}

test_init() {
	"$FLEET_BIN/arraymark-coordinator" init --state "$FLEET/coordinator" >"$FLEET/admin-token" 2>"$T/err"
	is "init prints the token alone" "$(grep -cE '^amt1\.admin\.[0-9a-f]{32}\.[0-9a-f]{64}$' "$FLEET/admin-token") $(wc -l <"$FLEET/admin-token")" "1 1"
	is "keys are for their owner only" "$(find "$FLEET/coordinator" -name '*key*' -perm /077 | wc -l)" 0
	refused "init does not touch a state folder in use" 1 'is there already' \
		"$FLEET_BIN/arraymark-coordinator" init --state "$FLEET/coordinator"
	refused "a token of no store" 1 'arraymark-coordinator init' "$FLEET_BIN/arraymark-coordinator" token --state "$T/nowhere" knew
	refused "a token for a role that is none" 2 "'king' is not a role" coordinator token --role king knew
	ADMIN_TOKEN=$(cat "$FLEET/admin-token")
	fleet_coordinator_start || bail "a coordinator starts and its admin logs in"
	ok "a coordinator starts and its admin logs in"
	is "the control client knows who it is" "$(fleet_ctl --json host list | jq -c .)" '{"hosts":[]}'
	refused "a second daemon on the same state is refused" 1 'uses this state folder' \
		"$FLEET_BIN/arraymark-coordinator" run --state "$FLEET/coordinator" --listen 127.0.0.1:0
}

test_tokens() {
	local token late
	login thief "$ADMIN_TOKEN"
	was_refused "the admin token cannot be used again with another key" 3 'refused'
	token=$(fleet_ctl -q token create knew)
	like "a token for an agent names its host" "$token" '^amt1\.knew\.[0-9a-f]{32}\.[0-9a-f]{64}$'
	join knew "$token"
	is "a host joins with it" "$STATUS" 0
	is "its key is for its owner only" "$(stat -c %a "$T/hosts/knew/key.pem")" 600
	like "the certificate says who it is" \
		"$(openssl x509 -in "$T/hosts/knew/cert.pem" -noout -subject -nameopt RFC2253)" \
		'OU=agent.*(CN=knew|O=arraymark)'
	# The answer was lost: the host asks again with the key that waits for its certificate.
	mkdir -p "$T/hosts/again"
	cp "$T/hosts/knew/key.pem" "$T/hosts/again/key.pem.new"
	join again "$token"
	check "the same token with the same key gives the same certificate" \
		cmp "$T/hosts/knew/cert.pem" "$T/hosts/again/cert.pem"
	join thief "$token"
	was_refused "the same token with another key is refused" 3 'refused'
	check_not "and leaves no certificate" test -e "$T/hosts/thief/cert.pem"
	late=$(fleet_ctl -q token create --ttl 1s late)
	await_check "a token of one second ends" 5 token_is_over late
	join late "$late"
	was_refused "a late token is refused" 3 'refused'
	token=$(fleet_ctl -q token create pinned)
	join pinned "${token%.*}.$(printf '%064d' 0)"
	was_refused "another authority than the pinned one is refused" 3 'authority|fingerprint|certificate'
	join pinned "$token"
	is "the token is still good after that" "$STATUS" 0
	refused "a role without a name is no host's" 2 "'viewer' is a role: NAME is missing" fleet_ctl token create viewer
	token=$(fleet_ctl -q token create --role viewer vera)
	join vera "$token"
	was_refused "a user's token makes no agent" 1 "role 'viewer'"
	login vera "$(fleet_ctl -q token create --role viewer vera2)"
	is "a viewer logs in" "$STATUS" 0
	login olga "$(fleet_ctl -q token create --role operator olga)"
	is "an operator logs in" "$STATUS" 0
	login nobody "amt1.nobody.zzz"
	was_refused "what is no token is refused before anything is sent" 1 'no token'
	token=$(fleet_ctl -q token create gone)
	fleet_ctl -q token revoke "$(fleet_ctl --json token list | jq -r '.tokens[] | select(.name == "gone") | .id')"
	join gone "$token"
	was_refused "a revoked token is refused" 3 'refused'
}

token_is_over() {
	fleet_ctl --json token list | jq -e --arg n "$1" \
		'.tokens[] | select(.name == $n) | .state == "expired"' >/dev/null
}

test_roles() {
	cat >"$T/plan.yaml" <<-END
		name: roles
		hosts: all
		trials: 1
		layouts: {here: {existing: /nowhere}}
		workloads: {write: {stream: {op: write, size: 1M}}}
	END
	ends "a viewer may look" 0 ctl_as vera runs
	refused "a viewer may not run" 3 'viewer|not allowed|may not' ctl_as vera run --detach "$T/plan.yaml"
	refused "a viewer may not make tokens" 3 'viewer|not allowed|may not' ctl_as vera token create x
	refused "an operator may not make tokens" 3 'operator|not allowed|may not' ctl_as olga token create x
	refused "an operator may not revoke" 3 'operator|not allowed|may not' ctl_as olga host revoke knew
	refused "a host that is none cannot be paused" 1 "no host 'nine'" ctl_as olga host pause nine
	refused "nor shown" 1 "no host 'nine'" ctl_as vera host show nine
	refused "nor tagged" 1 "no host 'nine'" fleet_ctl host tag nine +x
	refused "nor removed" 1 "no host 'nine'" fleet_ctl host remove nine
	identity spy "$T/hosts/knew/cert.pem" "$T/hosts/knew/key.pem" "$T/hosts/knew/ca.pem"
	run ctl_as spy runs
	if [ "$STATUS" -ne 0 ] && [ ! -s "$T/out" ]; then
		ok "an agent's certificate may not make control calls"
	else
		not_ok "an agent's certificate may not make control calls" "status $STATUS:" "$(cat "$T/out" "$T/err")"
	fi
	identity nobody "$T/stranger.pem" "$T/stranger.key" "$T/hosts/knew/ca.pem"
	refused "a stranger's certificate is refused, and the client says so" 3 'certificate|refused' ctl_as nobody runs
	chmod 644 "$T/users/vera/arraymark/coordinators/$FLEET_ADDRESS/key.pem"
	refused "a key that others can read is not used" 3 'chmod 600' ctl_as vera runs
	chmod 600 "$T/users/vera/arraymark/coordinators/$FLEET_ADDRESS/key.pem"
	refused "without an identity the client says what to do" 3 'arraymark login' ctl_as newcomer runs
	refused "where nobody listens it says so" 3 "127.0.0.1:1" ctl_as vera -c 127.0.0.1:1 runs
}

# still_serves WHAT
still_serves() { ends "the coordinator serves on after $1" 0 fleet_ctl runs; }

test_strangers() {
	local ca=$FLEET/coordinator/ca.pem before
	coordinator_restart strangers
	s_client -alpn arraymark/1 -CAfile "$ca" -cert "$T/stranger.pem" -key "$T/stranger.key" </dev/null >"$T/out"
	await_check "a stranger's certificate is refused and logged" 5 log_has 'refused: .*certificate'
	s_client -alpn arraymark/1 -CAfile "$ca" </dev/null >"$T/out"
	await_check "no certificate on the main protocol is refused and logged" 5 log_has 'refused: .*(no|without a|needs a).*certificate'
	s_client -tls1_2 -alpn arraymark/1 -CAfile "$ca" </dev/null >"$T/out"
	like "an old TLS version gets an alert" "$(cat "$T/out")" 'alert protocol version|unsupported protocol'
	await_check "and is logged" 5 log_has 'refused: .*(TLS 1\.3|version)'
	s_client -alpn h2 -CAfile "$ca" </dev/null >"$T/out"
	like "another protocol gets an alert" "$(cat "$T/out")" 'alert no application protocol'
	printf 'GET / HTTP/1.1\r\nHost: x\r\n\r\n' | deaf_client >"$T/out"
	await_check "a plain-text client is refused and logged" 5 log_has 'refused: .*(TLS|plain)'
	still_serves "strangers"
	coordinator_restart frames
	printf '\x7f\xff\xff\xff' | s_client -alpn arraymark-enrol/1 -CAfile "$ca" -ign_eof >"$T/out"
	await_check "a frame of 2 GiB is refused by its length" 5 log_has 'refused: .*(2147483647|frame|too long|limit)'
	{
		printf '\x00\x00\x00\x10'
		head -c 16 /dev/zero
	} | s_client -alpn arraymark-enrol/1 -CAfile "$ca" -ign_eof >"$T/out"
	before=$(log_lines refused)
	check "a frame of nonsense is refused" test "$before" -ge 2
	still_serves "wrong frames"
	flood
}

# Sends stdin, then waits for the other side to hang up.
deaf_client() {
	timeout 15 bash -c "exec 9<>/dev/tcp/${FLEET_ADDRESS%:*}/${FLEET_ADDRESS##*:} && cat >&9 && cat <&9"
}

flood() {
	local i lines
	coordinator_restart flood
	for ((i = 0; i < 100; i++)); do
		head -c 200 /dev/urandom | deaf_client >/dev/null 2>&1
	done
	still_serves "100 garbage connections"
	lines=$(log_lines 'refused')
	if [ "$lines" -ge 1 ] && [ "$lines" -le 10 ]; then
		ok "100 garbage connections give few lines"
	else
		not_ok "100 garbage connections give few lines" "$lines lines say refused"
	fi
}

# A client that connects and says nothing is cut; so is one that stops in the middle of a handshake.
half_open_start() {
	(deaf_client </dev/null >/dev/null 2>&1 && touch "$T/half-open-ended") &
	(printf '\x16\x03\x01' | deaf_client >/dev/null 2>&1 && touch "$T/half-hello-ended") &
}

test_half_open() {
	await_check "a connection that says nothing is cut" 15 test -e "$T/half-open-ended"
	await_check "a connection that stops in its handshake is cut" 15 test -e "$T/half-hello-ended"
	still_serves "half-open connections"
}

test_revocation() {
	check "an agent comes up" fleet_agents one
	coordinator_restart revocation
	await_check "it comes back to a coordinator that restarted" 20 host_is one idle
	fleet_ctl -q host revoke one
	is "revoking an agent is told" $? 0
	await_check "its connection is cut" 10 host_is one offline
	await_check "and it is refused when it comes back" 10 log_has 'certificate of one is revoked'
	fleet_ctl -q host revoke olga
	refused "a revoked user is refused" 3 'revoked' ctl_as olga runs
	coordinator_restart end
	refused "also after a restart" 3 'revoked' ctl_as olga runs
	login olga "$(fleet_ctl -q token create --role operator olga)"
	ends "with a new token the user is back" 0 ctl_as olga runs
	ends "check finds the store in order" 0 coordinator check
}

main() {
	stranger_make || bail "openssl makes a certificate authority"
	fleet_init without-zfs
	test_init
	half_open_start
	test_tokens
	test_roles
	test_half_open
	test_strangers
	test_revocation
	done_testing
}

main
