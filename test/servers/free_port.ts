import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";

/**
 * A free local port. It is below the range from which the system gives ports to outgoing connections, so that none of
 * them takes it before its server listens. So is the port plus 10,000, which a Redis Cluster also uses. No other test
 * gets it while this process lives, whether its server listens, has not started or was killed.
 */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(10_000, 20_000);
    if ((await isFree(port)) && (await reserve(port))) return port;
  }
};

/** Takes the port of UDP with the same number, which no server needs. */
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

/** Lets a server listen on a port that was free, and gives the port. */
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
