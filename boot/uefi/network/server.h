/*
 * The server that the application was loaded from. After PXE it is the TFTP server, and requests go to its port 80.
 * After HTTP boot it is the server in the URL. Requests use only the network card that this machine was booted from.
 */
#ifndef BARETICK_SERVER_H
#define BARETICK_SERVER_H

#include "network/origin.h"
#include "uefi/network/exchange.h"

#define SERVER_URL_SIZE      (ORIGIN_ADDRESS_SIZE + 16) /* size of a URL on the server, for options or for reports */
#define SERVER_SENTENCE_SIZE 384

struct server {
	bool is_found; /* true if the application was loaded over a network; otherwise the other fields are not valid */
	uint8_t mac[ORIGIN_MAC_SIZE];
	char options[SERVER_URL_SIZE]; /* URL of the options, "" if requests are not possible */
	char reports[SERVER_URL_SIZE]; /* URL for reports, "" if requests are not possible */
	const char *reason;            /* reason why requests are not possible, as a clause; or NULL */
};

/* Finds the server from the firmware's records of the boot. Sends nothing. */
void server_find(struct server *server);

/*
 * Requests the options of the machine with the serial number SERIAL ("" if not known). BUFFER receives the first SIZE
 * bytes of the options, and LENGTH their length. SENTENCE names their source. If there are no options, returns false,
 * and SENTENCE is the reason. SENTENCE is "" if the server answered that it has no options for this machine. The time
 * limits are 8 s for an address, 8 s for a name, and 21 s for the exchange with the server.
 */
bool server_read_options(const struct server *server, const char *serial, char *buffer, size_t size, size_t *length,
			 char sentence[SERVER_SENTENCE_SIZE]);

#endif
