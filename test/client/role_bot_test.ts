/** The role bot in `examples`, with the service and a simulated gateway of Discord. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "@effect/platform-node/NodeWS";
import { afterAll, beforeAll, expect, it } from "vitest";
import { useContractServer } from "../contract/contract_server.ts";
import { guild } from "../support/fixtures.ts";
import { startExample } from "./program.ts";

const { fixtures, send, url } = useContractServer();
const key = fixtures.key({ account: "club", guildId: guild, tier: "premium", links: { 100001: "1" } });
const rules = [{ roleId: "1", when: { is: "unlinked" } }] as const;
fixtures.plan({ account: "club", guildId: guild, rules, nickname: null, state: "on" });

const gateway = new WebSocketServer({ port: 0, host: "127.0.0.1" });
beforeAll(() => (gateway.address() === null ? once(gateway, "listening") : undefined));
afterAll(() => gateway.close());

it("the role bot gives and takes the roles of a member who joins", async () => {
  gateway.on("connection", (socket) => {
    socket.send(JSON.stringify({ op: 10, d: { heartbeat_interval: 40_000 } }));
    socket.on("message", (data: Buffer) => {
      const { op, d } = JSON.parse(data.toString());
      if (op !== 2 || d.token !== "token") return;
      const joined = { user: { id: "100001" }, guild_id: guild };
      socket.send(JSON.stringify({ op: 0, s: 1, t: "GUILD_MEMBER_ADD", d: joined }));
    });
  });
  const bot = startExample("Node", "role_bot.ts", {
    ACCOUNTLINK_URL: url(),
    ACCOUNTLINK_KEY: key,
    DISCORD_TOKEN: "token",
    GATEWAY: `ws://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
  });
  await bot.untilPrinted(/(100001 gets)/);
  const { body } = await send(`GET /v2/chat?chatId=100001&guildId=${guild}&resolved=true`, { key });
  expect(body).toMatchObject({ data: { resolved: { chat: { guild: { roles: [] } } } } });
  await bot.stop();
});
