/** Serves accountlink under /links in an Express app, before the body parsers. */
import { createAccountLink } from "accountlink";
import express from "express";

const port = Number(process.env["PORT"] ?? 3000);
const al = await createAccountLink({
  gameUserExists: async (id) => id === "1",
  http: { publicUrl: `http://localhost:${port}`, basePath: "/links", clientAddress: "given" },
});
console.log(`Key: ${(await al.keys.create({ name: "bot" })).token}`);

const app = express();
app.use("/links", al.nodeListener);
app.use(express.json());
app.get("/", (_request, response) => void response.send("Hello"));
const server = app.listen(port, "127.0.0.1");

process.once("SIGTERM", () => {
  server.close();
  void al.close();
});
