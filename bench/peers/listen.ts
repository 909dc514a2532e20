/** Serves with node:http on a free port. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { Serve } from "./ports.ts";

export const listen = async (listener: RequestListener): ReturnType<Serve> => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
