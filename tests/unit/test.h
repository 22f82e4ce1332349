/* What every unit test includes: cmocka with its prerequisites, in the order it wants them. */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* `text` is shown whole when `part` is not in it. */
#define assert_has(text, part)                                                                     \
	do {                                                                                       \
		if (!strstr((text), (part)))                                                       \
			fail_msg("'%s' is not in '%s'", (part), (text));                           \
	} while (0)

#define assert_ok(call, e)                                                                         \
	do {                                                                                       \
		if ((call) != 0)                                                                   \
			fail_msg("%s: %s", #call, (e).text);                                       \
	} while (0)

#endif
