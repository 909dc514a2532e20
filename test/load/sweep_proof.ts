/** The sweep of a large guild, while clients look up links. */
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "@accountlink/test-servers";
import { expect, onTestFinished, test } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { makeClient } from "../support/http.ts";
import { startServer } from "../support/server.ts";

const guildId = "700000000000000009";
const roleId = "1";
const members = 50_000;
const differences = 500;

/** Milliseconds. */
const longestSweep = 120_000;

const users = Array.from({ length: members }, (_, index) => String(200_001 + index));

/** Every hundredth member lacks the role. */
const guild = {
  id: guildId,
  roles: [{ id: roleId, name: "Verified" }],
  members: users.map((chatId, index) => ({
    chatId,
    roles: index % (members / differences) === 0 ? [] : [{ id: roleId, name: "Verified" }],
  })),
};

test("a sweep of 50,000 members takes two minutes at most, and changes only members who differ", async () => {
  const { fixture: usual, key: makeKey } = makeFixtures();
  const key = makeKey({ account: "acme", links: Object.fromEntries(users.map((chatId) => [chatId, "1"])) });
  const rules = [{ roleId, when: { is: "linked" } }];
  const port = await freePort();
  const server = await startServer({
    fixture: {
      ...usual,
      plans: [{ account: "acme", scope: "global", guildId, rules }],
      platform: { ...usual.platform, guilds: [guild] },
    },
    env: { ACCOUNTLINK_DEV_PLATFORM_PORT: String(port) },
  });
  const platform = makeClient(`http://127.0.0.1:${port}`);
  onTestFinished(async () => {
    platform.close();
    await server.stop();
  });
  const begun = performance.now();
  const requests = async () => (await platform.send("GET /requests")).body as unknown as Requests;
  /** The latencies of lookups until a condition holds, in milliseconds. */
  const lookUpUntil = async (isOver: () => Promise<boolean>) => {
    const latencies: Array<number> = [];
    while (!(await isOver())) {
      for (let turn = 0; turn < 100; turn++) {
        const chatId = users[Math.floor(Math.random() * members)];
        const asked = performance.now();
        const { status } = await server.send(`GET /v2/chat?chatId=${chatId}`, { key });
        latencies.push(performance.now() - asked);
        expect(status).toBe(200);
        await sleep(3);
      }
    }
    return latencies.toSorted((one, other) => one - other);
  };

  const lastPage = Math.ceil(members / 1_000) + 1;
  const beside = await lookUpUntil(
    async () => (await requests()).routes["GET /chat/api/guilds/:guildId/members"] === lastPage,
  );
  const took = performance.now() - begun;
  const { changes } = await requests();
  const alone = await lookUpUntil(async () => performance.now() - begun > 1.3 * took);
  const p99 = (latencies: ReadonlyArray<number>) => latencies[Math.floor(latencies.length * 0.99)] ?? 0;
  const ratio = p99(beside) / p99(alone);
  console.log({ took, lookups: beside.length, beside: p99(beside), alone: p99(alone), ratio });
  expect(Object.values(changes)).toEqual(Array.from({ length: differences }, () => 1));
  expect(took).toBeLessThan(longestSweep);
});

interface Requests {
  readonly routes: Readonly<Record<string, number>>;
  readonly changes: Readonly<Record<string, number>>;
}
