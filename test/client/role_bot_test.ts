/** The role bot in `examples`, with the service and a simulated Discord. */
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type HeardRequest,
  type HttpAnswer,
  type HttpTestServer,
  startHttpServer,
} from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { useContractServer } from "../contract/contract_server.ts";
import { guild } from "../support/fixtures.ts";
import { patience } from "../support/patience.ts";
import { type RunningProgram, startExample } from "./program.ts";

const { fixtures, send, url } = useContractServer({ ACCOUNTLINK_STREAM_MAX: "2 seconds" });
const key = fixtures.key({ guildId: guild, tier: "premium", links: { 100001: "1", 100002: "2" } });
const role = "880000000000000001";
const other = "880000000000000002";
/** Discord lets no bot rename the owner of a guild. */
const owner = "100007";

interface Member {
  readonly user: { readonly id: string };
  roles: ReadonlyArray<string>;
  nick: string | null;
}

/** A simulated Discord with 1,200 members on two pages, which refuses each member's first change with 429. */
const members = new Map<string, Member>(
  Array.from({ length: 1_200 }, (_, i) => {
    const id = String(100_001 + i);
    return [id, { user: { id }, roles: id === "100003" ? [role, other] : [other], nick: null }];
  }),
);
const refused = new Set<string>();

const discordAnswer = ({ method, path, query, headers, body }: HeardRequest): HttpAnswer => {
  if (headers.authorization !== "Bot token") return { status: 401 };
  const [, id = "", roleId] =
    new RegExp(`^/guilds/${guild}/members(?:/(\\d+))?(?:/roles/(\\d+))?$`).exec(path) ?? [];
  if (method === "GET") {
    const after = query.get("after") ?? "0";
    const sorted = [...members.values()].toSorted((one, two) => Number(one.user.id) - Number(two.user.id));
    return {
      body: sorted.filter(({ user }) => Number(user.id) > Number(after)).slice(0, Number(query.get("limit"))),
    };
  }
  const member = members.get(id);
  if (member === undefined) return { status: 404, body: { code: 10_007 } };
  if (!refused.has(id)) {
    refused.add(id);
    return { status: 429, headers: { "retry-after": "0.2" }, body: { retry_after: 0.2 } };
  }
  if (method === "PATCH") {
    if (id === owner) return { status: 403, body: { code: 50_013 } };
    member.nick = (JSON.parse(body) as { nick: string | null }).nick;
    return { body: member };
  }
  const others = member.roles.filter((held) => held !== roleId);
  member.roles = method === "PUT" ? [...others, String(roleId)] : others;
  return { status: 204 };
};

const scope = Scope.makeUnsafe();
let discord: HttpTestServer;
const programs: Array<RunningProgram> = [];
beforeAll(async () => {
  discord = await Effect.runPromise(Scope.provide(startHttpServer(discordAnswer), scope));
});
afterAll(async () => {
  await Promise.all(programs.map(({ stop }) => stop()));
  await Effect.runPromise(Scope.close(scope, Exit.void));
});

const cursorFile = join(tmpdir(), `role-bot-${randomUUID()}`);
const start = () => {
  const program = startExample("Node", "role_bot.ts", {
    ACCOUNTLINK_URL: url(),
    ACCOUNTLINK_KEY: key,
    DISCORD_URL: discord.url,
    DISCORD_TOKEN: "token",
    GUILD_ID: guild,
    ROLE_ID: role,
    CURSOR_FILE: cursorFile,
  });
  programs.push(program);
  return program;
};

const seen = (id: string) => {
  const { roles = [], nick = null } = members.get(id) ?? {};
  return { hasRole: roles.includes(role), nick };
};
const expectSeen = (id: string, expected: { hasRole: boolean; nick: string | null }) =>
  vi.waitFor(() => expect(seen(id)).toEqual(expected), patience);
const write = async (line: `${string} ${string}`, body: object) =>
  expect((await send(line, { key, body: { ...body, guildId: guild } })).status).toBe(200);

describe("the role bot", () => {
  it("sets roles and nicknames of all members after listing the links", async () => {
    await start().untilPrinted(/^(2 links, all roles are right)$/m);
    expect(["100001", "100002", "100003", "100004"].map(seen)).toEqual([
      { hasRole: true, nick: "player_1" },
      { hasRole: true, nick: "player_2" },
      { hasRole: false, nick: null },
      { hasRole: false, nick: null },
    ]);
    expect(members.get("100001")?.roles).toContain(other);
  });

  it("follows changes of links", async () => {
    await write("PATCH /v2/game", { chatId: "100004", gameId: "4" });
    await expectSeen("100004", { hasRole: true, nick: "player_4" });
    await write("PATCH /v2/game", { chatId: "100004", gameId: "5" });
    await expectSeen("100004", { hasRole: true, nick: "player_5" });
    await write("PATCH /v2/chat", { oldChatId: "100004", newChatId: "100005" });
    await expectSeen("100005", { hasRole: true, nick: "player_5" });
    await expectSeen("100004", { hasRole: false, nick: null });
    await write("DELETE /v2/game", { chatId: "100005" });
    await expectSeen("100005", { hasRole: false, nick: null });
  });

  it("gives the role to members that it may not rename", async () => {
    await write("PATCH /v2/game", { chatId: owner, gameId: "7" });
    await expectSeen(owner, { hasRole: true, nick: null });
    await write("DELETE /v2/game", { chatId: owner });
    await expectSeen(owner, { hasRole: false, nick: null });
  });

  it("applies missed changes after a restart", async () => {
    await programs[0]?.stop();
    await write("DELETE /v2/game", { chatId: "100001" });
    await write("PATCH /v2/game", { chatId: "100006", gameId: "6" });
    const again = start();
    await expectSeen("100001", { hasRole: false, nick: null });
    await expectSeen("100006", { hasRole: true, nick: "player_6" });
    expect(again.output()).not.toContain("all roles are right");
  });

  it("lists the links again after a deletion of all data", async () => {
    await write("DELETE /v2/data", { confirm: true });
    await expectSeen("100002", { hasRole: false, nick: null });
    await expectSeen("100006", { hasRole: false, nick: null });
  });
});
