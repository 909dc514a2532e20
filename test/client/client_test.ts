/** Tests the methods of the client against the service. */
import { createClient } from "@accountlink/client";
import { expect, it } from "vitest";
import { useContractServer } from "../contract/contract_server.ts";
import { eventually } from "../support/eventually.ts";
import { guild, type KeyOptions, newToken } from "../support/fixtures.ts";

const { fixtures, url } = useContractServer({
  ACCOUNTLINK_SESSION_TTL: "5 seconds",
  ACCOUNTLINK_POLL_INTERVAL: "0 seconds",
  ACCOUNTLINK_STREAM_MAX: "1 second",
});

/** Returns a function that creates a client with a new key, to be called after the server has started. */
const clientOf = (options: KeyOptions = {}) => {
  const key = fixtures.key({ links: { 100001: "1", 100002: "2" }, tier: "premium", ...options });
  return () => createClient({ url: url(), key });
};

const used = clientOf({
  sightings: [{ chatId: "100001", ip: "203.0.113.7", seenAt: new Date().toISOString() }],
});
const deleting = clientOf();

it("client methods look up links by chat user and by game user", async () => {
  const { links } = used();
  const game = { username: "player_1", id: "1" };
  const found = { chatId: "100001", gameId: "1", resolved: { game, chat: { username: "user_1" } } };
  expect(await links.get("100001", { guildId: guild, resolved: true })).toMatchObject(found);
  expect(await links.get("100009")).toBeNull();
  expect(await links.byGame("2")).toMatchObject({ chatIds: ["100002"], count: 1 });
  expect(await links.byGame("9")).toBeNull();
  expect(await links.verification("100009")).toMatchObject({ linked: false, gameId: null });
  const many = await links.getMany(["100001", "12", "100009"], { resolved: true });
  expect(many).toMatchObject({
    results: [
      { data: found },
      { found: false, error: { code: "INVALID_PARAMETER", status: 400 } },
      { found: false, error: { code: "LINK_NOT_FOUND" } },
    ],
    foundCount: 1,
  });
  expect(await links.byGameMany(["1", "1"])).toMatchObject({ count: 2, foundCount: 2 });
});

it("client methods write links", async () => {
  const { links } = used();
  expect(await links.set("100003", "3", { guildId: guild })).toMatchObject({ updated: true });
  expect(await links.move("100003", "100004")).toMatchObject({ previousChatId: "100003", gameId: "3" });
  expect(await links.delete("100004")).toMatchObject({ removedGameId: "3", deleted: true });
  expect(await deleting().links.deleteAll({ confirm: true })).toMatchObject({ deletedRecords: 2 });
});

it("client methods find alts, and save, list and delete reviews", async () => {
  const { alts } = used();
  const found = await alts.find({ ip: "203.0.113.7", explain: true });
  expect(found).toMatchObject({ matches: [{ chatId: "100001", evidence: [{ kind: "address" }] }] });
  expect(await alts.findMany(["1", "2"])).toMatchObject({ foundCount: 2 });
  const review = { chatId: "100001", otherChatId: "100002", verdict: "same", note: "Said so" };
  expect(await alts.review("100001", "100002", "same", { note: "Said so" })).toMatchObject(review);
  expect(await alts.reviews("100001")).toMatchObject([review]);
  expect(await alts.deleteReview("100001", "100002")).toMatchObject({ deleted: true });
});

const synced = clientOf({ account: "roles", guildId: guild });
const rules = (["linked", "unlinked"] as const).map((is) => ({ roleId: "1", when: { is } }));
fixtures.plan({ account: "roles", guildId: guild, rules });

it("client methods sync members and report leaked keys", async () => {
  const unchanged = { chatId: "100001", added: [], removed: [], nickname: null };
  expect(await synced().members.sync("100001", guild)).toEqual(unchanged);
  expect(await used().keys.reportLeaked(newToken())).toEqual({ revoked: true });
});

it("client methods create, read, watch and cancel sessions", async () => {
  const { sessions } = used();
  const { sid, state } = await sessions.create({ clientId: "7", chatId: "100001", guildId: undefined });
  expect(state).toBe("pending");
  expect(await sessions.get(sid)).toMatchObject({ sid, clientId: "7", chatId: "100001" });
  expect(await sessions.get(`vs_${"0".repeat(43)}`)).toBeNull();
  const redirect = await fetch(sessions.redirectUrl(sid), { redirect: "manual" });
  expect([redirect.status, redirect.headers.get("location")]).toEqual([302, `${url()}/verify?sid=${sid}`]);
  const watching = sessions.watch(sid);
  expect((await watching.next()).value).toMatchObject({ state: "pending" });
  expect(await sessions.cancel(sid)).toMatchObject({ state: "cancelled" });
  expect((await watching.next()).value).toMatchObject({ state: "cancelled" });
  expect(await watching.next()).toEqual({ done: true, value: undefined });
  expect(await sessions.wait(sid)).toMatchObject({ state: "cancelled" });
});

it("client methods list links and follow events", async () => {
  const { links, events } = used();
  const listed: Array<string> = [];
  const all = links();
  let next = await all.next();
  for (; next.done !== true; next = await all.next()) listed.push(next.value.chatId);
  expect(listed).toEqual((await links.list()).links.map(({ chatId }) => chatId));
  await links.set("100008", "1");
  await links.set("100008", "2");
  const seen: Array<unknown> = [];
  let cursor = next.value;
  for await (const event of events({ cursor, types: ["link.set"], chatId: "100008" })) {
    ({ cursor } = event);
    if (seen.push(event.type) === 2) break;
  }
  expect(seen).toEqual(["link.set", "link.set"]);
  expect((await events.read({ cursor })).events).toEqual([]);
  const following = events();
  const first = following.next();
  await eventually(async () => {
    await links.set("100008", "3");
    await links.set("100008", "4");
    expect(await Promise.race([first, Promise.resolve(null)])).not.toBeNull();
  });
  expect((await first).value).toMatchObject({ type: "link.set", data: { chatId: "100008" } });
  await following.return();
});
