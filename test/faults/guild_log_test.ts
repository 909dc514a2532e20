/** The log of a community on three nodes and one platform: the node that writes it dies while members link. */
import { testLive } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { link } from "./attempt.ts";
import { type Node, startService, whyNoService } from "./service.ts";
import { startSharedPlatform } from "./shared_platform.ts";

const missing = await whyNoService();

const guildId = "700000000000000009";
const users = Array.from({ length: 60 }, (_, index) => String(200_001 + index));

const started = Effect.gen(function* () {
  const { fixture: usual, key: makeKey } = makeFixtures();
  const key = makeKey({ account: "acme" });
  const guild = {
    id: guildId,
    channels: [{ id: "70", name: "log" }],
    members: users.map((chatId, index) => ({ chatId, manager: index === 0 })),
  };
  const plan = { account: "acme", scope: "global" as const, guildId, logChannelId: "70" };
  const fixture = {
    ...usual,
    // The log stops where nobody of the account's team manages the guild.
    accounts: [{ name: "acme", chatId: users[0] ?? "" }],
    plans: [plan],
    platform: { ...usual.platform, guilds: [guild] },
  };
  const platform = yield* startSharedPlatform(fixture);
  const { nodes } = yield* startService({ fixture, env: platform.env });
  return { nodes, platform, key };
});

/** Returns the users that the log names, in the order of their first line, and how many it only counts. */
const toldIn = (page: string) => {
  const named = [...page.matchAll(/<mark>@(\d+)<\/mark> was linked/g)].map(([, chatId = ""]) => chatId);
  const counts = [...page.matchAll(/And (\d+) more/g)].map(([, count]) => Number(count));
  return { named: [...new Set(named)], counted: counts.reduce((sum, one) => sum + one, 0) };
};

testLive.skipIf(missing !== null)(
  `the log tells every link despite a dead node ${missing ?? ""}`,
  function* () {
    const { nodes, platform, key } = yield* started;
    // The first node writes the log, since it started before the other nodes.
    const [holder, ...others] = nodes as [Node, ...ReadonlyArray<Node>];
    const linkAndPause = (chatId: string, node: Node) =>
      Effect.andThen(link(node, key, chatId), Effect.sleep("150 millis"));

    for (const chatId of users.slice(0, 20)) yield* linkAndPause(chatId, holder);
    yield* holder.kill;
    for (const [index, chatId] of users.slice(20).entries()) {
      yield* linkAndPause(chatId, others[index % others.length] as Node);
    }
    yield* Effect.promise(() =>
      eventually(
        async () => {
          const { named, counted } = toldIn(await platform.page(guildId));
          expect(named.length + counted).toBeGreaterThanOrEqual(users.length);
          expect(named).toEqual(named.toSorted());
        },
        { timeout: 60_000, interval: 500 },
      ),
    );
  },
);
