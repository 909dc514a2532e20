/** Refusals of the platforms are charged to the account that causes them. */
import { expect, test } from "vitest";
import { guild, stranger } from "../support/fixtures.ts";
import { expectForbidden, expectRefusal, useContractServer } from "./contract_server.ts";

const { fixtures, send } = useContractServer({ ACCOUNTLINK_IP_PER_SECOND: "0" });

const tooHigh = Array.from({ length: 50 }, (_, index) => String(1_001 + index));
const plan = {
  account: "noisy",
  guildId: guild,
  rules: tooHigh.map((roleId) => ({ roleId, when: { is: "unlinked" } as const })),
  nickname: null,
  state: "on" as const,
};
const noisy = fixtures.key({ account: "noisy", guildId: guild });
const noisyGlobal = fixtures.key({ account: "noisy", links: { 100001: "1" } });
const curious = fixtures.key({ account: "curious", tier: "premium" });
const quiet = fixtures.key({ guildId: guild, links: { 100001: "1" } });
fixtures.plan(plan);
const [first] = fixtures.fixture.platform?.guilds ?? [];
Object.assign(first ?? {}, {
  roles: [
    ...tooHigh.map((id) => ({ id, name: id, assignable: false })),
    { id: "1", name: "Member", assignable: true },
  ],
});

test("an account whose requests are refused 200 times waits, and other accounts do not", async () => {
  const sync = (chatId: number) =>
    send("POST /v2/members/sync", { key: noisy, body: { chatId: String(chatId), guildId: guild } });
  let refused = await sync(100_020);
  for (let asked = 0; asked < 10 && refused.status === 200; asked++) refused = await sync(100_021 + asked);
  expectRefusal(refused, 429, "RATE_LIMITED", { bucket: "platform_refusals" });
  const wait = Number(refused.headers["retry-after"]);
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(600);
  expect(refused.body.meta?.rateLimit).toMatchObject({ limit: 200, retryAfter: wait, scope: "api_key" });

  const lookup = (key: string, chatId: string) =>
    send(`GET /v2/chat?chatId=${chatId}&guildId=${guild}`, { key });
  expectRefusal(await lookup(noisyGlobal, "100002"), 429, "RATE_LIMITED", { bucket: "platform_refusals" });
  expect((await send("GET /v2/chat?chatId=100001", { key: noisyGlobal })).status).toBe(200);
  expect((await lookup(quiet, "100001")).status).toBe(200);
  expectForbidden(await lookup(quiet, stranger), "user_not_in_guild");
});

test("profiles that a Premium key gets without asking for them are charged to its account", async () => {
  const unknown = Array.from({ length: 200 }, (_, index) => 404_001 + index);
  const seek = (gameId: number) => send(`GET /api/v1/public/game-to-chat?gameId=${gameId}`, { key: curious });
  for (const { body } of await Promise.all(unknown.map(seek))) expect(body.resolved).toBeNull();
  const refused = await send(`GET /v2/chat?chatId=100003&guildId=${guild}`, { key: curious });
  expectRefusal(refused, 429, "RATE_LIMITED", { bucket: "platform_refusals" });
});
