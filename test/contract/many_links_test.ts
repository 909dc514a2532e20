/** A game user with more chat users than an answer has, on every route that answers them. */
import { expect, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import { useContractServer } from "./contract_server.ts";

const { fixtures, send } = useContractServer();

/** Newest link first. Of the members, the third is behind the newest hundred. */
const chatIds = Array.from({ length: 1_005 }, (_, index) => String(200_001 + index));
chatIds.splice(0, 1, "100001");
chatIds.splice(99, 2, "100002", "100003");
const members = ["100001", "100002"];
const at = (index: number) => new Date(Date.UTC(2026, 0, 1) - index * 1_000).toISOString();
const links = Object.fromEntries(chatIds.map((id, index) => [id, { gameId: "1", at: at(index) }]));
const key = fixtures.key({ tier: "premium", limits: { perWindow: 0, daily: 50 }, links });

const newest = chatIds.slice(0, 1_000);

test("the thousand newest are answered", async () => {
  const { body } = await send("GET /v2/game?gameId=1&resolved=true", { key });
  expect(body.data).toMatchObject({ chatIds: newest, count: 1_000 });
  expect(body.data?.resolved?.chat).toHaveLength(25);
  const v1 = await send("GET /api/v1/public/game-to-chat?gameId=1", { key });
  expect(v1.body.data).toEqual({ gameId: "1", chatIds: newest });
  const bulk = await send("POST /v2/game/bulk", { key, body: { gameIds: ["1"] } });
  expect(bulk.body.data).toMatchObject({ results: [{ data: { chatIds: newest, count: 1_000 } }] });
  const ask = (path: string, headers: Record<string, string>) =>
    send(`GET /compat/bloxlink${path}`, { headers });
  const v4 = await ask("/v4/public/roblox-to-discord/1", { authorization: key });
  expect(v4.body).toEqual({ discordIDs: newest, resolved: {} });
  const v3 = await ask("/developer/roblox/1", { "api-key": key });
  expect(v3.body).toEqual({ success: true, user: { discordIds: newest } });
});

test("with a guild, its members among the hundred newest are answered", async () => {
  const found = { chatIds: members, count: 2 };
  expect((await send(`GET /v2/game?gameId=1&guildId=${guild}`, { key })).body.data).toMatchObject(found);
  const v1 = await send(`GET /api/v1/public/game-to-chat?gameId=1&guildId=${guild}`, { key });
  expect(v1.body.data).toEqual({ gameId: "1", chatIds: members });
  const bulk = await send("POST /v2/game/bulk", { key, body: { gameIds: ["1"], guildId: guild } });
  expect(bulk.body.data).toMatchObject({ results: [{ data: found }] });

  const ask = async (path: string, authorization: string) =>
    (await send(`GET /compat/${path}`, { headers: { authorization } })).body;
  expect(await ask(`bloxlink/v4/public/guilds/${guild}/roblox-to-discord/1`, key)).toMatchObject({
    discordIDs: members,
  });
  expect(await ask(`rover/api/guilds/${guild}/roblox-to-discord/1`, `Bearer ${key}`)).toMatchObject({
    discordUsers: members.map((id) => ({ user: { id } })),
  });
  expect(await ask(`rowifi/v3/guilds/${guild}/members/roblox/1`, `Bot ${key}`)).toEqual(
    members.map((id) => ({ discord_id: id })),
  );
});
