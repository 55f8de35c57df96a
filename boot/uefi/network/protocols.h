/*
 * The parts of UEFI's network protocols that baretick uses and GNU-EFI lacks. The sections of UEFI 2.10 are 11.6
 * (service binding), 28.1 (TCP4), 28.5 (IP4 Config II), 29.4 (DNS4), 9.2 (the loaded image's device path). Unused
 * members have the type VOID *.
 */
#ifndef BARETICK_PROTOCOLS_H
#define BARETICK_PROTOCOLS_H

#include "uefi/firmware/uefi.h"

#define NETWORK_ERROR(number) (EFI_ERROR_MASK | (number)) /* status codes of networks: UEFI 2.10, appendix D */
#define STATUS_CONNECTION_FIN     NETWORK_ERROR(104)
#define STATUS_CONNECTION_RESET   NETWORK_ERROR(105)
#define STATUS_CONNECTION_REFUSED NETWORK_ERROR(106)

#define NETWORK_GUID_IMAGE_PATH { 0xbc62157e, 0x3e33, 0x4fec, { 0x99, 0x20, 0x2d, 0x3b, 0x36, 0xd7, 0x50, 0xdf } }
#define GUID_TCP4_BINDING { 0x00720665, 0x67eb, 0x4a99, { 0xba, 0xf7, 0xd3, 0xc3, 0x3a, 0x1c, 0x7c, 0xc9 } }
#define GUID_TCP4         { 0x65530bc7, 0xa359, 0x410f, { 0xb0, 0x10, 0x5a, 0xad, 0xc7, 0xec, 0x2b, 0x62 } }
#define GUID_DNS4_BINDING { 0xb625b186, 0xe063, 0x44f7, { 0x89, 0x05, 0x6a, 0x74, 0xdc, 0x6f, 0x52, 0xb4 } }
#define GUID_DNS4         { 0xae3d28cc, 0xe05b, 0x4fa1, { 0xa0, 0x11, 0x7e, 0xb5, 0x5a, 0x3f, 0x14, 0x01 } }
#define GUID_IP4_CONFIG2  { 0x5b446ed1, 0xe30b, 0x4faa, { 0x87, 0x1a, 0x36, 0x54, 0xec, 0xa3, 0x60, 0x80 } }

struct service_binding {
	EFI_STATUS (EFIAPI *create_child)(struct service_binding *binding, EFI_HANDLE *child);
	EFI_STATUS (EFIAPI *destroy_child)(struct service_binding *binding, EFI_HANDLE child);
};

struct network_address {
	UINT8 bytes[4];
};

/* Declarations of EFI_IP4_CONFIG2_PROTOCOL, which sets a card's address. */
enum ip4_data { IP4_INTERFACE_INFO, IP4_POLICY, IP4_MANUAL_ADDRESS, IP4_GATEWAY, IP4_DNS_SERVERS };
enum ip4_policy { IP4_STATIC, IP4_DHCP }; /* UINT32, because UEFI's enums have 32 bits */

struct ip4_interface_info {
	CHAR16 name[32];
	UINT8 type;
	UINT32 hardware_address_size;
	UINT8 hardware_address[32];
	struct network_address station, mask;
	UINT32 routes;
	VOID *route_table;
};

struct ip4_config2 {
	EFI_STATUS (EFIAPI *set_data)(struct ip4_config2 *config, UINT32 type, UINTN size, VOID *data);
	EFI_STATUS (EFIAPI *get_data)(struct ip4_config2 *config, UINT32 type, UINTN *size, VOID *data);
	VOID *register_notify, *unregister_notify;
};

/* Declarations of EFI_TCP4_PROTOCOL, a TCP connection over IPv4. */
struct tcp4_access_point {
	BOOLEAN use_default_address;
	struct network_address station, mask;
	UINT16 station_port;
	struct network_address remote;
	UINT16 remote_port;
	BOOLEAN active;
};

struct tcp4_config {
	UINT8 type_of_service, time_to_live;
	struct tcp4_access_point access_point;
	VOID *control;
};

struct tcp4_token {
	EFI_EVENT event;
	EFI_STATUS status;
};

struct tcp4_fragment {
	UINT32 length;
	VOID *bytes;
};

struct tcp4_data { /* layout for sending; received data have a flag URGENT instead of PUSH */
	BOOLEAN push, urgent;
	UINT32 length, fragments;
	struct tcp4_fragment fragment; /* the data; baretick uses a single fragment */
};

struct tcp4_io {
	struct tcp4_token token;
	struct tcp4_data *data;
};

struct tcp4 {
	VOID *get_mode_data;
	EFI_STATUS (EFIAPI *configure)(struct tcp4 *tcp, struct tcp4_config *config);
	VOID *routes;
	EFI_STATUS (EFIAPI *connect)(struct tcp4 *tcp, struct tcp4_token *token);
	VOID *accept;
	EFI_STATUS (EFIAPI *transmit)(struct tcp4 *tcp, struct tcp4_io *io);
	EFI_STATUS (EFIAPI *receive)(struct tcp4 *tcp, struct tcp4_io *io);
	VOID *close, *cancel;
	EFI_STATUS (EFIAPI *poll)(struct tcp4 *tcp);
};

/* Declarations of EFI_DNS4_PROTOCOL, which looks up addresses of names. */
struct dns4_config {
	UINTN server_count;
	struct network_address *servers;
	BOOLEAN use_default_address, cache;
	UINT8 protocol; /* protocol number in the IP header: 17 for UDP */
	struct network_address station, mask;
	UINT16 station_port;
	UINT32 retries, retry_s;
};

struct dns4_addresses {
	UINT32 count;
	struct network_address *list;
};

struct dns4_token {
	EFI_EVENT event;
	EFI_STATUS status;
	UINT32 retries, retry_s;
	struct dns4_addresses *addresses; /* valid after success; the caller frees it and its list of addresses */
};

struct dns4 {
	VOID *get_mode_data;
	EFI_STATUS (EFIAPI *configure)(struct dns4 *dns, struct dns4_config *config);
	EFI_STATUS (EFIAPI *host_name_to_ip)(struct dns4 *dns, CHAR16 *name, struct dns4_token *token);
	VOID *ip_to_host_name, *general_look_up, *update_cache;
	EFI_STATUS (EFIAPI *poll)(struct dns4 *dns);
	EFI_STATUS (EFIAPI *cancel)(struct dns4 *dns, struct dns4_token *token);
};

_Static_assert(offsetof(struct dns4_config, station) == 19 && offsetof(struct dns4_config, retries) == 32 &&
	       offsetof(struct dns4_token, addresses) == 24, "offsets of the specification");
_Static_assert(offsetof(struct ip4_interface_info, station) == 104 &&
	       offsetof(struct tcp4_access_point, remote) == 12 && offsetof(struct tcp4_config, control) == 24 &&
	       offsetof(struct tcp4_data, length) == 4 && offsetof(struct tcp4_data, fragment) == 16,
	       "offsets of the specification");

#endif
