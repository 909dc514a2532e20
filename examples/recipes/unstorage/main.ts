/** A link that is still there after a restart, in files that unstorage writes. */
import { CacheMemory } from "@accountlink/cache-memory";
import { StorageKv } from "@accountlink/storage-kv";
import { createAccountLink } from "accountlink";
import { Layer } from "effect";
import { openFiles } from "./store.ts";

// A store belongs to one secret, so keep it.
const secret = crypto.getRandomValues(new Uint8Array(32));
const start = () =>
  createAccountLink({
    secret,
    storage: Layer.merge(
      StorageKv.layer(() => openFiles("links")),
      CacheMemory.layer,
    ),
    gameUserExists: async () => true,
  });

const first = await start();
await first.links.set("100001", "1");
await first.close();

const second = await start();
console.log((await second.links.get("100001"))?.gameId);
await second.close();
