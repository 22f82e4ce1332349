/*
 * Workload files: what the personalities are, what values become, and what is said about wrong
 * files. Means and variances of distributions are those of the textbooks, within a few standard
 * errors of so many draws from a fixed seed.
 */
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/plan/wml.h"

static struct wml_program *load(const char *text)
{
	struct wml_program *p = NULL;
	struct err e;

	assert_ok(wml_load("x.f", text, strlen(text), NULL, 0, &p, &e), e);
	return p;
}

/* ---- distributions ---- */

#define DRAWS 200000

static void check_moments(const struct wml_dist *d, double mean, double variance, double kurtosis)
{
	struct wml_random r;
	double sum = 0, squares = 0, m, v;

	wml_random_seed(&r, 20061113, 1);
	for (int i = 0; i < DRAWS; i++) {
		double x = wml_dist_draw(d, &r) - mean;

		sum += x;
		squares += x * x;
	}
	m = sum / DRAWS;
	v = squares / DRAWS - m * m;
	assert_true(fabs(m) < 4 * sqrt(variance / DRAWS));
	assert_true(fabs(v - variance) < 5 * variance * sqrt((kurtosis - 1) / DRAWS));
	assert_true(fabs(wml_dist_mean(d) - mean) < 1e-9 * mean);
}

static void test_gamma_has_the_mean_and_variance_of_theory(void **state)
{
	static const double shapes[] = {0.5, 1, 1.5, 4, 100};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		struct wml_dist d = {.kind = DIST_GAMMA, .a = 16384, .b = shapes[i],
			.min = -HUGE_VAL, .max = HUGE_VAL};

		check_moments(&d, d.a, d.a * d.a / d.b, 3 + 6 / d.b);
	}
}

static void test_other_distributions_too(void **state)
{
	struct wml_slice slices[] = {{0.25, 0, 100}, {0.75, 100, 200}};
	struct wml_dist uniform = {.kind = DIST_UNIFORM, .a = 4096, .b = 8192, .max = HUGE_VAL};
	struct wml_dist normal = {.kind = DIST_NORMAL, .a = 100, .b = 15, .min = -HUGE_VAL,
		.max = HUGE_VAL};
	struct wml_dist exponential = {.kind = DIST_EXPONENTIAL, .a = 50, .max = HUGE_VAL};
	struct wml_dist table = {.kind = DIST_TABLE, .slices = slices, .n_slices = 2,
		.max = HUGE_VAL};

	(void)state;
	check_moments(&uniform, 6144, 4096.0 * 4096 / 12, 1.8);
	check_moments(&normal, 100, 225, 3);
	check_moments(&exponential, 50, 2500, 9);
	/* E x^2 = sum share (h^3 - l^3) / 3 / (h - l) = 0.25 * 10000 / 3 + 0.75 * 70000 / 3 */
	check_moments(&table, 125, 55000.0 / 3 - 125 * 125, 3);
}

/* Of each type that filebench has, by the names of its parameters: mean, variance and kurtosis of the
 * distribution that filebench's own library draws from. */
static void test_every_cvar_draws_what_it_says(void **state)
{
	const double e = exp(0.25), g1 = tgamma(1.5), g2 = tgamma(2), g3 = tgamma(2.5), g4 = tgamma(3);
	const double weibull = g2 - g1 * g1; /* shape 2, scale 1 */
	const struct {
		const char *cvar;
		double mean, variance, kurtosis;
	} cases[] = {
		{"cvar-erlang,parameters=shape:4;rate:8192", 8192, 8192.0 * 8192 / 4, 3 + 6 / 4.0},
		{"cvar-erlang,parameters=rate:100", 100, 10000, 9},
		{"cvar-exponential,parameters=mean:50", 50, 2500, 9},
		{"cvar-gamma,parameters=mean:16384;gamma:1.5", 16384, 16384.0 * 16384 / 1.5, 3 + 6 / 1.5},
		{"cvar-lognormal,parameters=shape:0.5;scale:9", exp(9.125), (e - 1) * exp(18.25),
			e * e * e * e + 2 * e * e * e + 3 * e * e - 3},
		{"cvar-normal,parameters=mean:1000;sigma:15", 1000, 225, 3},
		{"cvar-triangular,parameters=lower:100;upper:400;mode:150", 650 / 3.0, 77500 / 18.0, 2.4},
		{"cvar-triangular,parameters=lower:1;upper:3;mode:3", 7 / 3.0, 2 / 9.0, 2.4},
		{"cvar-uniform,parameters=lower:4096;upper:8192", 6144, 4096.0 * 4096 / 12, 1.8},
		{"cvar-weibull,parameters=shape:2;scale:700", 700 * g1, 490000 * weibull,
			(g4 - 4 * g1 * g3 + 6 * g1 * g1 * g2 - 3 * g1 * g1 * g1 * g1) / weibull / weibull},
		{"cvar-weibull", 1, 1, 9},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *text = xasprintf("set $x=cvar(type=%s)\n"
				       "define file name=f,path=$dir,size=$x\n"
				       "define process name=p { thread name=t { flowop statfile "
				       "name=s,filesetname=f } }\n",
			cases[i].cvar);
		struct wml_program *p = load(text);

		assert_non_null(p->sets[0].size.dist);
		check_moments(p->sets[0].size.dist, cases[i].mean, cases[i].variance, cases[i].kurtosis);
		wml_free(p);
		free(text);
	}
}

