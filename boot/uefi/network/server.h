/*
 * The server that the application came from. After PXE it is the TFTP server, requested at port 80. After HTTP boot it
 * is the server in the URL. Only the card that booted is used.
 */
#ifndef BARETICK_SERVER_H
#define BARETICK_SERVER_H

#include "network/origin.h"
#include "uefi/network/exchange.h"

#define SERVER_URL_SIZE      (ORIGIN_ADDRESS_SIZE + 16) /* with one of baretick's paths */
#define SERVER_SENTENCE_SIZE 384

struct server {
	bool there; /* true if the application came over a network; otherwise the other fields are not valid */
	uint8_t mac[ORIGIN_MAC_SIZE];
	char options[SERVER_URL_SIZE]; /* URL of the options, "" if requests are not possible */
	char reports[SERVER_URL_SIZE]; /* URL for reports, "" if requests are not possible */
	const char *reason;            /* why requests are not possible, as a clause; or NULL */
};

/* Finds the server in the firmware's data about the boot. Sends nothing. */
void server_find(struct server *server);

/*
 * Requests the options of the machine with the serial number SERIAL ("" if not known) from SERVER. BUFFER receives
 * their first SIZE bytes, and LENGTH their length. SENTENCE then says where they are from. Returns false if there are
 * none; SENTENCE has the reason, or is "" if the server has none for this machine. The limits are 8 s for an address, 8
 * s for a name, and 21 s for the rest.
 */
bool server_ask(const struct server *server, const char *serial, char *buffer, size_t size, size_t *length,
		char sentence[SERVER_SENTENCE_SIZE]);

#endif
