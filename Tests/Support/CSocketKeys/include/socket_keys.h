// Security keys that are sockets in a folder, in the place of the machine's: `hidraw0` to
// `hidraw3`, one report (64 bytes) a packet.
#pragma once

void use_socket_keys(const char *folder);
