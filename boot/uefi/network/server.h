/*
 * The server that the application itself came from: by PXE the one that the file was loaded from, asked at port 80, by
 * HTTP boot that of its address. It is asked by the card that was booted by alone.
 */
#ifndef BARETICK_SERVER_H
#define BARETICK_SERVER_H

#include "network/origin.h"
#include "uefi/network/exchange.h"

#define SERVER_URL_SIZE      (ORIGIN_ADDRESS_SIZE + 16) /* with a path of baretick's */
#define SERVER_SENTENCE_SIZE 384

struct server {
	bool there; /* the application came over a network; else nothing of the rest holds */
	uint8_t mac[ORIGIN_MAC_SIZE];
	char options[SERVER_URL_SIZE]; /* where it has options; "": it can't be asked, */
	char reports[SERVER_URL_SIZE]; /* and where it takes reports */
	const char *reason;            /* why it can't be asked, as a clause; or NULL */
};

/* By what the firmware keeps of the boot. Nothing is sent. */
void server_find(struct server *server);

/*
 * Asks SERVER, which can be asked, for the options of the machine with the serial number SERIAL ("": none is known).
 * The first SIZE bytes of what it has are in BUFFER, LENGTH is how long that is. False: it has none, and SENTENCE says
 * why, or is "" where it just has none for this machine. With true SENTENCE says where they are from. Bounded: 8 s for
 * an address, 8 s for a name, and 21 s.
 */
bool server_ask(const struct server *server, const char *serial, char *buffer, size_t size, size_t *length,
		char sentence[SERVER_SENTENCE_SIZE]);

#endif
