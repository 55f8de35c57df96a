/*
 * The server that the application was loaded from. After PXE it is the TFTP server, and requests go to port 80 of it.
 * After HTTP boot it is the server in the URL. Only the card that booted is used.
 */
#ifndef BARETICK_SERVER_H
#define BARETICK_SERVER_H

#include "network/origin.h"
#include "uefi/network/exchange.h"

#define SERVER_URL_SIZE      (ORIGIN_ADDRESS_SIZE + 16) /* size of the server's address with one of baretick's paths */
#define SERVER_SENTENCE_SIZE 384

struct server {
	bool is_found; /* true if the application was loaded over a network; otherwise the other fields are not valid */
	uint8_t mac[ORIGIN_MAC_SIZE];
	char options[SERVER_URL_SIZE]; /* URL of the options, "" if requests are not possible */
	char reports[SERVER_URL_SIZE]; /* URL for reports, "" if requests are not possible */
	const char *reason;            /* reason why requests are not possible, as a clause; or NULL */
};

/* Finds the server in the firmware's data about the boot. Sends nothing. */
void server_find(struct server *server);

/*
 * Requests from SERVER the options of the machine whose serial number is SERIAL ("" if not known). BUFFER receives
 * their first SIZE bytes, and LENGTH their length. SENTENCE describes their source. Returns false if there are no
 * options. SENTENCE then has the reason, or is "" if the server has no options for this machine. The time limits are 8
 * s for an address, 8 s for a name, and 21 s for the rest.
 */
bool server_read_options(const struct server *server, const char *serial, char *buffer, size_t size, size_t *length,
			 char sentence[SERVER_SENTENCE_SIZE]);

#endif
