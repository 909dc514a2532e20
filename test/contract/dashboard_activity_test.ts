/** Usage and audit log in the dashboard's JSON API. */
import { expect, test } from "vitest";
import { listOf, textOf } from "../support/http.ts";
import { dataOf, expectInvalid } from "./contract_server.ts";
import { createKey, type Owner, signInOwner } from "./dashboard.ts";
import { useSiteServer } from "./site_server.ts";

const server = useSiteServer({
  ACCOUNTLINK_FREE_KEYS: "0",
  ACCOUNTLINK_FREE_PER_WINDOW: "0",
  ACCOUNTLINK_FREE_DAILY: "5",
});

const groups = ["lookup", "bulk", "write", "alts", "session"];
const none = { served: 0, refused: 0, errors: 0 };

const read = async (owner: Owner, query = "") =>
  listOf(dataOf(await owner.send(`GET /dashboard/api/usage${query}`)).days);

test("usage lists every day, oldest first, with every route group", async () => {
  const owner = await signInOwner(server, "100001");
  for (const [query, count] of Object.entries({ "": 30, "?days=1": 1, "?days=90": 90 })) {
    const days = await read(owner, query);
    expect(days.length).toBe(count);
    const last = Date.parse(textOf(days.at(-1)?.day));
    expect(Date.now() - last).toBeLessThan(86_400_000 + 60_000);
    expect(days.map(({ day }) => Date.parse(textOf(day)))).toEqual(
      days.map((_, index) => last - (count - 1 - index) * 86_400_000),
    );
    for (const { groups: counted } of days) {
      expect(listOf(counted)).toEqual(groups.map((group) => ({ group, ...none })));
    }
  }
});

test("usage counts served, refused and failed requests of one or all keys", async () => {
  const owner = await signInOwner(server, "100002");
  const [one, other] = [await createKey(owner), await createKey(owner)];
  const ask = (path: string, key = one.token) => server.send(`GET ${path}`, { key, from: "198.18.251.1" });
  for (const path of ["/v2/chat?chatId=100001", "/v2/chat?chatId=100001", "/v2/chat"]) await ask(path);
  for (let count = 0; count < 3; count++) await ask("/v2/alts?chatId=100001");
  await ask("/v2/chat?chatId=100001", other.token);
  const today = async (query = "") => {
    const days = await read(owner, `?days=2${query}`);
    const counted = days.flatMap((day) => listOf(day.groups));
    const sumOf = (group: string, outcome: keyof typeof none) =>
      counted.reduce((sum, each) => sum + (textOf(each.group) === group ? Number(each[outcome]) : 0), 0);
    const sums = (group: string) => Object.keys(none).map((name) => [name, sumOf(group, name as "served")]);
    return Object.fromEntries(groups.map((group) => [group, Object.fromEntries(sums(group))]));
  };
  const others = { bulk: none, write: none, session: none };
  const expected = {
    ...others,
    lookup: { served: 2, refused: 0, errors: 1 },
    alts: { served: 0, refused: 1, errors: 2 },
  };
  await expect.poll(() => today(`&keyId=${one.id}`)).toEqual(expected);
  await expect.poll(() => today()).toEqual({ ...expected, lookup: { served: 3, refused: 0, errors: 1 } });
  const ofOther = { ...others, alts: none, lookup: { served: 1, refused: 0, errors: 0 } };
  expect(await today(`&keyId=${other.id}`)).toEqual(ofOther);
});

const readLog = async (owner: Owner, query = "") => {
  const { entries, next } = dataOf(await owner.send(`GET /dashboard/api/audit${query}`));
  return { entries: listOf(entries), next: next as string | null | undefined };
};

test("the audit log lists changes with their actor, newest first", async () => {
  const owner = await signInOwner(server, "100003");
  expect(await readLog(owner)).toEqual({ entries: [], next: null });
  const { id, token } = await createKey(owner);
  for (const allowIps of [["203.0.113.7"], []]) {
    await owner.send(`PATCH /dashboard/api/keys/${id}`, { body: { name: "Other", allowIps } });
  }
  const body = { chatId: "100001", gameId: "1" };
  const linked = await server.send("PATCH /v2/game", { key: token, body });
  expect(linked.status).toBe(200);
  const { entries, next } = await readLog(owner);
  const { text } = await owner.send("GET /dashboard/api/audit");
  expect(text).not.toContain("203.0.113.7");
  expect(next).toBe(null);
  expect(entries[0]).toEqual({
    id: expect.stringMatching(/^\d+$/),
    at: expect.stringMatching(/Z$/),
    action: "link.set",
    actor: { type: "key", id },
    member: null,
    keyId: id,
    requestId: linked.headers["x-request-id"],
    details: { chatId: "100001", gameId: "1", previousGameId: null },
  });
  const account = { type: "account", id: "chat:100003" };
  expect(entries.slice(1)).toMatchObject([
    { action: "key.updated", actor: account, keyId: id },
    { action: "key.updated", actor: account, keyId: id },
    { action: "key.created", actor: account, keyId: id, details: { keyId: id, status: "active" } },
  ]);
});

test("the audit log is paged, and filtered by action and key", async () => {
  const owner = await signInOwner(server, "100004");
  const [one, other] = [await createKey(owner), await createKey(owner)];
  await owner.send(`POST /dashboard/api/keys/${one.id}/rotate`);
  await owner.send(`DELETE /dashboard/api/keys/${other.id}`);
  const all = (await readLog(owner)).entries;
  const actions = ["key.status_changed", "key.rotated", "key.created", "key.created"];
  expect(all.map(({ action }) => action)).toEqual(actions);
  const first = await readLog(owner, "?limit=3");
  const second = await readLog(owner, `?limit=3&cursor=${first.next}`);
  expect([...first.entries, ...second.entries]).toEqual(all);
  expect(second.next).toBe(null);
  expect((await readLog(owner, "?limit=4")).next).toBe(null);
  const filtered = async (query: string) => (await readLog(owner, query)).entries.map(({ id }) => id);
  const ids = all.map(({ id }) => id);
  expect(await filtered("?action=key.created")).toEqual([ids[2], ids[3]]);
  expect(await filtered("?action=link.set")).toEqual([]);
  expect(await filtered(`?keyId=${one.id}`)).toEqual([ids[1], ids[3]]);
  expect(await filtered(`?keyId=${other.id}&action=key.status_changed`)).toEqual([ids[0]]);
});

test.each([
  ["usage", "days", "0"],
  ["usage", "days", "91"],
  ["usage", "days", "1.5"],
  ["audit", "limit", "101"],
  ["audit", "cursor", "x"],
  ["audit", "action", "key.stolen"],
])("%s refuses %s=%s", async (what, name, value) => {
  const owner = await signInOwner(server, "100001");
  expectInvalid(await owner.send(`GET /dashboard/api/${what}?${name}=${value}`), name);
});
