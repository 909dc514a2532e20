/** Serves accountlink under /links in a Hono app on Node. */
import { serve } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import { createAccountLink } from "accountlink";
import { Hono } from "hono";

const port = Number(process.env["PORT"] ?? 3000);
const al = await createAccountLink({
  gameUserExists: async (id) => id === "1",
  http: { publicUrl: `http://localhost:${port}`, basePath: "/links", clientAddress: "given" },
});
console.log(`Key: ${(await al.keys.create({ name: "bot" })).token}`);

const app = new Hono();
app.get("/", (c) => c.text("Hello"));
app.all("/links/*", (c) => al.fetch(c.req.raw, { clientAddress: getConnInfo(c).remote.address }));
const server = serve({ fetch: app.fetch, port, hostname: "127.0.0.1" });

process.once("SIGTERM", () => {
  server.close();
  void al.close();
});
