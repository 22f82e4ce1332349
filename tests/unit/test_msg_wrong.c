/* Messages that are wrong in one field: each is refused, with the name of the field. */
#include <math.h>

#include "tests/unit/msg_fixture.h"

/* Wrong in one field: changed on the wire, where a stranger would. */
typedef Arraymark__Wire__Envelope env_t;
static char long_name[66], long_line[2000];
static char *parent_dir = "a/../../etc";
#define WRONG(fn, code)                                                                            \
	static void fn(env_t *v)                                                                   \
	{                                                                                          \
		code;                                                                              \
	}
#define TEXT_TO(field, text) free(field), field = strdup(text)
WRONG(name_slash, TEXT_TO(v->hello_reply->name, "a/b"))
WRONG(name_dash, TEXT_TO(v->hello_reply->name, "-a"))
WRONG(name_dots, TEXT_TO(v->hello_reply->name, ".."))
WRONG(name_long, TEXT_TO(v->hello_reply->name, long_name))
WRONG(name_newline, TEXT_TO(v->enrol_reply->name, "a\nb"))
WRONG(name_missing, TEXT_TO(v->enrol_reply->name, ""))
WRONG(tag_space, TEXT_TO(v->inventory->tags[1], "a b"))
WRONG(tag_empty, TEXT_TO(v->inventory->tags[1], ""))
WRONG(utf8, TEXT_TO(v->cancel->reason, "a\xc3("))
WRONG(escape, TEXT_TO(v->cancel->reason, "\x1b[2J"))
WRONG(c1_control, TEXT_TO(v->cancel->reason, "\xc2\x9b"
					     "2J"))
WRONG(turned_text, TEXT_TO(v->cancel->reason, "\xe2\x80\xae"
					       "txt.exe"))
WRONG(line_break, TEXT_TO(v->cancel->reason, "a\nb"))
WRONG(line_long, TEXT_TO(v->cancel->reason, long_line))
WRONG(run_zero, v->finish->key->run = 0)
WRONG(job_absent, v->finish->key->has_job = 0)
WRONG(run_huge, v->finish->key->run = UINT64_MAX)
WRONG(attempt_zero, v->batch->key->attempt = 0)
WRONG(offer_attempt_zero, v->job_offer->key->attempt = 0)
WRONG(key_half, v->agent_status->key->run = 0)
WRONG(state_high, v->agent_status->state = AGENT_STATE_COUNT)
WRONG(versions, v->hello->min_version = 9)
WRONG(version_zero, v->hello->min_version = 0)
WRONG(block_zero, v->continue_->unit->block = 0)
WRONG(block_high, v->continue_->unit->block = MSG_MAX_BLOCK + 1)
WRONG(start_negative, v->continue_->start_ns = -1)
WRONG(verb_none, v->call->verb = 0)
WRONG(verb_high, v->call->verb = CALL_VERB_COUNT)
WRONG(phase_high, v->preview_reply->steps[0]->phase = PHASE_COUNT)
WRONG(error_none, v->error->code = 0)
WRONG(reject_none, v->job_reject->error->code = 0)
WRONG(first_zero, v->batch->first = 0)
WRONG(last_before, v->batch->last = 4)
WRONG(lost_payload, (v->batch->has_lost = 1, v->batch->lost = 1))
WRONG(no_payload, v->batch->has_payload = 0)
WRONG(tag_hex, TEXT_TO(v->job_offer->job_tag, "0A1B2C"))
WRONG(tag_short, TEXT_TO(v->job_offer->job_tag, "0a1b2"))
WRONG(plan_nul, v->job_offer->plan_text.data[3] = 0)
WRONG(plan_empty, v->job_offer->plan_text.len = 0)
WRONG(chunk_nul, v->chunk->data.data[0] = 0)
WRONG(interval, v->worker_sample->end_ns = 5)
WRONG(trial_zero, v->worker_sample->trial = 0)
WRONG(percent, v->worker_spec->compressible_percent = 101)
WRONG(no_threads, v->worker_spec->threads = 0)
WRONG(fact_nan, v->worker_done->detail->facts[0]->value = NAN)
WRONG(names_short, v->worker_spec->files = 3)
WRONG(names_out, TEXT_TO(v->worker_spec->names[1], parent_dir))
WRONG(names_absolute, TEXT_TO(v->worker_spec->names[1], "/etc/passwd"))
WRONG(relative_dir, TEXT_TO(v->worker_spec->directory, "m/d"))

