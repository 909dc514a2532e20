/** Serves accountlink under /links on a Fastify server. */
import { createAccountLink } from "accountlink";
import Fastify from "fastify";

const port = Number(process.env["PORT"] ?? 3000);
const al = await createAccountLink({
  gameUserExists: async (id) => id === "1",
  http: { publicUrl: `http://localhost:${port}`, basePath: "/links", clientAddress: "given" },
});
console.log(`Key: ${(await al.keys.create({ name: "bot" })).token}`);

// Without this option, closing the server waits 72 seconds for idle connections.
const server = Fastify({ forceCloseConnections: true });
server.get("/", async () => "Hello");
server.register(async (scope) => {
  // The service reads request bodies itself, so Fastify must not parse them.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
  scope.all("/links/*", (request, reply) => {
    reply.hijack();
    al.nodeListener(request.raw, reply.raw);
  });
});
await server.listen({ port, host: "127.0.0.1" });

process.once("SIGTERM", () => void al.close().then(() => server.close()));