/* Nothing to draw from: one value. */
static void test_a_triangle_without_width_is_its_value(void **state)
{
	struct wml_dist d = {.kind = DIST_TRIANGULAR, .a = 7, .b = 7, .c = 7, .max = HUGE_VAL};
	struct wml_random r;

	(void)state;
	wml_random_seed(&r, 3, 3);
	assert_true(wml_dist_draw(&d, &r) >= 7 && wml_dist_draw(&d, &r) <= 7);
}

static void test_a_draw_is_rounded_and_clamped(void **state)
{
	struct wml_dist d = {.kind = DIST_UNIFORM, .a = 0, .b = 100000, .min = 1024, .max = 8192,
		.round = 512};
	struct wml_number n = {.dist = &d};
	struct wml_random r;
	int low = 0, high = 0;

	(void)state;
	wml_random_seed(&r, 1, 1);
	for (int i = 0; i < 10000; i++) {
		int64_t x = wml_draw(&n, &r);

		assert_in_range(x, 1024, 8192);
		assert_int_equal(x % 512, 0);
		low += x == 1024;
		high += x == 8192;
	}
	assert_true(low > 100 && high > 8000);
}

static void test_below_is_even(void **state)
{
	unsigned counts[10] = {0};
	struct wml_random r;

	(void)state;
	wml_random_seed(&r, 7, 0);
	for (int i = 0; i < 100000; i++)
		counts[wml_random_below(&r, 10)]++;
	for (int i = 0; i < 10; i++) /* 4 standard deviations of a binomial: 95 each */
		assert_in_range(counts[i], 10000 - 380, 10000 + 380);
	assert_int_equal(wml_random_below(&r, 0), 0);
	assert_int_equal(wml_random_below(&r, 1), 0);
}

/* ---- personalities ---- */

struct counts {
	unsigned io, reads, writes, fsyncs;
};

static void count(const struct wml_op *v, size_t n, unsigned times, struct counts *c)
{
	for (size_t i = 0; i < n; i++) {
		unsigned here = times * (unsigned)v[i].iters.fixed;

		count(v[i].body, v[i].n_body, here, c);
		c->io += v[i].type->is_io ? here : 0;
		c->reads += v[i].type->is_read ? here : 0;
		c->writes += v[i].type->is_write ? here : 0;
		c->fsyncs += v[i].type->flow == FLOW_FSYNC ? here : 0;
	}
}

