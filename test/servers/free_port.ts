import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";

/**
 * Returns a free local port for a server. The port is below the range from which the system takes ports for outgoing
 * connections. So no such connection takes the port before the server listens. The port plus 10,000, which a node of a
 * Redis Cluster also uses, is below that range too. No other test gets the port while this process lives, even if the
 * server has not started or was killed.
 */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(10_000, 20_000);
    if ((await isFree(port)) && (await reserve(port))) return port;
  }
};

/** Reserves a port by opening the UDP port with the same number, which no server needs. */
const reserve = async (port: number): Promise<boolean> => {
  const socket = createSocket("udp4").bind(port, "127.0.0.1");
  try {
    await once(socket, "listening");
  } catch {
    return false;
  }
  socket.unref();
  return true;
};

/** Starts listening on a free port, and returns the port. */
export const listenLocally = async (server: Server): Promise<number> => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
};

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
};
