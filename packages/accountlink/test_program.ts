/** Tests start this program, and check that it exits after it closes the service. */
import { createAccountLink, type Storage } from "./mod.ts";
import { postgres } from "./postgres.ts";
import { sqlite } from "./sqlite.ts";

const [where = "", redis] = process.argv.slice(2);
const storage: Storage = where.startsWith("postgres:")
  ? postgres(where, redis === undefined ? {} : { redis })
  : sqlite(where);
const al = await createAccountLink({
  storage,
  secret: new Uint8Array(32).fill(7),
  gameUserExists: () => true,
  http: { publicUrl: "https://links.example", clientAddress: "none" },
});
await al.on("linkChanged", () => {});
await al.links.set("100001", "1");
const { sid } = await al.sessions.create({ clientId: "one" });
const waiting = al.sessions.wait(sid).then(
  ({ state }) => state,
  (error: { readonly code: string }) => error.code,
);
const answer = await al.fetch(new Request("https://links.example/v2/chat?chatId=100001"));
await answer.text();
await al.close();
process.stdout.write(`${await waiting}\n`);