/* As published: facts of each loop, threads and bytes of all files. */
static void test_personalities_are_the_published_ones(void **state)
{
	static const struct {
		const char *name;
		unsigned threads;
		struct counts loop; /* of the first group */
		double bytes;
	} rows[] = {
		{"varmail", 16, {13, 2, 2, 2}, 1000 * 16384.0},
		{"fileserver", 50, {11, 1, 2, 0}, 10000 * 131072.0},
		{"webserver", 100, {31, 10, 1, 0}, 1001 * 16384.0},
		{"webproxy", 100, {19, 5, 1, 0}, 10000 * 16384.0},
		{"oltp", 211, {2, 0, 1, 0}, 11 * 10485760.0},
		{"videoserver", 49, {4, 0, 1, 0}, 226 * 10737418240.0},
		{"randomread", 1, {1, 1, 0, 0}, 5368709120.0},
		{"randomwrite", 1, {1, 0, 1, 0}, 5368709120.0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct wml_program *p = load(wml_personality(rows[i].name));
		struct counts c = {0};
		double all, made;

		count(p->groups[0].ops, p->groups[0].n_ops, 1, &c);
		assert_memory_equal(&c, &rows[i].loop, sizeof(c));
		assert_int_equal(p->threads, rows[i].threads);
		wml_space(p, &all, &made);
		assert_true(fabs(all - rows[i].bytes) < 1);
		assert_string_equal(wml_personality_names[i], rows[i].name);
		wml_free(p);
	}
	assert_null(wml_personality_names[ARRAY_LEN(rows)]);
	assert_null(wml_personality("warmail"));
}

static void test_settings_take_the_place_of_the_files(void **state)
{
	static const struct wml_setting s[] = {
		{"nfiles", "50"}, {"filesize", "32K"}, {"nthreads", "3"}};
	const char *text = wml_personality("varmail");
	struct wml_program *p;
	struct err e;

	(void)state;
	assert_ok(wml_load("varmail", text, strlen(text), s, 3, &p, &e), e);
	assert_int_equal(p->sets[0].entries, 50);
	assert_int_equal(p->threads, 3);
	assert_non_null(p->sets[0].size.dist); /* still gamma: the number is its mean */
	assert_true(wml_number_mean(&p->sets[0].size) == 32768);
	assert_true(strv_has(&p->settings, "nfiles=50"));
	wml_free(p);
}

static void test_variables_are_looked_at_when_the_file_is_read(void **state)
{
	struct wml_program *p = load("set $n=4\nset $m=$n * 3 + 1\nset $later=$n\nset $n=7\n"
				     "define fileset name=f,path=$dir,entries=$later,dirwidth=10,size=$m\n"
				     "define process name=p,instances=2 { thread name=t,instances=$n {\n"
				     "flowop openfile name=o,filesetname=f,fd=1\n"
				     "flowop closefile fd=1 } }\n"
				     "psrun -10 $m\n");

	(void)state;
	assert_int_equal(p->sets[0].entries, 7);
	assert_int_equal(p->sets[0].size.fixed, 13);
	assert_int_equal(p->threads, 14);
	assert_int_equal(p->run_s, 13);
	assert_string_equal(p->groups[0].ops[1].name, "closefile");
	wml_free(p);
}

static void test_composite_flowops_have_variables_of_their_own(void **state)
{
	struct wml_program *p =
		load("define fileset name=a,path=$dir,entries=5,dirwidth=9\n"
		     "define fileset name=b,path=$dir,entries=5,dirwidth=9\n"
		     "define flowop name=inner,$set,$size=8k { flowop read name=r,filesetname=$set,"
		     "iosize=$size }\n"
		     "define flowop name=outer,$which { flowop inner name=i,iters=2,$set=$which\n"
		     "flowop inner name=j,$set=b,$size=16k }\n"
		     "define process name=p { thread name=t { flowop outer name=o,iters=3,$which=a } }\n");
	const struct wml_op *o = &p->groups[0].ops[0];

	(void)state;
	assert_int_equal(o->iters.fixed, 3);
	assert_int_equal(o->n_body, 2);
	assert_string_equal(o->body[0].body[0].name, "o.i.r");
	assert_int_equal(o->body[0].iters.fixed, 2);
	assert_int_equal(o->body[0].body[0].set, 0);
	assert_int_equal(o->body[0].body[0].iosize.fixed, 8192);
	assert_int_equal(o->body[1].body[0].set, 1);
	assert_int_equal(o->body[1].body[0].iosize.fixed, 16384);
	wml_free(p);
}

static void test_echo_shows_variables(void **state)
{
	struct wml_program *p = load(
		"set $n=4 set $s=\"a b\" echo \"$n files of $s, $nothing\" set mode quit firstdone\n"
		"eventgen rate=$n enable lathist\n"
		"define process name=p { thread name=t { flowop delay value=1 } } run");

	(void)state;
	assert_string_equal(p->echo, "4 files of a b, $nothing\n");
	assert_int_equal(p->mode, WML_FIRST_DONE);
	assert_int_equal(p->event_rate, 4);
	assert_int_equal(p->run_s, 60);
	wml_free(p);
}

/* ---- wrong files ---- */

#define SETS "define fileset name=f,path=$dir,entries=5,dirwidth=9\n"
#define OPS(body) SETS "define process name=p {\nthread name=t {\n" body "\n}\n}\n"

static const struct {
	const char *text, *expected;
} wrongs[] = {
	{"", "x.f: there is no 'define process': nothing would run"},
	{"sett $x=1", "x.f:1:1: 'sett' is not a command; did you mean 'set'?"},
	{"system \"rm -rf /\"",
		"x.f:1:1: 'system' runs a shell command, which is never done for a workload file: take "
		"the line out, and let the host's policy say what runs before (hooks)"},
	{"  domultisync value=1",
		"x.f:1:3: domultisync is not supported: hosts start together by the plan's 'start: "
		"together'"},
	{OPS("flowop opnfile name=o"), "x.f:4:8: 'opnfile' is not a flowop; did you mean 'openfile'?"},
	{OPS("flowop openfile name=o,filesetnam=f"),
		"x.f:4:24: 'filesetnam' is not an attribute of a flowop; did you mean 'filesetname'?"},
	{OPS("flowop openfile name=o,filesetname=ff"), "x.f:4:36: there is no fileset 'ff'"},
	{OPS("flowop openfile name=o"),
		"x.f:4:8: openfile wants a fileset: 'filesetname=' is missing"},
	{OPS("flowop read name=o,fd=1"), "x.f:4:8: read wants an 'iosize=' of more than 0"},
	{OPS("flowop read name=o,iosize=1k"), "x.f:4:8: read wants 'fd=' or 'filesetname='"},
	{OPS("flowop read name=o,fd=1,fd=2,iosize=1k"), "x.f:4:25: 'fd' is here twice"},
	{OPS("flowop read name=o,fd=100,iosize=1k"), "x.f:4:23: 'fd' is 100, and must be 0 to 63"},
	{OPS("flowop read name=o,fd=1,iosize=2g"), "x.f:4:32: 'iosize' is 2147483648, the most is 1g"},
	{OPS("flowop read name=o,fd=1,iosize=$none"), "x.f:4:32: the variable '$none' is not set"},
	{OPS("flowop read name=o,fd=1,iosize=big"), "x.f:4:32: 'iosize' wants a number"},
	{OPS("flowop read name=o,fd=1,iosize=1000,directio"),
		"x.f:4:8: directio wants an 'iosize' in multiples of 512, not 1000"},
	{OPS("flowop sempost name=o,value=1"),
		"x.f:4:8: sempost wants 'target=': the name of a flowop"},
	{OPS("flowop sempost name=o,value=1,target=x"),
		"x.f:4:8: there is no flowop 'x' to be the target"},
	{OPS("flowop sempost name=o,value=1,target=o"),
		"x.f:4:8: the target of sempost must be a semblock, 'o' is a sempost"},
	{SETS "define process name=p {\nthread name=t {\nflowop fsync fd=1\n}\n",
		"x.f:6:1: 'thread' or the '}' to the '{' of line 2 is wanted, not the end of the file"},
	{SETS "define process name=p {\nthread name=t\nflowop fsync fd=1\n}\n}",
		"x.f:4:1: '{' is wanted, not 'flowop'"},
	{SETS "define process name=p {\nthread name=t {\n}\n}",
		"x.f:3:15: there is no flowop in this block"},
	{"define process name=p,instances=0 { thread name=t { flowop fsync fd=1 } }",
		"x.f:1:33: 'instances' is 0, and must be 1 to 4096"},
	{"define process name=p,instances=100 { thread name=t,instances=100 { flowop fsync fd=1 } }",
		"x.f:1:39: more than 4096 threads over all processes"},
	{"define flowop name=a { flowop a name=b }\n"
	 "define process name=p { thread name=t { flowop a name=c } }",
		"x.f:1:31: composite flowops in each other more than 8 deep"},
	{"set $x=99999999999999999999", "x.f:1:8: '99999999999999999999' is more than can be counted"},
	{"set $x=9999999999g", "x.f:1:8: '9999999999g' is more than can be counted"},
	{"set $x=4g\nset $y=$x * $x", "x.f:2:11: the result is more than can be counted"},
	{"set $x=1\nset $y=$x / 0", "x.f:2:11: a division by zero"},
	{"set $x=10x", "x.f:1:8: '10x' is not a number: 10, 16k, 1m, 5g"},
	{"set x=1", "x.f:1:5: set: a $variable is wanted, not 'x'"},
	{"set $x 1", "x.f:1:8: '=' is wanted behind '$x', not '1'"},
	{"set $=1", "x.f:1:5: '$' wants the name of a variable: letters, digits and '_', first a letter"},
	{"set $x=${y", "x.f:1:8: '}' is missing behind the variable's name"},
	{"echo \"no end\n", "x.f:1:6: this string has no closing quote"},
	{"set $x=;\n?", "x.f:2:1: '?' means nothing here"},
	{"set $a=$b\nset $b=$a\nrun $a", "x.f:3:5: '$a' stands for itself in the end"},
	{"set $x=cvar(type=cvar-gama,parameters=mean:1)",
		"x.f:1:13: cvar: 'cvar-gama' is not known (cvar-erlang, cvar-exponential, cvar-gamma, "
		"cvar-lognormal, cvar-normal, cvar-triangular, cvar-uniform, cvar-weibull); did you mean "
		"'cvar-gamma'?"},
	{"set $x=cvar(parameters=mean:1)",
		"x.f:1:13: cvar: 'type=' is missing (cvar-erlang, cvar-exponential, cvar-gamma, "
		"cvar-lognormal, cvar-normal, cvar-triangular, cvar-uniform, cvar-weibull)"},
	{"set $x=cvar(type=cvar-gamma,parameters=mean:x)",
		"x.f:1:13: parameters: 'x': wanted are mean:NUMBER;gamma:NUMBER"},
	{"set $x=cvar(type=cvar-gamma,parameters=mean:0)",
		"x.f:1:13: cvar: 'mean' must be more than 0"},
	{"set $x=cvar(type=cvar-erlang,parameters=shape:2.5;rate:9)",
		"x.f:1:13: cvar: 'shape' must be a whole number from 1 on"},
	{"set $x=cvar(type=cvar-normal,parameters=sigma:-1)",
		"x.f:1:13: cvar: 'sigma' must not be under 0"},
	{"set $x=cvar(type=cvar-weibull,parameters=shape:0;scale:9)",
		"x.f:1:13: cvar: 'shape' must be more than 0"},
	{"set $x=cvar(type=cvar-lognormal,parameters=shape:1;scale:800)",
		"x.f:1:13: cvar: the mean of such draws is more than can be counted"},
	{"set $x=cvar(type=cvar-triangular,parameters=lower:1;upper:3;mode:4)",
		"x.f:1:13: cvar: 'mode' must lie between 'lower' and 'upper'"},
	{"set $x=cvar(type=cvar-triangular,parameters=lower:1;upper:3;mod:2)",
		"x.f:1:13: parameters: 'mod:2': wanted are lower:NUMBER;upper:NUMBER;mode:NUMBER"},
	{"set $x=cvar(type=cvar-uniform,parameters=lower:9;upper:1)",
		"x.f:1:13: cvar: 'upper' is less than 'lower'"},
	{"set $x=randvar(type=tabular,randtable={{50,1,2}})",
		"x.f:1:39: the table's parts add up to 50 %, not 100 %"},
	{"set mode quit firstdon",
		"x.f:1:15: set mode quit: timeout, alldone or firstdone is wanted, not 'firstdon'; did "
		"you mean 'firstdone'?"},
	{"define fileset path=$dir", "x.f:1:8: 'name=' is missing"},
	{"define fileset name=../up,entries=1,dirwidth=2",
		"x.f:1:21: '../up' is not a name: letters, digits, '.', '_', ':', '+' and '-', at most "
		"64, not starting with '.'"},
	{"define fileset name=f", "x.f:1:8: fileset 'f' has no files: 'entries=' is missing or 0"},
	{"define fileset name=f,entries=10,dirwidth=1",
		"x.f:1:43: fileset 'f': 'dirwidth' must be 2 or more (0 or left out: one folder)"},
	{"define fileset name=f,entries=99999999,dirwidth=9",
		"x.f:1:31: 'entries' is 99999999, and must be 0 to 10000000"},
	{"create files\n  system \"sync\"",
		"x.f:2:3: 'system' runs a shell command, which is never done for a workload file: take "
		"the line out, and let the host's policy say what runs before (hooks)"},
	{OPS("flowop system name=s"), "x.f:4:8: 'system' is not a flowop"},
	{OPS("system \"id\""), "x.f:4:1: 'flowop' or the '}' to the '{' of line 3 is wanted, not 'system'"},
	{"define process name=p { thread name=t { flowop fsync fd=1 } }\n}",
		"x.f:2:1: there is no '{' to this '}'"},
	{"define process name=p {\nthread name=t {\nthread name=u {\nflowop fsync fd=1 } } }",
		"x.f:3:1: 'flowop' or the '}' to the '{' of line 2 is wanted, not 'thread'"},
	{"define process name=p { { { {",
		"x.f:1:25: 'thread' or the '}' to the '{' of line 1 is wanted, not '{'"},
	{"set $x=$x\nrun $x", "x.f:2:5: '$x' stands for itself in the end"},
	{"set $x=$x + 1", "x.f:1:8: '$x' is no number here, and cannot be reckoned with"},
	{"set $x=9223372036854775807\nset $y=$x + 1",
		"x.f:2:11: the result is more than can be counted"},
	{"set $n=5g\ndefine process name=p,instances=$n { thread name=t { flowop fsync fd=1 } }",
		"x.f:2:33: 'instances' is 5368709120, and must be 1 to 4096"},
	{"define flowop name=a { flowop b name=x }\ndefine flowop name=b { flowop a name=y }",
		"x.f:1:31: 'b' is not a flowop"},
	{"define flowop name=read { flowop fsync fd=1 }",
		"x.f:1:20: define flowop: 'read' is a flowop of the language already: another name"},
	{"define flowop name=a { flowop fsync fd=1 }\ndefine flowop name=a { flowop fsync fd=1 }",
		"x.f:2:20: define flowop: a second 'a': the first is in line 1"},
	{"run 99999999999", "x.f:1:5: run: 99999999999 seconds are more than 7 days"},
	{SETS SETS, "x.f:2:8: a second fileset 'f': the first is in line 1"},
	{"define filset name=f", "x.f:1:8: define: file, fileset, process, flowop or randvar is "
				 "wanted, not 'filset'; did you mean 'fileset'?"},
};

static void test_wrong_files_are_told_by_line_and_column(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrongs); i++) {
		struct wml_program *p = NULL;
		struct err e = {0};

		if (wml_load("x.f", wrongs[i].text, strlen(wrongs[i].text), NULL, 0, &p, &e) == 0)
			fail_msg("taken as right: %s", wrongs[i].text);
		assert_string_equal(e.text, wrongs[i].expected);
		assert_int_equal(e.code, ERR_INPUT);
		assert_null(p);
	}
}

