/** A thousand linked users join a guild within a minute, and a thousand more while the node that receives joins dies. */

import { testLive } from "@accountlink/test-servers/effect";
import { Effect, Fiber } from "effect";
import { expect, vi } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { feelPulse, longestPulse } from "./pulse.ts";
import { type Node, startService, whyNoService } from "./service.ts";
import { startSharedPlatform } from "./shared_platform.ts";

const missing = await whyNoService();

const guildId = "700000000000000009";
const roleId = "1";
const perMinute = 1_000;
const users = Array.from({ length: 2 * perMinute }, (_, index) => String(200_001 + index));

/** The longest time from a join to the role: usually, and while a node dies. */
const [longest, longestTakeover] = [10_000, 20_000];

testLive.skipIf(missing !== null)(`linked users who join get roles in time ${missing ?? ""}`, function* () {
  const { fixture: usual, key } = makeFixtures();
  key({ account: "acme", links: Object.fromEntries(users.map((chatId) => [chatId, "1"])) });
  const guild = { id: guildId, roles: [{ id: roleId, name: "Verified" }] };
  const rules = [{ roleId, when: { is: "linked" } as const }];
  const plan = { account: "acme", scope: "global" as const, guildId, rules, state: "on" as const };
  const fixture = { ...usual, plans: [plan], platform: { ...usual.platform, guilds: [guild] } };
  const platform = yield* startSharedPlatform(fixture);
  const env = { ...platform.env, ACCOUNTLINK_CHAT_GATEWAY: "on" };
  const { nodes } = yield* startService({ fixture, env });
  // The first node receives the joins and runs the role plan, since it started before the other nodes.
  const [holder, ...others] = nodes as [Node, ...ReadonlyArray<Node>];
  const pulse = yield* feelPulse(others);
  yield* Effect.promise(() =>
    vi.waitFor(async () => expect(await platform.requests()).toBeGreaterThan(0), { timeout: 10_000 }),
  );

  const joinedAt = new Map<string, number>();
  const waits = new Map<string, number>();
  const look = Effect.promise(async () => {
    const pages = [await platform.members(guildId), await platform.members(guildId, users[perMinute - 1])];
    for (const { chatId, roles } of pages.flat()) {
      const at = joinedAt.get(chatId);
      if (at === undefined || waits.has(chatId) || roles.length === 0) continue;
      waits.set(chatId, performance.now() - at);
    }
  });
  yield* Effect.forkScoped(Effect.forever(Effect.delay(look, "100 millis")));

  /** Lets users join for a minute. Returns the longest wait for the role, in milliseconds. */
  const joinAll = Effect.fnUntraced(function* (chatIds: ReadonlyArray<string>) {
    for (const chatId of chatIds) {
      joinedAt.set(chatId, performance.now());
      yield* Effect.promise(() => platform.join(guildId, chatId));
      yield* Effect.sleep(60_000 / perMinute);
    }
    const areRight = () => expect(chatIds.filter((chatId) => !waits.has(chatId))).toEqual([]);
    yield* Effect.promise(() => vi.waitFor(areRight, { timeout: 60_000 }));
    return Math.max(...chatIds.map((chatId) => waits.get(chatId) ?? Infinity));
  });

  const usually = yield* joinAll(users.slice(0, perMinute));
  const killed = performance.now();
  const dying = yield* Effect.forkScoped(Effect.delay(holder.kill, "20 seconds"));
  const whileDying = yield* joinAll(users.slice(perMinute));
  yield* Fiber.join(dying);

  console.log({ joins: users.length, usually, whileDying });
  expect(usually).toBeLessThan(longest + longestPulse(pulse, 0, killed));
  expect(whileDying).toBeLessThan(longestTakeover + longestPulse(pulse, killed, Infinity));
});
