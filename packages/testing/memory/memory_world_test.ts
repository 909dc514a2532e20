import { ApiKeys, AuditLog, ChatId, GameId, LinkLookup } from "@accountlink/core";
import { Effect } from "effect";
import { afterEach, expect, it } from "vitest";
import { aFixture } from "../builders/complete_fixture.ts";
import { memoryWorld, type World } from "./memory_world.ts";

const worlds: Array<World> = [];
const start = async (...fixture: Parameters<typeof memoryWorld>): Promise<World> => {
  const world = await memoryWorld(...fixture);
  worlds.push(world);
  return world;
};

afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});

const account = { name: "acme", chatId: null, tier: "premium" } as const;

const verification = Effect.gen(function* () {
  const scope = yield* (yield* ApiKeys).scopeOf(account, { kind: "global" });
  return yield* (yield* LinkLookup).verification(scope, ChatId.make("100001"), { resolved: true });
});

it("a memory world starts with its fixture at time 0, separate from other worlds", async () => {
  const fixture = aFixture({ links: [{ chatId: "100001", gameId: "1" }] });
  const [world, empty] = [await start(fixture), await start()];
  expect(await world.run(verification)).toMatchObject({
    linked: true,
    gameId: GameId.make("1"),
    lastVerifiedAt: 0,
    resolved: { game: { username: "game_1" } },
  });
  expect(await empty.run(verification)).toMatchObject({ linked: false });
  expect(await empty.run(AuditLog.use((log) => log.list("acme", null, 1)))).toMatchObject({ entries: [] });
});

it("a memory world expires a session when the test clock passes its deadline", async () => {
  const world = await start();
  const { sid } = await world.sessions.create({ clientId: "7" });
  const ended = world.sessions.wait(sid);
  await world.adjust("5 minutes");
  expect((await ended).state).toBe("expired");
});