static void test_a_setting_that_no_variable_takes(void **state)
{
	static const struct wml_setting s[] = {{"nfile", "50"}};
	const char *text = "set $nfiles=1\nset $dir=/tmp\n";
	struct wml_program *p = NULL;
	struct err e;

	(void)state;
	assert_int_equal(wml_load("x.f", text, strlen(text), s, 1, &p, &e), -1);
	assert_string_equal(e.text,
		"x.f sets no variable 'nfile' (nfiles); did you mean 'nfiles'?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gamma_has_the_mean_and_variance_of_theory),
		cmocka_unit_test(test_other_distributions_too),
		cmocka_unit_test(test_every_cvar_draws_what_it_says),
		cmocka_unit_test(test_a_triangle_without_width_is_its_value),
		cmocka_unit_test(test_a_draw_is_rounded_and_clamped),
		cmocka_unit_test(test_below_is_even),
		cmocka_unit_test(test_personalities_are_the_published_ones),
		cmocka_unit_test(test_settings_take_the_place_of_the_files),
		cmocka_unit_test(test_variables_are_looked_at_when_the_file_is_read),
		cmocka_unit_test(test_composite_flowops_have_variables_of_their_own),
		cmocka_unit_test(test_echo_shows_variables),
		cmocka_unit_test(test_wrong_files_are_told_by_line_and_column),
		cmocka_unit_test(test_a_setting_that_no_variable_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
