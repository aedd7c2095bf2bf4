/* SPDX-License-Identifier: MIT */
/*
 * Introspection. The description of io.mtld is daemon/io.mtld.varlink itself, made into an array by
 * the build; that of org.varlink.service is the one the Varlink specification prints.
 */
#include <errno.h>
#include <json-c/json.h>
#include <string.h>
#include "cleanup.h"
#include "io.mtld.varlink.h"
#include "service.h"

DEFINE_CLEANUP(struct json_object, json_object_put)

#define VENDOR "mtl"
#define PRODUCT "mtld, live miss-ratio curves of running processes"

static const char org_varlink_service[] =
        "# The Varlink Service Interface is provided by every varlink service. It\n"
        "# describes the service and the interfaces it implements.\n"
        "interface org.varlink.service\n"
        "\n"
        "# Get a list of all the interfaces a service provides and information\n"
        "# about the implementation.\n"
        "method GetInfo() -> (\n"
        "  vendor: string,\n"
        "  product: string,\n"
        "  version: string,\n"
        "  url: string,\n"
        "  interfaces: []string\n"
        ")\n"
        "\n"
        "# Get the description of an interface that is implemented by this service.\n"
        "method GetInterfaceDescription(interface: string) -> (description: string)\n"
        "\n"
        "# The requested interface was not found.\n"
        "error InterfaceNotFound (interface: string)\n"
        "\n"
        "# The requested method was not found\n"
        "error MethodNotFound (method: string)\n"
        "\n"
        "# The interface defines the requested method, but the service does not\n"
        "# implement it.\n"
        "error MethodNotImplemented (method: string)\n"
        "\n"
        "# One of the passed parameters is invalid.\n"
        "error InvalidParameter (parameter: string)\n"
        "\n"
        "# Client is denied access\n"
        "error PermissionDenied ()\n"
        "\n"
        "# Method is expected to be called with 'more' set to true, but wasn't\n"
        "error ExpectedMore ()\n";

static const struct interface {
	const char *name, *description;
	size_t length;
} interfaces[] = {
        {"io.mtld", io_mtld_varlink, sizeof(io_mtld_varlink) - 1},
        {"org.varlink.service", org_varlink_service, sizeof(org_varlink_service) - 1},
};

#define N_INTERFACES (sizeof(interfaces) / sizeof(*interfaces))

static const struct interface *find_interface(const char *name, size_t length)
{
	for (size_t i = 0; i < N_INTERFACES; i++)
		if (strlen(interfaces[i].name) == length &&
		        !memcmp(interfaces[i].name, name, length))
			return &interfaces[i];
	return NULL;
}

bool service_has_interface(const char *name, size_t length)
{
	return find_interface(name, length) != NULL;
}

int service_get_info(const struct methods_context *context, const struct peer *peer,
        const struct arguments *arguments, struct reply *ret_reply)
{
	_cleanup_(json_object_putp) struct json_object *info = json_object_new_object();
	_cleanup_(json_object_putp) struct json_object *names = json_object_new_array();

	(void)context, (void)peer, (void)arguments;
	if (!info || !names)
		return -ENOMEM;
	for (size_t i = 0; i < N_INTERFACES; i++)
		json_object_array_add(names, json_object_new_string(interfaces[i].name));
	json_object_object_add(info, "vendor", json_object_new_string(VENDOR));
	json_object_object_add(info, "product", json_object_new_string(PRODUCT));
	json_object_object_add(info, "version", json_object_new_string(MTL_VERSION));
	json_object_object_add(info, "url", json_object_new_string(""));
	json_object_object_add(info, "interfaces", TAKE_PTR(names));
	ret_reply->parameters = TAKE_PTR(info);
	return 0;
}

int service_get_interface_description(const struct methods_context *context,
        const struct peer *peer, const struct arguments *arguments, struct reply *ret_reply)
{
	const struct interface *interface =
	        find_interface(arguments->interface, strlen(arguments->interface));
	struct json_object *description;

	(void)context, (void)peer;
	if (!interface)
		return reply_make(ret_reply, "org.varlink.service.InterfaceNotFound", "interface",
		        json_text(arguments->interface), NULL);
	description = json_object_new_object();
	if (!description)
		return -ENOMEM;
	json_object_object_add(description, "description",
	        json_object_new_string_len(interface->description, (int)interface->length));
	ret_reply->parameters = description;
	return 0;
}
