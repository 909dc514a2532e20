/** Keys in the dashboard's JSON API. */
import { expect, test } from "vitest";
import { botlessGuild, guild } from "../support/fixtures.ts";
import { formOf } from "../support/flow_browser.ts";
import { type Answer, textOf } from "../support/http.ts";
import { openReads } from "../support/open_reads.ts";
import {
  dataOf,
  expectConflict,
  expectData,
  expectForbidden,
  expectInvalid,
  expectMissing,
  isoTime,
} from "./contract_server.ts";
import { createKey, signInOwner } from "./dashboard.ts";
import { managedBy, useSiteServer } from "./site_server.ts";

const server = useSiteServer(
  {
    ACCOUNTLINK_FREE_KEYS: "20",
    ACCOUNTLINK_FREE_WINDOW: "0 seconds",
    ACCOUNTLINK_PREMIUM_KEYS: "3",
    ACCOUNTLINK_IP_AUTH_FAILURES: "30",
  },
  managedBy(["100001"]),
);

const [ada, bob, cyd] = ["100001", "100002", "100003"];

const unauthorized = "INVALID_API_KEY";

/** Looks up a link with the key; returns "served" or the error code. */
const lookUp = async (key: string, from = "198.18.250.1") => {
  const { status, body } = await server.send("GET /v2/chat?chatId=100001", { key, from });
  return status === 404 ? "served" : body.error?.code;
};

test("a new key is shown in full only once, and works immediately", async () => {
  const owner = await signInOwner(server, cyd);
  const { token, id, key } = await createKey(owner, { name: "My bot 🎮" });
  expect(token).toMatch(new RegExp(`^alk_${id}_[\\w-]{43}$`));
  expect(key).toEqual({
    id,
    display: `alk_${id}_…`,
    name: "My bot 🎮",
    scope: "global",
    guildId: null,
    pid: expect.stringMatching(/^pid_[0-9a-z]{16,}$/),
    tier: "free",
    kind: "normal",
    access: "full",
    status: "active",
    limits: { perWindow: null, windowMs: 0, daily: 500, verifyDaily: 2000 },
    allowIps: [],
    denyIps: [],
    redirectOrigins: [],
    createdAt: isoTime,
    expiresAt: null,
    lastUsedAt: null,
    previousSecretEndsAt: null,
  });
  expect(await lookUp(token)).toBe("served");
  const listed = await owner.send("GET /dashboard/api/keys");
  expect(listed.text).not.toContain(token);
  expect(listed.body.data?.keys).toMatchObject([{ id }]);
});

test("a new key takes all optional fields", async () => {
  const owner = await signInOwner(server, cyd);
  const chosen = {
    name: "All",
    access: "read",
    allowIps: ["203.0.113.0/24", "2001:db8::1"],
    denyIps: ["203.0.113.9"],
    redirectOrigins: ["https://a.example", "http://127.0.0.1:9999"],
    expiresAt: "2030-01-31T08:00:00.000Z",
  };
  const { key } = await createKey(owner, { ...chosen, guildId: null, unknown: 1 });
  expect(key).toMatchObject(chosen);
  const nulls = { access: null, allowIps: null, denyIps: null, redirectOrigins: null, expiresAt: null };
  const { key: plain } = await createKey(owner, nulls);
  expect(plain).toMatchObject({ access: "full", allowIps: [], denyIps: [], expiresAt: null });
});

test.each<[what: string, body: object, parameters: ReadonlyArray<string>]>([
  ["nothing", {}, ["name", "scope"]],
  ["no name", { scope: "global", access: "all" }, ["name"]],
  ["an empty name", { name: "", scope: "global" }, ["name"]],
  ["no guild", { scope: "guild" }, ["name", "guildId"]],
])("creating a key needs its name and scope: %s", async (_, body, parameters) => {
  const owner = await signInOwner(server, ada);
  expectMissing(await owner.send("POST /dashboard/api/keys", { body }), ...parameters);
});

