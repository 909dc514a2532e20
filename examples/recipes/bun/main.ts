/** Serves accountlink under /links on Bun's HTTP server. */
import { createAccountLink } from "accountlink";

const port = Number(process.env["PORT"] ?? 3000);
const al = await createAccountLink({
  gameUserExists: async (id) => id === "1",
  http: { publicUrl: `http://localhost:${port}`, basePath: "/links", clientAddress: "given" },
});
console.log(`Key: ${(await al.keys.create({ name: "bot" })).token}`);

const server = Bun.serve({
  port,
  hostname: "127.0.0.1",
  // By default, Bun closes a connection that is silent for ten seconds, but long polls and streams are silent for
  // longer.
  idleTimeout: 60,
  fetch: (request, connections) =>
    new URL(request.url).pathname.startsWith("/links/")
      ? al.fetch(request, { clientAddress: connections.requestIP(request)?.address })
      : new Response("Hello"),
});

process.once("SIGTERM", () => void Promise.all([server.stop(), al.close()]));
