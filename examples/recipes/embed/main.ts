/** Links in a process of your own, in a data folder, with promises. */
import { createAccountLink, InvalidParameter } from "accountlink";
import { sqlite } from "accountlink/sqlite";

const al = await createAccountLink({
  secret: crypto.getRandomValues(new Uint8Array(32)), // Made once, and kept apart from the data.
  storage: sqlite("links"),
  gameUserExists: async (gameId) => gameId !== "404", // Ask your game.
});

const told = Promise.withResolvers<void>();
await al.on("linkChanged", ({ chatId, gameId, previousGameId }) => {
  console.log(`${chatId} was ${previousGameId}, is ${gameId}`);
  told.resolve();
});

await al.links.set("100001", "1", { actor: "Grace" });
await told.promise;
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
