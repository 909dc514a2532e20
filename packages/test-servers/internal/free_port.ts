import { createServer } from "node:net";

/** A port of this machine that nobody listens on now, and none of those that a cluster adds 10,000 to in vain. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = await new Promise<number>((resolve, reject) => {
      const server = createServer();
      server.once("error", reject);
      server.listen(0, "127.0.0.1", () => {
        const address = server.address();
        server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
      });
    });
    if (port <= 55_535) return port;
  }
};
