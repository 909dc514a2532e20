/** A worker with the service below /links, in a Durable Object, whose storage has the links. */
import { StorageKv } from "@accountlink/storage-kv";
import { createAccountLink } from "accountlink";
import { kv } from "accountlink/kv";

/** What the store needs of the storage of a Durable Object. */
interface ObjectStorage {
  readonly sql: {
    readonly exec: <Row>(sql: string, ...values: ReadonlyArray<string | number>) => Iterable<Row>;
  };
  readonly transactionSync: <A>(run: () => A) => A;
}

interface ObjectNamespace {
  readonly getByName: (name: string) => { readonly fetch: (request: Request) => Promise<Response> };
}

interface Env {
  readonly LINKS: ObjectNamespace;
  readonly SECRET: string;
}

const storeOn = (storage: ObjectStorage): StorageKv.KeyValueStore => {
  const { sql } = storage;
  sql.exec("CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
  const valueOf = (key: string) => {
    const [entry] = sql.exec<{ value: string }>("SELECT value FROM entries WHERE key = ?", key);
    return entry?.value ?? null;
  };
  return {
    get: async (keys) => keys.map(valueOf),
    list: async ({ after, before, limit }) => {
      const range = "SELECT key, value FROM entries WHERE key > ? AND key < ? ORDER BY key LIMIT ?";
      const entries = sql.exec<{ key: string; value: string }>(range, after, before, limit);
      return [...entries].map(({ key, value }) => [key, value] as const);
    },
    commit: async ({ check, writes }) =>
      storage.transactionSync(() => {
        if (valueOf(check.key) !== check.value) return false;
        for (const [key, value] of writes) {
          if (value === null) sql.exec("DELETE FROM entries WHERE key = ?", key);
          else sql.exec("INSERT OR REPLACE INTO entries VALUES (?, ?)", key, value);
        }
        return true;
      }),
  };
};

const open = async (storage: ObjectStorage, secret: string) => {
  const al = await createAccountLink({
    secret,
    storage: kv(async () => storeOn(storage)),
    gameUserExists: async (id) => id === "1",
    http: { publicUrl: "https://ours.example", basePath: "/links", clientAddress: "given" },
  });
  const keys = await al.keys.list();
  if (keys.length === 0) console.log(`Key: ${(await al.keys.create({ name: "bot" })).token}`);
  return al;
};

/** One object has the service, since its requests share their I/O, as those of a worker may not. */
export class Links {
  readonly #storage: ObjectStorage;
  readonly #secret: string;
  #service: ReturnType<typeof open> | undefined;

  constructor(state: { readonly storage: ObjectStorage }, { SECRET }: Env) {
    this.#storage = state.storage;
    this.#secret = SECRET;
  }

  async fetch(request: Request): Promise<Response> {
    const al = await (this.#service ??= open(this.#storage, this.#secret));
    // Cloudflare names the client. On your machine nothing does.
    const clientAddress = request.headers.get("cf-connecting-ip") ?? "127.0.0.1";
    return al.fetch(request, { clientAddress });
  }
}

export default {
  async fetch(request: Request, { LINKS }: Env): Promise<Response> {
    if (!new URL(request.url).pathname.startsWith("/links/")) return new Response("Hello");
    return LINKS.getByName("links").fetch(request);
  },
};
