/** Tests what writes change in links, and which entries they add to the audit log. */
import { AuditLog } from "@accountlink/core";
import { Effect } from "effect";
import { describe, expect, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import { type Json, textOf } from "../support/http.ts";
import { whyHidden } from "../support/storage.ts";
import {
  expectConflict,
  expectData,
  expectInvalid,
  expectMissing,
  expectRefusal,
  expectV1Refusal,
  useContractServer,
} from "./contract_server.ts";

const { fixtures, send, storage } = useContractServer({}, { usual: "postgres" });

const inScope = (key: string, guildId?: string) => {
  const named = guildId === undefined ? {} : { guildId };
  const patchGame = (chatId: string, gameId: string) =>
    send("PATCH /v2/game", { key, body: { chatId, gameId, ...named } });
  return {
    patchGame,
    deleteGame: (chatId: string) => send("DELETE /v2/game", { key, body: { chatId, ...named } }),
    patchChat: (oldChatId: string, newChatId: string) =>
      send("PATCH /v2/chat", { key, body: { oldChatId, newChatId, ...named } }),
    deleteData: () => send("DELETE /v2/data", { key, body: { confirm: true, ...named } }),
    gameOf: async (chatId: string) => {
      const query = guildId === undefined ? "" : `&guildId=${guildId}`;
      const { status, body } = await send(`GET /v2/chat?chatId=${chatId}${query}`, { key });
      return status === 404 ? null : body.data?.gameId;
    },
    verification: async (chatId: string): Promise<Json> => {
      const { status, body } = await send(`GET /v2/verifications/chat?chatId=${chatId}`, { key });
      if (status !== 200) throw new Error(`Cannot read the status of ${chatId}: ${status}`);
      return body.data ?? {};
    },
  };
};

const notLinked = (chatId: string) => ({
  linked: false,
  chatId,
  gameId: null,
  linkVersion: null,
  linkHash: null,
  lastVerifiedAt: null,
  resolved: { game: null, chat: null },
});

const scope = inScope(fixtures.key());

test("each change of a link is answered with the previous game user, increases linkVersion and changes linkHash", async () => {
  const chatId = "100001";
  expect(await scope.verification(chatId)).toEqual(notLinked(chatId));
  const seen: Array<Json> = [];
  const change = async (write: () => Promise<unknown>) => {
    await write();
    seen.push(await scope.verification(chatId));
  };
  const set = (gameId: string, previousGameId: string | null, updated = true) =>
    change(async () =>
      expectData(await scope.patchGame(chatId, gameId), { chatId, gameId, previousGameId, updated }),
    );
  await set("1", null);
  await set("1", "1", false);
  await set("2", "1");
  await change(() => scope.deleteGame(chatId));
  await set("1", null);

  const versions = seen.map(({ linkVersion }) => linkVersion);
  expect(versions).toEqual([1, 1, 2, null, 4]);
  expect(seen[3]).toEqual(notLinked(chatId));
  const hashes = seen.toSpliced(3, 1).map(({ linkHash }) => textOf(linkHash));
  for (const hash of hashes) expect(hash).toMatch(/^[\w-]{22,}$/);
  expect(hashes[0]).toBe(hashes[1]);
  expect(new Set(hashes).size).toBe(3);
});

const linked = inScope(fixtures.key({ links: { 100001: "1", 100002: "2" } }));

test("PATCH /v2/chat keeps the link if both chat IDs are equal, and refuses an old user without a link or a new user with one", async () => {
  expectData(await linked.patchChat("100002", "100002"), {
    previousChatId: "100002",
    chatId: "100002",
    gameId: "2",
    updated: false,
  });
  expectRefusal(await linked.patchChat("100009", "100009"), 404, "LINK_NOT_FOUND", null);
  expectConflict(await linked.patchChat("100002", "100001"), "chat_already_linked");
  expect([await linked.gameOf("100002"), await linked.gameOf("100001")]).toEqual(["2", "1"]);
});

const links = { 100001: "1", 100002: "2", 100003: "3" };
const pid: unknown = expect.stringMatching(/^pid_[0-9a-z]{16,}$/);
const global = inScope(fixtures.key({ account: "deleter", links }));
const inGuild = inScope(fixtures.key({ account: "deleter", guildId: guild, links }), guild);

const guildKey = fixtures.key({ guildId: guild });
test("DELETE /v2/data reads the guild of a guild key from the body, and ignores the query", async () => {
  const line = `DELETE /v2/data?guildId=${guild}`;
  expectMissing(await send(line, { key: guildKey, body: { confirm: true } }), "guildId");
  expect((await send(line, { key: guildKey, body: { confirm: true, guildId: guild } })).status).toBe(200);
});

test("DELETE /v2/data deletes all records of its own scope, including records of removed links", async () => {
  await global.deleteGame("100003");
  const deleted = await global.deleteData();
  expectData(deleted, { deletedRecords: 3, scope: "global", pid, collection: "links" });
  const again = await global.deleteData();
  expectData(again, { deletedRecords: 0, scope: "global", pid, collection: "links" });
  expect(again.body.data?.pid).toBe(deleted.body.data?.pid);
  expect(await global.gameOf("100001")).toBeNull();
  expect(await inGuild.gameOf("100001")).toBe("1");

  const other = await inGuild.deleteData();
  expectData(other, { deletedRecords: 3, scope: "guild", pid, collection: "links" });
  expect(other.body.data?.pid).not.toBe(deleted.body.data?.pid);
});

const kept = fixtures.key({ links: { 100001: "1" } });
const queries = ["guildId", "guildId=", `guildId=${guild}`, "guildId=&guildId="];
const stays = async () => expect((await send("GET /v2/chat?chatId=100001", { key: kept })).status).toBe(200);

test.each([
  ...[guild, "", null, 7, [], [guild], {}].map((guildId) => ["", { guildId }] as const),
  ...queries.map((query) => [`?${query}`, {}] as const),
])("deleting a global scope refuses a guild in the query or the body: %j %j", async (query, more) => {
  const body = { confirm: true, ...more };
  expectInvalid(await send(`DELETE /v2/data${query}`, { key: kept, body }), "guildId");
  await stays();
});

const reset = "DELETE /api/v1/database/reset" as const;
const disposition = 'content-disposition: form-data; name="guildId"';

test.each([
  ["application/json", { guildId: guild }],
  ["application/json", { guildId: null }],
  ["text/plain", { guildId: "" }],
  ["application/x-www-form-urlencoded", `guildId=${guild}`],
  ["application/json", `[{"guildId":"${guild}"}]`],
  ["application/json", `{"guildId":"${guild}",}`],
  ["multipart/form-data; boundary=x", `--x\r\n${disposition}\r\n\r\n${guild}`],
  ...queries.map((query) => ["text/plain", "", query] as const),
] as const)("v1 refuses to delete a global scope with %s %j %s", async (type, body, query = "") => {
  const answer = await send(`${reset}?${query}`, { key: kept, body, headers: { "content-type": type } });
  expectV1Refusal(answer, 400, "Invalid parameter: guildId");
  await stays();
});

test("v1 refuses to delete a global scope if the body of the request is too large", async () => {
  expectV1Refusal(await send(reset, { key: kept, body: "x".repeat(70_000) }), 413, "Invalid request body");
  await stays();
});

const empty = fixtures.key();

test.each(["", "guild", '["guild"]'])("v1 ignores other bodies when deleting a scope: %j", async (body) => {
  const answer = await send(reset, { key: empty, body });
  expect(answer.body).toMatchObject({ status: 200, data: { deletedRecords: 0 } });
});

describe.skipIf(whyHidden !== null)(`the audit log ${whyHidden ?? ""}`, () => {
  const key = fixtures.key({ account: "audited", links: { 100009: "9" } });
  const ofGuild = fixtures.key({ account: "audited", guildId: guild });

  test("the audit log has every successful write with its key and request ID", async () => {
    const requests = [
      ["link.set", "PATCH /v2/game", key, { chatId: "100001", gameId: "1" }],
      ["link.moved", "PATCH /v2/chat", key, { oldChatId: "100001", newChatId: "100002" }],
      ["link.removed", "DELETE /v2/game", key, { chatId: "100002" }],
      [
        "link.set",
        `PUT /api/v1/link/update-game?chatId=100001&newGameId=2&guildId=${guild}`,
        ofGuild,
        undefined,
      ],
      [
        "link.moved",
        `PUT /api/v1/link/update-chat?oldChatId=100001&newChatId=100002&guildId=${guild}`,
        ofGuild,
        undefined,
      ],
      ["link.removed", `DELETE /api/v1/link/delete-game?chatId=100002&guildId=${guild}`, ofGuild, undefined],
      ["scope.deleted", "DELETE /api/v1/database/reset", ofGuild, undefined],
      ["scope.deleted", "DELETE /v2/data", key, { confirm: true }],
      ["key.reported", "POST /v2/keys/leaked", undefined, { key }],
    ] as const;
    const written: Array<object> = [];
    for (const [action, line, used, body] of requests) {
      const answer = await send(line, {
        ...(used === undefined ? {} : { key: used }),
        ...(body === undefined ? {} : { body }),
      });
      const id = (used ?? key).slice(4, 16);
      written.push({
        action,
        actor: { type: "key", id },
        requestId: answer.headers["x-request-id"],
        account: "audited",
      });
    }
    expect(
      (await send("DELETE /v2/game", { key: ofGuild, body: { chatId: "100002", guildId: guild } })).status,
    ).toBe(404);

    const { entries } = await AuditLog.pipe(
      Effect.flatMap((log) => log.list("audited", null, 100)),
      Effect.provide(storage().auditLog),
      Effect.runPromise,
    );
    const overHttp = entries.filter(({ requestId }) => requestId !== null).toReversed();
    expect(overHttp).toMatchObject(written);
    expect(overHttp).toHaveLength(written.length);
    expect(JSON.stringify(entries)).not.toContain(key.slice(17));
  });
});
