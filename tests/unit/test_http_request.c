/* SPDX-License-Identifier: MIT */
/* Headers of requests to `mtl export`: whose host it is, and which form of metrics is wanted. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "../../cli/http_request.h"

static void ours_are_addresses_and_names_given(void **state)
{
	static const char *const ours[] = {"localhost", "localhost:9857", "LOCALHOST", "127.0.0.1",
	        "127.0.0.1:80", "10.1.2.3:9857", "[::1]", "[::1]:9857", "[fe80::1]", "node1",
	        "node1:9857", "Node1.Example", "mtl.example", "b:1", NULL};
	static const char *const theirs[] = {"", ":", ":80", "evil.example",
	        "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:127",
	        "127.0.0.1:", "127.0.0.1:x", "localhost:80:80", "[::1", "::1]", "[]", "[127.0.0.1]",
	        "[::1]x", "[::1].evil:80", "node", "node1.", "node1.evil", "mtl.exampl",
	        "mtl.example,b", " localhost", "0x7f000001", "127.1"};

	(void)state;
	for (size_t i = 0; ours[i]; i++)
		if (!http_host_is_ours(ours[i], "node1.example", "mtl.example,b"))
			fail_msg("\"%s\" is refused", ours[i]);
	for (size_t i = 0; i < sizeof(theirs) / sizeof(*theirs); i++)
		if (http_host_is_ours(theirs[i], "node1.example", "mtl.example,b"))
			fail_msg("\"%s\" is let in", theirs[i]);
	assert_true(http_host_is_ours(NULL, "node1", NULL));
	assert_false(http_host_is_ours("mtl.example", "node1", NULL));
	assert_false(http_host_is_ours("", "", ""));
}

static void a_long_host_is_nobodys(void **state)
{
	char host[4096];

	(void)state;
	memset(host, 'a', sizeof(host));
	host[sizeof(host) - 1] = '\0';
	assert_false(http_host_is_ours(host, "node1", host));
	memset(host, '[', sizeof(host) - 1);
	assert_false(http_host_is_ours(host, "node1", NULL));
	host[200] = '\0';
	assert_false(http_host_is_ours(host, "node1", NULL));
}

static void who_asks_for_openmetrics_gets_it(void **state)
{
	static const char *const wanted[] = {
	        "application/openmetrics-text",
	        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
	        "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
	        "text/plain;q=0.5, application/openmetrics-text; version=1.0.0; q=0.6",
	        "text/plain, APPLICATION/OpenMetrics-Text",
	        "application/openmetrics-text;q=2",
	};
	static const char *const not [] = {NULL, "", "*/*", "text/plain", "text/html,*/*;q=0.8",
	        "application/openmetrics-text;q=0", "application/openmetrics-text;q=-1",
	        "application/openmetrics-text;q=nan",
	        "text/plain,application/openmetrics-text;q=0.9", "application/openmetrics-textual",
	        "xapplication/openmetrics-text", ",,,", ";q=1", ";",
	        "application/openmetrics-text;q=0.1,text/plain;\tq=0.2", " ", ", ,"};

	(void)state;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (!http_wants_openmetrics(wanted[i]))
			fail_msg("\"%s\" gets text", wanted[i]);
	for (size_t i = 0; i < sizeof(not ) / sizeof(*not ); i++)
		if (http_wants_openmetrics(not [i]))
			fail_msg("\"%s\" gets OpenMetrics", not [i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(ours_are_addresses_and_names_given),
	        cmocka_unit_test(a_long_host_is_nobodys),
	        cmocka_unit_test(who_asks_for_openmetrics_gets_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
