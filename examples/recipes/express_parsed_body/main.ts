/** Serves accountlink under /links in an Express app, after body parsers that keep the raw bytes. */
import type { IncomingMessage } from "node:http";
import { createAccountLink } from "accountlink";
import express from "express";

const port = Number(process.env["PORT"] ?? 3000);
const al = await createAccountLink({
  gameUserExists: async (id) => id === "1",
  http: { publicUrl: `http://localhost:${port}`, basePath: "/links", clientAddress: "given" },
});
console.log(`Key: ${(await al.keys.create({ name: "bot" })).token}`);

// `al.nodeListener` uses `rawBody` if a parser has already read the body.
const verify = (request: IncomingMessage, _response: unknown, bytes: Buffer) =>
  void Object.assign(request, { rawBody: bytes });

const app = express();
app.use(express.json({ verify }), express.urlencoded({ verify }));
app.use("/links", al.nodeListener);
app.get("/", (_request, response) => void response.send("Hello"));
const server = app.listen(port, "127.0.0.1");

process.once("SIGTERM", () => {
  server.close();
  void al.close();
});