test.each<[name: string, value: unknown]>([
  ["name", 7],
  ["name", "x".repeat(81)],
  ["name", "Bot\n"],
  ["name", "\u3164"],
  ["name", "Bot\uFEFF"],
  ["scope", "galaxy"],
  ["guildId", "x"],
  ["guildId", guild],
  ["access", "write"],
  ["allowIps", ["300.0.0.1"]],
  ["denyIps", ["203.0.113.0/33"]],
  ["denyIps", Array.from({ length: 101 }, () => "203.0.113.7")],
  ["redirectOrigins", ["https://a.example/path"]],
  ["redirectOrigins", ["https://*.a.example"]],
  ["expiresAt", "tomorrow"],
  ["expiresAt", "2026-02-30"],
  ["expiresAt", "2020-01-01T00:00:00.000Z"],
])("creating a key is refused with the %s %j", async (name, value) => {
  const owner = await signInOwner(server, ada);
  const refused = await owner.send("POST /dashboard/api/keys", {
    body: { name: "Bot", scope: "global", [name]: value },
  });
  expectInvalid(refused, name);
});

test("updating a key refuses an invalid value of each field", async () => {
  const owner = await signInOwner(server, ada);
  const path = `PATCH /dashboard/api/keys/${(await createKey(owner)).id}` as const;
  const hidden = "no control characters, zero-width characters or direction overrides";
  const visible = `expected 1 to 80 characters, at least one of them visible, ${hidden}`;
  expectInvalid(await owner.send(path, { body: { name: "a\u200B" } }), `name: ${visible}`);
  for (const name of ["name", "access", "allowIps", "denyIps", "redirectOrigins", "expiresAt", "status"]) {
    expectInvalid(await owner.send(path, { body: { [name]: { wrong: 1 } } }), name);
  }
  const revoked = await owner.send(path, { body: { status: "revoked" } });
  expectInvalid(revoked, "status: expected active or disabled");
});

test("the page of a new key has an example that looks up a linked user", async () => {
  const owner = await signInOwner(server, "100014");
  const { key } = await createKey(owner);
  const link = { pid: key.pid, chatId: "100002", gameId: "1" };
  expect((await owner.send("PUT /dashboard/api/links", { body: link })).status).toBe(200);
  const form = formOf(await owner.browser.get("/dashboard/keys/new"));
  const typed = { ...form, name: "Next", scope: "global", access: "full" };
  const issued = await owner.browser.post("/dashboard/keys", typed);
  expect([issued.status, issued.text]).toEqual([201, expect.stringContaining("/v2/chat?chatId=100002")]);
});

test.each([
  ["keys", { name: "Sent twice", scope: "global", access: "full" }],
  ["webhooks", { description: "Sent twice", scope: "global", url: "https://1.1.1.1/" }],
])("a form of %s that is sent again creates nothing, and says what it made", async (section, typed) => {
  const { browser } = await signInOwner(server, "100031");
  const form = { ...formOf(await browser.get(`/dashboard/${section}/new`)), ...typed };
  const made = await browser.post(`/dashboard/${section}`, form);
  expect(made.status).toBe(201);
  const [, page = ""] = /data-leaves-for="([^"]*)"/.exec(made.text) ?? [];
  const again = await browser.post(`/dashboard/${section}`, form);
  expect([again.status, again.text]).toEqual([409, expect.stringContaining(`href="${page}">Sent twice</a>`)]);
  expect((await browser.get(`/dashboard/${section}`)).text.match(/>Sent twice</g)).toHaveLength(1);
  const another = { ...form, ...formOf(again), ...typed };
  expect((await browser.post(`/dashboard/${section}`, another)).status).toBe(201);
});

test.each([
  ["keys", { name: "Pressed twice", access: "full" }],
  ["webhooks", { description: "Pressed twice", url: "https://1.1.1.1/" }],
])(
  "of two equal forms of %s at once, one creates something or gives a new secret",
  async (section, typed) => {
    const { browser } = await signInOwner(server, ada);
    const press = async (path: string, form: Readonly<Record<string, string>>) => {
      const answers = await Promise.all([browser.post(path, form), browser.post(path, form)]);
      const [done, refused] = answers.toSorted((one, other) => one.status - other.status);
      return { text: done?.text ?? "", statuses: [done?.status, refused?.status] };
    };
    const form = formOf(await browser.get(`/dashboard/${section}/new`));
    await server.platform.fail({ platform: "chat", mode: "slow", delayMs: 300, under: "/chat/api/guilds" });
    const made = await press(`/dashboard/${section}`, { ...form, ...typed, scope: "guild", guildId: guild });
    await server.platform.recover();
    expect(made.statuses).toEqual([201, 409]);
    const [, page = ""] = /data-leaves-for="([^"]*)"/.exec(made.text) ?? [];
    const rotated = await press(`${page}/rotate`, {
      ...formOf(await browser.get(page)),
      graceSeconds: "86400",
    });
    expect(rotated.statuses).toEqual([200, 400]);
  },
);

