/** Serves accountlink under /links on Node's own HTTP server. */
import { createServer } from "node:http";
import { createAccountLink } from "accountlink";

const port = Number(process.env["PORT"] ?? 3000);
const al = await createAccountLink({
  gameUserExists: async (id) => id === "1",
  http: { publicUrl: `http://localhost:${port}`, basePath: "/links", clientAddress: "given" },
});
console.log(`Key: ${(await al.keys.create({ name: "bot" })).token}`);

const server = createServer((request, response) => {
  if (request.url?.startsWith("/links/")) al.nodeListener(request, response);
  else response.end("Hello");
});
server.listen(port, "127.0.0.1");

process.once("SIGTERM", () => {
  server.close();
  void al.close();
});
