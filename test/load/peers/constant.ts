/** The least that node:http can do: one answer, as long as that to `GET /v2/chat`. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Serve } from "./ports.ts";

const text = JSON.stringify({ status: 200, data: "x".repeat(380) });
const headers = {
  "content-type": "application/json",
  "content-length": text.length,
  "x-request-id": `req_${"0".repeat(26)}`,
  "cache-control": "no-store",
};

export const serve: Serve = async () => {
  const server = createServer((_, response) => response.writeHead(200, headers).end(text));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