test("the page of keys says what is not allowed", async () => {
  const owner = await signInOwner(server, "100014");
  const { text } = await owner.browser.get("/dashboard/keys");
  expect(text).toMatch(/Fair use: no more keys, .* no scraping, and no trying\s+again hard after a 429/);
});

const request = (guildId: string) => ({
  body: { name: "Bot", url: "https://example.com/", scope: "guild", guildId },
});

test("creating a guild key or webhook needs the bot in the guild and the right to manage it", async () => {
  const [manager, member] = [await signInOwner(server, ada), await signInOwner(server, bob)];
  const { key, token } = await createKey(manager, { scope: "guild", guildId: guild });
  expect(key).toMatchObject({ scope: "guild", guildId: guild });
  const lookup = `GET /v2/chat?chatId=100001&guildId=${guild}` as const;
  expect((await server.send(lookup, { key: token })).status).toBe(404);
  for (const section of ["keys", "webhooks"]) {
    const path = `POST /dashboard/api/${section}` as const;
    for (const guildId of [botlessGuild, "799999999999999999"]) {
      expectForbidden(await manager.send(path, request(guildId)), "bot_not_in_guild");
    }
    expectForbidden(await member.send(path, request(guild)), "not_guild_manager");
    const page = await member.browser.get(`/dashboard/${section}/new`);
    expect(page.text).toContain("You manage none with the bot");
    const typed = { ...formOf(page), ...request(guild).body, access: "full" };
    const answer = await member.browser.post(`/dashboard/${section}`, typed);
    expect(answer.status).toBe(403);
    expect(answer.text).toContain("you do not manage it yourself");
  }
});

test("creating a guild key is refused after the user lost the right or left the guild", async () => {
  const member = `/control/guilds/${guild}/members/100004`;
  await server.platform.send(`PUT ${member}`, { body: { manager: true } });
  const owner = await signInOwner(server, "100004");
  await createKey(owner, { scope: "guild", guildId: guild });
  for (const change of [
    () => server.platform.send(`PUT ${member}`, { body: { manager: false } }),
    () => server.platform.send(`DELETE ${member}`),
  ]) {
    await change();
    expectForbidden(await owner.send("POST /dashboard/api/keys", request(guild)), "not_guild_manager");
  }
  const guilds = await owner.send("GET /dashboard/api/guilds");
  expect(guilds.body.data?.guilds).toEqual([
    { guildId: guild, name: "Rook & Bishop", bot: true, manager: true },
  ]);
});

test("creating a guild key fails while the chat platform is down, and the form keeps what was typed", async () => {
  const owner = await signInOwner(server, ada);
  const form = formOf(await owner.browser.get("/dashboard/keys/new"));
  await server.platform.fail({ mode: "down", platform: "chat", under: "/chat/api/guilds" });
  const refused = await owner.send("POST /dashboard/api/keys", request(guild));
  const typed = { ...form, ...request(guild).body, access: "full" };
  const page = await owner.browser.post("/dashboard/keys", typed);
  await server.platform.recover();
  expect([refused.status, refused.body.error?.code]).toEqual([503, "INTERNAL_ERROR"]);
  expect([page.status, page.text]).toEqual([
    503,
    expect.stringContaining("the chat platform does not answer"),
  ]);
  expect(page.text).toContain('value="Bot"');
  // The circuit breaker still refuses requests for a moment.
  await expect.poll(async () => (await owner.send("GET /dashboard/api/guilds")).status).toBe(200);
});

test("the list of guilds has the guilds that the owner manages", async () => {
  const owner = await signInOwner(server, ada);
  expectData(await owner.send("GET /dashboard/api/guilds"), {
    guilds: [
      { guildId: guild, name: "Rook & Bishop", bot: true, manager: true },
      { guildId: botlessGuild, name: null, bot: false, manager: true },
    ],
  });
  expectData(await (await signInOwner(server, "100099")).send("GET /dashboard/api/guilds"), { guilds: [] });
});

