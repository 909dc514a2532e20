/** Load test: a role plan compares all members of a large guild while a client looks up links. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runInProcess } from "@accountlink/server/test_command_line";
import { expect, onTestFinished, test } from "vitest";
import { changed, makeFixtures } from "../support/fixtures.ts";
import { startServer } from "../support/server.ts";

const guildId = "700000000000000009";
const role = { id: "1", name: "Verified" };
const users = Array.from({ length: 50_000 }, (_, index) => String(200_001 + index));
/** Members whose role the test removes before the measured sweep. */
const differing = users.filter((_, index) => index % 100 === 0);

/** Milliseconds. */
const longestSweep = 120_000;

interface Requests {
  readonly routes: Readonly<Record<string, number>>;
  readonly changes: Readonly<Record<string, number>>;
}

test("a sweep of 50,000 members takes two minutes at most, and changes only members with wrong roles", async () => {
  const { fixture, key: makeKey } = makeFixtures();
  const key = makeKey({ account: "acme", links: Object.fromEntries(users.map((chatId) => [chatId, "1"])) });
  const rules = [{ roleId: role.id, when: { is: "linked" } }];
  const members = users.map((chatId) => ({ chatId, roles: [role] }));
  const server = await startServer({
    fixture: changed(fixture, {
      plans: [{ account: "acme", scope: "global", guildId, rules }],
      platform: { guilds: [{ id: guildId, roles: [role], members }] },
    }),
  });
  const { platform } = server;
  onTestFinished(async () => void (await server.stop()));

  const requests = async () => (await platform.send("GET /requests")).body as unknown as Requests;
  /** Whether the list of members has been read so often. A sweep reads it to compare, and again if it finds differences. */
  const isRead = (times: number) => async () => {
    const { routes } = await requests();
    return (routes["GET /chat/api/guilds/:guildId/members"] ?? 0) >= times * (users.length / 1_000 + 1);
  };
  /** Looks up random users until `isOver` is true. Returns the 99th percentile of the latencies, in milliseconds. */
  const lookUpUntil = async (isOver: () => Promise<boolean>) => {
    const latencies: Array<number> = [];
    while (!(await isOver())) {
      for (let turn = 0; turn < 100; turn++) {
        const chatId = users[Math.floor(Math.random() * users.length)];
        const asked = performance.now();
        const { status } = await server.send(`GET /v2/chat?chatId=${chatId}`, { key });
        latencies.push(performance.now() - asked);
        expect(status).toBe(200);
        await sleep(2);
      }
    }
    return latencies.toSorted((one, other) => one - other)[Math.floor(latencies.length * 0.99)] ?? 0;
  };

  // Wait for the first sweep. It must change nothing, because all members are linked and already have the role.
  await lookUpUntil(isRead(1));
  expect((await requests()).changes).toEqual({});
  let rounds = 0;
  const alone = await lookUpUntil(async () => rounds++ > 50);

  for (const chatId of differing) {
    await platform.send(`PUT /control/guilds/${guildId}/members/${chatId}`, { body: {} });
  }
  await platform.send("DELETE /requests");
  const file = join(server.dataFolder, "links.csv");
  await writeFile(file, "discordId,robloxId\n999999,1\n");
  const words = ["links", "import", file, "--account", "acme"];
  expect(await runInProcess(words, server.storage.env)).toMatchObject({ code: 0 });
  const begun = performance.now();
  const beside = await lookUpUntil(isRead(2));
  const took = performance.now() - begun;
  const { changes } = await requests();
  console.log({ took, beside, alone, ratio: beside / alone });
  expect(changes).toEqual(
    Object.fromEntries(differing.map((chatId) => [`PUT ${chatId} roles/${role.id}`, 1])),
  );
  expect(took).toBeLessThan(longestSweep);
});
