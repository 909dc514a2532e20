/**
 * A peer of the real server, as a process: a framework on a store.
 *
 * Usage: `node peer.ts constant|http|fastify|hono embedded|shared|none [PLACE…] [--fill]`, with the database file, or
 * the URLs of Postgres and Redis; `--fill` for a new database
 */
import { parseArgs } from "node:util";
import type { OpenStore, Serve } from "./ports.ts";
import { routesOn } from "./service.ts";

if (import.meta.main) {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { fill: { type: "boolean" } },
  });
  const [framework, storage, ...places] = positionals;
  const { serve } = (await import(`./${framework}.ts`)) as { readonly serve: Serve };
  const store =
    storage === "none"
      ? null
      : await ((await import(`./${storage}.ts`)) as { readonly open: OpenStore }).open(
          places,
          values.fill === true,
        );
  const { port, close } = await serve(store === null ? [] : routesOn(store));
  console.log(`listening on http://127.0.0.1:${port}`);
  const stop = async () => {
    await close();
    await store?.close();
    process.exit(0);
  };
  process.once("SIGTERM", () => void stop());
}
