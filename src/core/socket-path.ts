/** The longest path of a socket, in bytes. Linux allows 107 (`sun_path`), other systems fewer. */
export const MAX_SOCKET_PATH = 100;