static const struct {
	enum msg_type type;
	void (*change)(env_t *v);
	const char *text;
} wrong[] = {
	{MSG_HELLO_REPLY, name_slash, "name is not a name"},
	{MSG_HELLO_REPLY, name_dash, "name is not a name"},
	{MSG_HELLO_REPLY, name_dots, "name is not a name"},
	{MSG_HELLO_REPLY, name_long, "name is not a name"},
	{MSG_ENROL_REPLY, name_newline, "name is not a name"},
	{MSG_ENROL_REPLY, name_missing, "name is missing"},
	{MSG_INVENTORY, tag_space, "tags is not a tag"},
	{MSG_INVENTORY, tag_empty, "tags is not a tag"},
	{MSG_CANCEL, utf8, "reason is not one line"},
	{MSG_CANCEL, escape, "reason is not one line"},
	{MSG_CANCEL, c1_control, "reason is not one line"},
	{MSG_CANCEL, turned_text, "reason is not one line"},
	{MSG_CANCEL, line_break, "reason is not one line"},
	{MSG_CANCEL, line_long, "reason is not one line"},
	{MSG_FINISH, run_zero, "finish: key: run: 0 is not in 1.."},
	{MSG_FINISH, job_absent, "job: 0 is not in 1.."},
	{MSG_FINISH, run_huge, "run: 18446744073709551615 is not in"},
	{MSG_RECORD_BATCH, attempt_zero, "attempt: 0"},
	{MSG_JOB_OFFER, offer_attempt_zero, "attempt: 0"},
	{MSG_AGENT_STATUS, key_half, "run and job must be set together"},
	{MSG_AGENT_STATUS, state_high, "state: 4"},
	{MSG_HELLO, versions, "min_version 9 is above"},
	{MSG_HELLO, version_zero, "min_version: 0"},
	{MSG_CONTINUE, block_zero, "unit: block: 0"},
	{MSG_CONTINUE, block_high, "unit: block: 1000001"},
	{MSG_CONTINUE, start_negative, "start_ns: -1"},
	{MSG_CALL, verb_none, "verb: 0"},
	{MSG_CALL, verb_high, "verb: "},
	{MSG_PREVIEW_REPLY, phase_high, "steps 1: phase: 4"},
	{MSG_ERROR, error_none, "code: 0"},
	{MSG_JOB_REJECT, reject_none, "error: code: 0"},
	{MSG_RECORD_BATCH, first_zero, "first: 0"},
	{MSG_RECORD_BATCH, last_before, "last is before first"},
	{MSG_RECORD_BATCH, lost_payload, "lost records have a payload"},
	{MSG_RECORD_BATCH, no_payload, "payload is missing"},
	{MSG_JOB_OFFER, tag_hex, "job_tag is not 6 hex digits"},
	{MSG_JOB_OFFER, tag_short, "job_tag is not 6 hex digits"},
	{MSG_JOB_OFFER, plan_nul, "plan_text has a NUL"},
	{MSG_JOB_OFFER, plan_empty, "plan_text is missing"},
	{MSG_CHUNK, chunk_nul, "data has a NUL"},
	{MSG_WORKER_SAMPLE, interval, "ends before it starts"},
	{MSG_WORKER_SAMPLE, trial_zero, "trial: 0"},
	{MSG_WORKER_SPEC, percent, "compressible_percent: 101"},
	{MSG_WORKER_DONE, fact_nan, "value: is not a finite number"},
	{MSG_WORKER_SPEC, no_threads, "a stream without threads"},
	{MSG_WORKER_SPEC, names_short, "2 names for 3 files"},
	{MSG_WORKER_SPEC, names_out, "leads out of the directory"},
	{MSG_WORKER_SPEC, names_absolute, "leads out of the directory"},
	{MSG_WORKER_SPEC, relative_dir, "directory is not absolute"},
};

static void test_wrong_fields(void **state)
{
	(void)state;
	memset(long_name, 'a', sizeof(long_name) - 1);
	memset(long_line, 'a', sizeof(long_line) - 1);
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct buf frame = encode(message(wrong[i].type));
		env_t *env = unpack(&frame);
		uint8_t *data;
		size_t len;
		struct msg m = {.type = MSG_NONE};
		struct err e;

		wrong[i].change(env);
		data = xmalloc(arraymark__wire__envelope__get_packed_size(env));
		len = arraymark__wire__envelope__pack(env, data);
		if (msg_decode(data, len, &m, &e) == 0)
			fail_msg("'%s' was accepted", wrong[i].text);
		assert_int_equal(e.code, ERR_PROTOCOL);
		if (!strstr(e.text, wrong[i].text))
			fail_msg("expected '%s', got '%s'", wrong[i].text, e.text);
		assert_int_equal(m.type, MSG_NONE);
		free(data);
		arraymark__wire__envelope__free_unpacked(env, NULL);
		buf_free(&frame);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
