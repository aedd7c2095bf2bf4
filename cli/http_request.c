/* SPDX-License-Identifier: MIT */
/*
 * Headers of strangers: read, never trusted to be well formed.
 *
 * A Host is taken apart into a name and what follows its last colon; an IPv6 address is in
 * brackets. Accept is a list of ranges with parameters, of which q is the preference (RFC 9110,
 * 12.5.1): the highest q of openmetrics-text against the highest of what text/plain matches.
 * Who accepts anything gets text, as the client libraries of Prometheus have it.
 */

#include "http_request.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME_MAX_LENGTH 255 /* of a host */

static bool is_address(const char *name)
{
	unsigned char address[sizeof(struct in6_addr)];
	char copy[INET6_ADDRSTRLEN];
	size_t length = strlen(name);

	if (inet_pton(AF_INET, name, address) == 1)
		return true;
	if (length < 2 || length > sizeof(copy) || name[0] != '[' || name[length - 1] != ']')
		return false;
	snprintf(copy, sizeof(copy), "%.*s", (int)length - 2, name + 1);
	return inet_pton(AF_INET6, copy, address) == 1;
}

static bool is_among(const char *name, const char *list)
{
	while (list && *list) {
		size_t length = strcspn(list, ",");

		if (length == strlen(name) && strncasecmp(list, name, length) == 0)
			return true;
		list += length + (list[length] != '\0');
	}
	return false;
}

/* "node1" of "node1.example" */
static bool is_first_part(const char *name, const char *own_name)
{
	size_t length = strcspn(own_name, ".");

	return length > 0 && strlen(name) == length && strncasecmp(name, own_name, length) == 0;
}

/* Cuts off ":PORT". */
static bool cut_port(char *host)
{
	char *colon = strrchr(host, ':');

	if (!colon || strchr(colon, ']'))
		return true;
	if (strlen(colon) < 2 || strspn(colon + 1, "0123456789") != strlen(colon + 1))
		return false;
	*colon = '\0';
	return true;
}

bool http_host_is_ours(const char *host, const char *own_name, const char *allowed)
{
	char name[NAME_MAX_LENGTH + 8];

	if (!host)
		return true;
	if (strlen(host) >= sizeof(name))
		return false;
	strcpy(name, host);
	if (!cut_port(name) || !*name)
		return false;
	return is_address(name) || strcasecmp(name, "localhost") == 0 ||
	       strcasecmp(name, own_name) == 0 || is_first_part(name, own_name) ||
	       is_among(name, allowed);
}

/* q of a range, from its parameters, ";version=1.0.0;q=0.5". */
static double preference(const char *parameters, size_t length)
{
	for (size_t i = 0; i + 2 < length; i++) {
		const char *p = parameters + i;
		size_t blanks = p[0] == ';' ? 1 + strspn(p + 1, " \t") : 0;

		if (blanks && i + blanks + 2 < length && strncasecmp(p + blanks, "q=", 2) == 0)
			return fmin(1, fmax(0, strtod(p + blanks + 2, NULL)));
	}
	return 1;
}

bool http_wants_openmetrics(const char *accept)
{
	double openmetrics = 0, text = 0;

	while (accept && *accept) {
		size_t length = strcspn(accept, ","), blanks = strspn(accept, " \t");
		size_t type = blanks > length ? length : blanks;
		size_t end = type + strcspn(accept + type, "; \t,");
		double q = preference(accept + end, length - end);
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)(end - type), accept + type);
		if (strcasecmp(name, "application/openmetrics-text") == 0)
			openmetrics = fmax(openmetrics, q);
		else if (strcasecmp(name, "text/plain") == 0)
			text = fmax(text, q);
		accept += length + (accept[length] != '\0');
	}
	return openmetrics > 0 && openmetrics >= text;
}
