/* SPDX-License-Identifier: MIT */
/* Addresses are numbers, but for localhost: a name that resolves to several would be a guess. */

#include "http_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

#define BACKLOG 64

static bool port_parse(const char *text, in_port_t *ret_port)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || port > UINT16_MAX)
		return false;
	*ret_port = htons((in_port_t)port);
	return true;
}

static bool four_parse(const char *name, in_port_t port, struct http_address *ret_address)
{
	struct sockaddr_in *address = (void *)&ret_address->socket;

	if (strcmp(name, "localhost") == 0)
		name = "127.0.0.1";
	*address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = port};
	ret_address->length = sizeof(*address);
	return inet_pton(AF_INET, name, &address->sin_addr) == 1;
}

static bool six_parse(const char *name, in_port_t port, struct http_address *ret_address)
{
	struct sockaddr_in6 *address = (void *)&ret_address->socket;

	*address = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = port};
	ret_address->length = sizeof(*address);
	return inet_pton(AF_INET6, name, &address->sin6_addr) == 1;
}

/* name in brackets: an IPv6 address; "": all of both kinds. */
static bool name_parse(char *name, in_port_t port, struct http_address *ret_address)
{
	size_t length = strlen(name);

	if (length == 0)
		return six_parse("::", port, ret_address);
	if (name[0] != '[')
		return four_parse(name, port, ret_address);
	if (name[length - 1] != ']')
		return false;
	name[length - 1] = '\0';
	return six_parse(name + 1, port, ret_address);
}

int http_address_parse(
        const char *text, struct http_address *ret_address, char *ret_error, size_t error_size)
{
	struct http_address address = {0};
	const char *colon = strrchr(text, ':');
	char name[HTTP_ADDRESS_TEXT];
	in_port_t port;
	int n = snprintf(name, sizeof(name), "%.*s", colon ? (int)(colon - text) : 9,
	        colon ? text : "127.0.0.1");

	if (n >= (int)sizeof(name) || !port_parse(colon ? colon + 1 : text, &port) ||
	        !name_parse(name, port, &address)) {
		snprintf(ret_error, error_size,
		        "'%.60s' is no ADDRESS:PORT, such as 127.0.0.1:9857, [::1]:9857 or :9857 "
		        "(all addresses)",
		        text);
		return -EINVAL;
	}
	*ret_address = address;
	return 0;
}

char *http_address_text(const struct http_address *address, char ret_text[HTTP_ADDRESS_TEXT])
{
	const struct sockaddr_in6 *six = (const void *)&address->socket;
	const struct sockaddr_in *four = (const void *)&address->socket;
	bool is_six = address->socket.ss_family == AF_INET6;
	char text[INET6_ADDRSTRLEN] = "?";

	inet_ntop(address->socket.ss_family,
	        is_six ? (const void *)&six->sin6_addr : (const void *)&four->sin_addr, text,
	        sizeof(text));
	snprintf(ret_text, HTTP_ADDRESS_TEXT, is_six ? "[%s]:%u" : "%s:%u", text,
	        ntohs(is_six ? six->sin6_port : four->sin_port));
	return ret_text;
}

bool http_address_is_loopback(const struct http_address *address)
{
	const struct sockaddr_in6 *six = (const void *)&address->socket;
	const struct sockaddr_in *four = (const void *)&address->socket;

	return address->socket.ss_family == AF_INET6
	               ? IN6_IS_ADDR_LOOPBACK(&six->sin6_addr)
	               : ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

static const char *advice(int error)
{
	switch (error) {
	case EADDRINUSE:
		return "; something else does: choose another --listen";
	case EADDRNOTAVAIL:
		return "; this machine does not have that address";
	case EACCES:
		return "; ports below 1024 are for root: choose another --listen";
	}
	return "";
}

static int refuse(const struct http_address *address, char *ret_error, size_t error_size)
{
	char name[HTTP_ADDRESS_TEXT];
	int error = errno;

	snprintf(ret_error, error_size, "cannot listen at %s: %s%s",
	        http_address_text(address, name), strerror(error), advice(error));
	return -error;
}

int http_address_listen(const struct http_address *address, struct http_address *ret_address,
        char *ret_error, size_t error_size)
{
	const int type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, yes = 1;
	_cleanup_close_ int fd = socket(address->socket.ss_family, type, 0);
	struct http_address at = {.length = sizeof(at.socket)};

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0 ||
	        bind(fd, (const struct sockaddr *)&address->socket, address->length) < 0 ||
	        listen(fd, BACKLOG) < 0 ||
	        getsockname(fd, (struct sockaddr *)&at.socket, &at.length) < 0)
		return refuse(address, ret_error, error_size);
	*ret_address = at;
	return TAKE_FD(fd);
}
