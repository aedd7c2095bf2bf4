/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a configuration file: refused with a message and nothing applied, or accepted, and
 * then every value reads back as it prints.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "config.h"

static void require(bool condition)
{
	if (!condition)
		abort();
}

static int read_bytes(const void *bytes, size_t size, struct config *config)
{
	FILE *file = fmemopen((void *)bytes, size, "r");
	char problem[512] = "";
	int r;

	require(file != NULL);
	r = config_read(file, "fuzz", config, problem, sizeof(problem));
	require((r < 0) == !!*problem);
	fclose(file);
	return r;
}

static void check_value(const struct config *config, unsigned index)
{
	char value[64], again[64], text[128];
	struct config read;

	config_defaults(&read);
	config_value(config, index, value, sizeof(value));
	snprintf(text, sizeof(text), "[mtld]\n%s = %s\n", config_key(index), value);
	require(read_bytes(text, strlen(text), &read) == 0);
	config_value(&read, index, again, sizeof(again));
	require(!strcmp(value, again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config config, untouched;

	if (!size)
		return 0;
	memset(&config, 0, sizeof(config));
	config_defaults(&config);
	memcpy(&untouched, &config, sizeof(config));
	if (read_bytes(data, size, &config) < 0) {
		require(!memcmp(&config, &untouched, sizeof(config)));
		return 0;
	}
	for (unsigned i = 0; config_key(i); i++)
		check_value(&config, i);
	return 0;
}
