/** Serves accountlink under /links on Deno's HTTP server. */
import { createAccountLink } from "accountlink";

const port = Number(Deno.env.get("PORT") ?? 3000);
const al = await createAccountLink({
  gameUserExists: async (id) => id === "1",
  http: { publicUrl: `http://localhost:${port}`, basePath: "/links", clientAddress: "given" },
});
console.log(`Key: ${(await al.keys.create({ name: "bot" })).token}`);

const server = Deno.serve({ port, hostname: "127.0.0.1" }, (request, { remoteAddr }) =>
  new URL(request.url).pathname.startsWith("/links/")
    ? al.fetch(request, { clientAddress: remoteAddr.hostname })
    : new Response("Hello"),
);

Deno.addSignalListener("SIGTERM", () => {
  void Promise.all([server.shutdown(), al.close()]).then(() => Deno.exit());
});
