import { randomInt } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";

/**
 * A free local port. It is below the range from which the system gives ports to outgoing connections, so that none of
 * them takes it before its server listens. So is the port plus 10,000, which a Redis Cluster also uses.
 */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(10_000, 22_000);
    if (await isFree(port)) return port;
  }
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
