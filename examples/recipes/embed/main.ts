/** Embeds accountlink in your own process, with promises, and stores the links in a data folder. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAccountLink, InvalidParameter } from "accountlink";
import { sqlite } from "accountlink/sqlite";

const al = await createAccountLink({
  secret: crypto.getRandomValues(new Uint8Array(32)), // Make it once and keep it: the data opens only with this secret.
  storage: sqlite(await mkdtemp(join(tmpdir(), "links-"))), // Your program keeps its folder.
  gameUserExists: async (gameId) => gameId !== "404", // Ask your game.
});

let hear = (_change: string) => {};
const heard = new Promise<string>((resolve) => (hear = resolve));
await al.on("linkChanged", ({ chatId, gameId, previousGameId }) => {
  hear(`${chatId} was ${previousGameId}, is ${gameId}`);
});

await al.links.set("100001", "1", { actor: "Grace" });
console.log(await heard);
console.log((await al.links.get("100001"))?.gameId);

try {
  await al.links.get("abc");
} catch (error) {
  if (!(error instanceof InvalidParameter)) throw error;
  const [problem] = error.details.parameters;
  console.log(`${error.code} ${problem?.name} ${problem?.reason}`);
}

for await (const { action, actor } of al.audit.entries()) console.log(`${action} by ${actor.id}`);
await al.close();