test("updating a key changes only the given fields, and applies immediately", async () => {
  const owner = await signInOwner(server, "100005");
  const { id, key, token } = await createKey(owner, {
    allowIps: ["198.18.250.1"],
    expiresAt: "2030-01-01T00:00:00.000Z",
  });
  const patch = async (body: object) =>
    dataOf(await owner.send(`PATCH /dashboard/api/keys/${id}`, { body })).key as object;
  const used = { lastUsedAt: expect.anything() };
  const same = { ...key, lastUsedAt: null };
  const reserved = {
    tier: "premium",
    kind: "staff",
    limits: "none",
    scope: "guild",
    id: "x",
    guildId: guild,
  };
  for (const nothing of [{}, reserved]) expect(await patch(nothing)).toEqual(same);
  expect(await patch({ name: null, allowIps: null, status: null, access: "" })).toEqual(same);
  const renamed = { name: "Renamed", access: "verify" };
  expect(await patch(renamed)).toEqual({ ...same, ...renamed });
  const opened = { access: "full", expiresAt: null, allowIps: [] };
  expect(await patch(opened)).toMatchObject({ name: "Renamed", ...opened });
  for (const [change, outcome] of [
    [{ denyIps: ["198.18.250.1"] }, "FORBIDDEN"],
    [{ denyIps: [], status: "disabled" }, unauthorized],
    [{ status: "active" }, "served"],
  ] as const) {
    expect(await patch(change)).toMatchObject(change);
    expect(await lookUp(token)).toBe(outcome);
  }
  await expect.poll(() => patch({})).toMatchObject(used);
});

test("an open stream ends when its key is rotated or narrowed, long before its time is over", async () => {
  const owner = await signInOwner(server, "100005");
  const { id, token } = await createKey(owner);
  const path = `/dashboard/api/keys/${id}` as const;
  const untilWaiting = openReads(server.send, "event_readers_waiting");
  let key = token;
  const isEndedBy = async (change: () => Promise<Answer>) => {
    const stream = server.send("GET /v2/events/stream", { key });
    await untilWaiting(1);
    const began = performance.now();
    const changed = dataOf(await change());
    await stream;
    expect(performance.now() - began).toBeLessThan(20_000);
    await untilWaiting(0);
    key = textOf(changed.token ?? key);
  };
  await isEndedBy(() => owner.send(`POST ${path}/rotate`, { body: { graceSeconds: 0 } }));
  await isEndedBy(() => owner.send(`PATCH ${path}`, { body: { access: "verify" } }));
});

test("rotating a key keeps its ID, and the previous secret for the grace period", async () => {
  const owner = await signInOwner(server, "100006");
  const { id, token } = await createKey(owner);
  const path = `POST /dashboard/api/keys/${id}/rotate` as const;
  const rotated = await owner.send(path, { body: { graceSeconds: 60 } });
  const second = textOf(rotated.body.data?.token);
  expect(rotated.status).toBe(200);
  expect(second).toMatch(new RegExp(`^alk_${id}_`));
  expect(rotated.body.data?.key).toMatchObject({ id, previousSecretEndsAt: isoTime });
  expect([await lookUp(token), await lookUp(second)]).toEqual(["served", "served"]);
  const atOnce = await owner.send(path, { body: { graceSeconds: 0 } });
  expect(atOnce.body.data?.key?.previousSecretEndsAt).toBe(null);
  await expect.poll(() => lookUp(token)).toBe(unauthorized);
  await expect.poll(() => lookUp(second)).toBe(unauthorized);
  // Reports of a known secret are no failed authentications.
  for (let reports = 0; reports < 31; reports++) {
    const report = await server.send("POST /v2/keys/leaked", { from: "198.18.250.9", body: { key: second } });
    expectData(report, { revoked: true });
  }
  const byDefault = await owner.send(path);
  const endsAt = Date.parse(textOf(byDefault.body.data?.key?.previousSecretEndsAt));
  expect(Math.abs(endsAt - Date.now() - 86_400_000)).toBeLessThan(60_000);
  for (const graceSeconds of [-1, 604_801, 1.5, "60"]) {
    const refused = await owner.send(path, { body: { graceSeconds } });
    expectInvalid(refused, "graceSeconds: expected whole seconds from 0 to 604800");
  }
});

