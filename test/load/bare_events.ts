/** What a waiting client costs at least: node:http alone, which begins each stream of events and says nothing more. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const server = createServer((request, response) => {
  if (request.method !== "GET") return response.end("{}");
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  return response.write("retry: 2000\n\n");
});

server.listen(0, "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
