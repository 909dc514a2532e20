/**
 * A program that embeds the service, as a process.
 *
 * Usage: `embedder.ts listener|fetch FOLDER`, `listener` on Node alone, and `fetch` on Deno and Bun with their own servers,
 * on Node with that of Hono.
 */
import { createAccountLink, type PromisedAccountLink } from "accountlink";
import { sqlite } from "accountlink/sqlite";
import { embedderSecret, platformFixture, unreached } from "../fixture.ts";
import type { Serve } from "./ports.ts";

const { guilds, gameUsers } = platformFixture().platform;
const gameIds = new Set(gameUsers.map(({ id }) => id));
const members = new Map(guilds.map(({ id, members }) => [id, new Set(members.map(({ chatId }) => chatId))]));

const [how, folder = ""] = process.argv.slice(2);
const al = await createAccountLink({
  storage: sqlite(folder),
  secret: embedderSecret,
  // As the bench starts the real server.
  logLevel: "Error",
  limits: {
    address: { perSecond: unreached, daily: unreached, verifyDaily: unreached, authFailures: 30 },
  },
  http: { publicUrl: "http://127.0.0.1", clientAddress: "given" },
  gameUserExists: (id) => gameIds.has(id),
  guild: (id) => (members.has(id) ? {} : null),
  guildMember: (guildId, chatId) => (members.get(guildId)?.has(chatId) === true ? {} : null),
});

/** What is used of Deno and Bun. */
const { Deno: deno, Bun: bun } = globalThis as {
  readonly Deno?: {
    readonly serve: (
      options: { readonly hostname: string; readonly port: number; readonly onListen: () => void },
      answer: (request: Request, info: { readonly remoteAddr: { readonly hostname: string } }) => Answer,
    ) => { readonly addr: { readonly port: number }; readonly shutdown: () => Promise<void> };
  };
  readonly Bun?: {
    readonly serve: (options: {
      readonly hostname: string;
      readonly port: number;
      readonly fetch: (
        request: Request,
        server: { readonly requestIP: (request: Request) => { readonly address: string } | null },
      ) => Answer;
    }) => { readonly port: number; readonly stop: () => Promise<void> };
  };
};
type Answer = ReturnType<PromisedAccountLink["fetch"]>;

const serve = async (): ReturnType<Serve> => {
  const address = { hostname: "127.0.0.1", port: 0 };
  if (deno !== undefined) {
    const server = deno.serve({ ...address, onListen: () => {} }, (request, { remoteAddr }) =>
      al.fetch(request, { clientAddress: remoteAddr.hostname }),
    );
    return { port: server.addr.port, close: () => server.shutdown() };
  }
  if (bun !== undefined) {
    const server = bun.serve({
      ...address,
      fetch: (request, connections) =>
        al.fetch(request, { clientAddress: connections.requestIP(request)?.address }),
    });
    return { port: server.port, close: () => server.stop() };
  }
  const { listen } = await import("./listen.ts");
  if (how === "listener") return listen(al.nodeListener);
  const { getRequestListener } = await import("@hono/node-server");
  const respond = getRequestListener((request, { incoming }) =>
    al.fetch(request, { clientAddress: incoming.socket.remoteAddress }),
  );
  return listen((request, response) => void respond(request, response));
};

const { port, close } = await serve();
console.log(`listening on http://127.0.0.1:${port}`);
process.once("SIGTERM", () => void Promise.all([close(), al.close()]).then(() => process.exit(0)));