test("forms refuse an invalid status of a key and of a webhook and an unconfirmed revocation, and rotate a key without a grace period", async () => {
  const owner = await signInOwner(server, "100013");
  const { id, token } = await createKey(owner);
  const body = { url: "https://example.com/", scope: "global" };
  const { webhook } = dataOf(await owner.send("POST /dashboard/api/webhooks", { body }), 201);
  for (const page of [`/dashboard/webhooks/${textOf(webhook?.id)}`, `/dashboard/keys/${id}`]) {
    const hidden = formOf(await owner.browser.get(page));
    const answer = await owner.browser.post(`${page}/status`, { ...hidden, status: "revoked" });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("Nothing was changed")]);
  }
  const hidden = formOf(await owner.browser.get(`/dashboard/keys/${id}`));
  const unsure = await owner.browser.post(`/dashboard/keys/${id}/revoke`, { ...hidden, confirm: "another" });
  expect([unsure.status, unsure.text]).toEqual([400, expect.stringContaining(`expected ${id}`)]);
  expect(await lookUp(token)).not.toBe(unauthorized);
  const rotated = await owner.browser.post(`/dashboard/keys/${id}/rotate`, hidden);
  expect(rotated.text).toContain("The new secret of your key");
  // A browser may send the form twice.
  for (let times = 0; times < 2; times++) {
    const revoked = await owner.browser.post(`/dashboard/keys/${id}/revoke`, { ...hidden, confirm: id });
    expect([revoked.status, revoked.headers.location]).toEqual([303, `/dashboard/keys/${id}?done=revoked`]);
  }
});

test("forms that do not send what their page showed keep the exact expiry, and rotate a key", async () => {
  const owner = await signInOwner(server, "100013");
  const expiresAt = "2030-01-31T08:00:00.000Z";
  const { id } = await createKey(owner, { expiresAt });
  const page = `/dashboard/keys/${id}`;
  const { csrf = "" } = formOf(await owner.browser.get(page));
  const form = { csrf, name: "Script", expiresAt: "2030-01-31", graceSeconds: "60" };
  expect((await owner.browser.post(`${page}/update`, form)).status).toBe(303);
  for (let times = 0; times < 2; times++)
    expect((await owner.browser.post(`${page}/rotate`, form)).text).toContain("The new secret of your key");
  const { key } = dataOf(await owner.send(`PATCH /dashboard/api/keys/${id}`, { body: {} }));
  expect(key).toMatchObject({ name: "Script", expiresAt });
});

test("a revoked key cannot be changed", async () => {
  const owner = await signInOwner(server, "100007");
  const { id, token, key } = await createKey(owner);
  const path = `/dashboard/api/keys/${id}` as const;
  expectData(await owner.send(`DELETE ${path}`), { key: { ...key, status: "revoked" } });
  expect(await lookUp(token)).toBe(unauthorized);
  for (const again of [
    owner.send(`DELETE ${path}`),
    owner.send(`PATCH ${path}`, { body: { status: "active" } }),
    owner.send(`POST ${path}/rotate`, { body: {} }),
  ]) {
    expectConflict(await again, "key_revoked");
  }
});

test("the key limit counts only keys that are not revoked, the limit of a day all of them", async () => {
  const owner = await signInOwner(server, "100010");
  const counted = async () => (await owner.send("GET /dashboard/api/session")).body.data?.keys;
  expect(await counted()).toEqual({ used: 0, allowed: 20 });
  const created = [];
  for (let count = 0; count < 20; count++) created.push(await createKey(owner));
  expect(await counted()).toEqual({ used: 20, allowed: 20 });
  const another = () => owner.send("POST /dashboard/api/keys", { body: { name: "Bot", scope: "global" } });
  expectConflict(await another(), "key_limit");
  await owner.send(`DELETE /dashboard/api/keys/${created[0]?.id}`);
  expect(await counted()).toEqual({ used: 19, allowed: 20 });
  expectConflict(await another(), "key_rate");
  const { body } = await owner.send("GET /dashboard/api/keys");
  const keys = body.data?.keys as unknown as ReadonlyArray<{ readonly createdAt: string }>;
  expect(keys.length).toBe(20);
  const times = keys.map(({ createdAt }) => createdAt);
  expect(times).toEqual(times.toSorted().toReversed());
});

test("the limit of keys a day outlives an account that was deleted", async () => {
  const owner = await signInOwner(server, "100011");
  for (let count = 0; count < 20; count++) await createKey(owner);
  const { account } = dataOf(await owner.send("GET /dashboard/api/session"));
  dataOf(await owner.send("DELETE /dashboard/api/account", { body: { confirm: account?.name } }));
  const again = await signInOwner(server, "100011");
  expect(dataOf(await again.send("GET /dashboard/api/keys")).keys).toEqual([]);
  const another = await again.send("POST /dashboard/api/keys", { body: { name: "Bot", scope: "global" } });
  expectConflict(another, "key_rate");
});
