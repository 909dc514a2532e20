/**
 * Webhooks at the dashboard: what an owner gets, what is sent, and what is refused.
 */
import { describe, expect, test, vi } from "vitest";
import { type Answer, type Json, textOf } from "../support/http.ts";
import { botlessGuild, guild } from "../support/world.ts";
import { expectData, expectRefusal } from "./contract_server.ts";
import { createKey, headersOf, type Owner, signInOwner } from "./dashboard.ts";
import { useSiteServer } from "./site_server.ts";
import { isSignedWith, useReceiver } from "./webhook_receiver.ts";

const receiver = await useReceiver();
const server = await useSiteServer(
  {
    ACCOUNTLINK_FREE_KEYS: "20",
    ACCOUNTLINK_FREE_WINDOW: "0 seconds",
    ACCOUNTLINK_WEBHOOK_NETWORKS: "127.0.0.1/32",
  },
  (fixture) => ({
    ...fixture,
    platform: {
      ...fixture.platform,
      guilds: fixture.platform?.guilds?.map((each) => ({
        ...each,
        members: each.members?.map((member) => ({ ...member, manager: member.chatId === "100001" })),
      })),
    },
  }),
);

const [ada, bob, cyd] = ["100001", "100002", "100003"];
const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;
const anId = expect.stringMatching(/^wh_[0-9A-Za-z]{20}$/) as unknown;
const anEventId = expect.stringMatching(/^evt_[0-9A-Z]{26}$/) as unknown;
const unknownId = "wh_00000000000000000000";

let paths = 0;
/** A path that no other test uses. */
const newPath = () => `/hook-${++paths}`;

/** Creates a webhook. */
const createWebhook = async (owner: Owner, chosen: object = {}) => {
  const path = newPath();
  const body = { url: `${receiver.url}${path}`, scope: "global", ...chosen };
  const created = await owner.send("POST /dashboard/api/webhooks", { body });
  expect({ status: created.status, error: created.body.error }).toEqual({ status: 201, error: undefined });
  const { secret, webhook = {} } = created.body.data ?? {};
  return { path, secret: textOf(secret), id: textOf(webhook.id), webhook };
};

/** The values of a list. */
const listOf = (value: unknown) => value as ReadonlyArray<Json>;

const webhookOf = async (owner: Owner, id: string): Promise<Json | undefined> => {
  const { body } = await owner.send("GET /dashboard/api/webhooks");
  return listOf(body.data?.webhooks).find((webhook) => textOf(webhook.id) === id);
};

const deliveriesOf = async (owner: Owner, id: string, query = ""): Promise<ReadonlyArray<Json>> => {
  const { body } = await owner.send(`GET /dashboard/api/webhooks/${id}/deliveries${query}`);
  return listOf(body.data?.deliveries);
};

/** Deletes the webhooks of an owner, so that there is room. */
const clear = async (owner: Owner) => {
  const { body } = await owner.send("GET /dashboard/api/webhooks");
  for (const { id } of listOf(body.data?.webhooks)) {
    await owner.send(`DELETE /dashboard/api/webhooks/${textOf(id)}`);
  }
};

let users = 5;
/** A chat user whose links no other test changes. */
const newUser = () => String(100_000 + ++users);

/** Waits as long as the server may take to notice something. */
const eventually = <A>(check: () => A | Promise<A>): Promise<A> =>
  vi.waitFor(check, { timeout: 10_000, interval: 50 });

/** An owner without webhooks, and a key of the account. */
const newOwner = async (chatId = cyd) => {
  const owner = await signInOwner(server, chatId);
  await clear(owner);
  const { token } = await createKey(owner);
  const link = (chatUser: string, gameId: string) =>
    server.send("PATCH /v2/game", { key: token, body: { chatId: chatUser, gameId }, from: "198.18.250.2" });
  return { owner, link };
};

/** Waits until one path gets no event that another got. A change of a webhook holds within a second. */
const untilQuiet = (link: (user: string, game: string) => Promise<Answer>, quiet: string, loud: string) =>
  eventually(async () => {
    const user = newUser();
    await link(user, "1");
    const isAt = (path: string) => receiver.at(path).some(({ body }) => body.data["chatId"] === user);
    await eventually(() => expect(isAt(loud)).toBe(true));
    expect(isAt(quiet)).toBe(false);
  });

describe("a new webhook", () => {
  test("has its secret this once", async () => {
    const { owner } = await newOwner();
    const { path, id, secret, webhook } = await createWebhook(owner, {
      types: ["link.set"],
      description: "Our database",
    });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const expected = {
      id: anId,
      url: `${receiver.url}${path}`,
      scope: "global",
      guildId: null,
      pid: expect.stringMatching(/^pid_[0-9a-z]{16,}$/) as unknown,
      types: ["link.set"],
      description: "Our database",
      status: "active",
      disabledReason: null,
      createdAt: isoTime,
      lastDeliveredAt: null,
      failingSince: null,
      pending: 0,
    };
    expect(webhook).toEqual(expected);
    const listed = await owner.send("GET /dashboard/api/webhooks");
    expectData(listed, { webhooks: [expected] });
    expect(listed.text).not.toContain(secret);
    expect(id).toBe(webhook.id);
  });

  test("is for a guild of who manages it", async () => {
    const { owner } = await newOwner(ada);
    const { webhook } = await createWebhook(owner, { scope: "guild", guildId: guild });
    expect(webhook).toMatchObject({ scope: "guild", guildId: guild, types: [], description: "" });
    const create = (by: Owner, guildId: string) =>
      by.send("POST /dashboard/api/webhooks", {
        body: { url: "https://example.com/a", scope: "guild", guildId },
      });
    expectRefusal(await create(owner, botlessGuild), 403, "FORBIDDEN", { reason: "bot_not_in_guild" });
    const other = await signInOwner(server, bob);
    expectRefusal(await create(other, guild), 403, "FORBIDDEN", { reason: "not_guild_manager" });
  });

  test("is one of five of its scope", async () => {
    const { owner } = await newOwner(ada);
    for (let count = 0; count < 5; count++) await createWebhook(owner);
    const sixth = { body: { url: `${receiver.url}/sixth`, scope: "global" } };
    const refused = await owner.send("POST /dashboard/api/webhooks", sixth);
    expectRefusal(refused, 409, "CONFLICT", { reason: "webhook_limit" });
    await createWebhook(owner, { scope: "guild", guildId: guild });
  });

  test.each<[what: string, body: object, parameters: ReadonlyArray<string>]>([
    ["nothing", {}, ["url", "scope"]],
    ["no url", { scope: "global", types: "all" }, ["url"]],
    ["no guild", { url: "https://example.com", scope: "guild" }, ["guildId"]],
  ])("needs its url and scope: %s", async (_, body, parameters) => {
    const owner = await signInOwner(server, bob);
    const refused = await owner.send("POST /dashboard/api/webhooks", { body });
    expectRefusal(refused, 400, "MISSING_PARAMETER", { parameters });
  });

  test.each<[name: string, value: unknown]>([
    ["url", 7],
    ["url", "example.com/a"],
    ["url", "ftp://example.com/a"],
    ["url", "http://example.com/a"],
    ["url", "https://ada:secret@example.com/a"],
    ["url", "https://ada@example.com/a"],
    ["url", "https://example.com:0/a"],
    ["url", "https://example.com:65536/a"],
    ["url", `https://example.com/${"a".repeat(1_981)}`],
    ["url", "https://10.0.0.1/a"],
    ["url", "https://[::1]/a"],
    ["url", "https://2130706434/a"],
    ["url", "https://localhost.:1/a\u0000"],
    ["scope", "galaxy"],
    ["types", "link.set"],
    ["types", ["link.made"]],
    ["types", ["test"]],
    ["description", 7],
    ["description", "x".repeat(301)],
    ["description", "a\u202eb"],
  ])("is refused with the %s %j", async (name, value) => {
    const owner = await signInOwner(server, bob);
    const refused = await owner.send("POST /dashboard/api/webhooks", {
      body: { url: "https://example.com/a", scope: "global", [name]: value },
    });
    expectRefusal(refused, 400, "INVALID_PARAMETER", {
      parameters: [{ name, reason: expect.any(String) as unknown }],
    });
  });

  test("takes a URL of 2,000 characters, and a name that has no address yet", async () => {
    const { owner } = await newOwner();
    await createWebhook(owner, { url: `https://example.invalid/${"a".repeat(1_976)}` });
  });
});

describe("a change", () => {
  test("keeps what is not given, and clears with null", async () => {
    const { owner } = await newOwner();
    const { id, webhook } = await createWebhook(owner, { types: ["link.set"], description: "A" });
    const patch = (body: object) => owner.send(`PATCH /dashboard/api/webhooks/${id}`, { body });
    expectData(await patch({ types: [], unknown: 1 }), { webhook: { ...webhook, types: [] } });
    expectData(await patch({ description: null }), { webhook: { ...webhook, types: [], description: "" } });
    const url = `${receiver.url}/changed`;
    expectData(await patch({ url, status: "paused", description: "B" }), {
      webhook: { ...webhook, url, types: [], description: "B", status: "paused" },
    });
    for (const [name, value] of [
      ["url", "https://127.0.0.2/a"],
      ["status", "disabled"],
      ["types", [1]],
    ] as const) {
      expectRefusal(await patch({ [name]: value }), 400, "INVALID_PARAMETER", {
        parameters: [{ name, reason: expect.any(String) as unknown }],
      });
    }
    expect(await webhookOf(owner, id)).toMatchObject({ url, description: "B", status: "paused" });
  });

  test("of another account, or of none, is not found", async () => {
    const { owner } = await newOwner();
    const { id } = await createWebhook(owner);
    const stranger = await signInOwner(server, bob);
    const event = "evt_00000000000000000000000000";
    const lines = (of: string) =>
      [
        ["PATCH", "", { status: "paused" }],
        ["DELETE", "", undefined],
        ["POST", "/rotate", undefined],
        ["POST", "/test", undefined],
        ["GET", "/deliveries", undefined],
        ["POST", `/deliveries/${event}/resend`, undefined],
      ].map(([method, path, body]) => [`${method} /dashboard/api/webhooks/${of}${path}`, body] as const);
    const tries: ReadonlyArray<readonly [Owner, string]> = [
      [stranger, id],
      [owner, unknownId],
      [owner, "x%00"],
    ];
    for (const [who, of] of tries) {
      for (const [line, body] of lines(of)) {
        const answer: Answer = await who.send(line as "GET /", body === undefined ? {} : { body });
        expectRefusal(answer, 404, "BAD_REQUEST", null);
      }
    }
    for (const eventId of [event, "x", "%00"]) {
      const answer = await owner.send(`POST /dashboard/api/webhooks/${id}/deliveries/${eventId}/resend`);
      expectRefusal(answer, 404, "BAD_REQUEST", null);
    }
  });

  test("needs the origin and the token, and every request a session", async () => {
    const { owner } = await newOwner();
    const { id } = await createWebhook(owner);
    const headers = { ...headersOf(owner.browser, server.url(), owner.csrfToken), "x-csrf-token": "" };
    for (const line of [
      "POST /dashboard/api/webhooks",
      `PATCH /dashboard/api/webhooks/${id}`,
      `DELETE /dashboard/api/webhooks/${id}`,
      `POST /dashboard/api/webhooks/${id}/rotate`,
      `POST /dashboard/api/webhooks/${id}/test`,
    ] as const) {
      expectRefusal(await server.send(line, { headers, body: {} }), 403, "FORBIDDEN", { reason: "csrf" });
      expectRefusal(await server.send(line, { body: {} }), 401, "INVALID_SESSION", null);
    }
    expectRefusal(await server.send("GET /dashboard/api/webhooks"), 401, "INVALID_SESSION", null);
  });
});

describe("a delivery", () => {
  test("is as Standard Webhooks says, and listed", async () => {
    const user = newUser();
    const { owner, link } = await newOwner();
    const { id, path, secret, webhook } = await createWebhook(owner);
    await link(user, "1");
    const [delivered] = await receiver.wait(path, 1);
    if (delivered === undefined) throw new Error();
    expect(isSignedWith(secret, delivered)).toBe(true);
    expect(isSignedWith(`whsec_${Buffer.alloc(32).toString("base64")}`, delivered)).toBe(false);
    expect(delivered.headers).toMatchObject({
      "webhook-id": anEventId,
      "webhook-timestamp": expect.stringMatching(/^\d{10}$/) as unknown,
      "webhook-signature": expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/) as unknown,
    });
    expect(delivered.body).toEqual({
      type: "link.set",
      timestamp: isoTime,
      data: {
        chatId: user,
        gameId: "1",
        previousGameId: null,
        linkVersion: 1,
        lastVerifiedAt: isoTime,
        source: "api",
      },
      scope: { pid: webhook.pid, guildId: null },
    });
    await eventually(async () =>
      expect(await deliveriesOf(owner, id)).toEqual([
        {
          eventId: delivered.id,
          type: "link.set",
          at: delivered.body.timestamp,
          attempts: 1,
          status: "delivered",
          responseStatus: 204,
          error: null,
          nextAttemptAt: null,
        },
      ]),
    );
    expect(await webhookOf(owner, id)).toMatchObject({ lastDeliveredAt: isoTime, pending: 0 });
  });

  test("is of the chosen types, of its scope, and of what comes after the webhook", async () => {
    const user = newUser();
    const { owner, link } = await newOwner();
    await link(user, "1");
    const some = await createWebhook(owner, { types: ["link.removed"] });
    const all = await createWebhook(owner);
    const elsewhere = await newOwner(ada);
    await elsewhere.link(user, "2");
    await link(user, "2");
    const { token } = await createKey(owner);
    await server.send("DELETE /v2/game", { key: token, body: { chatId: user }, from: "198.18.250.2" });
    const received = await receiver.wait(all.path, 2);
    expect(received.map(({ body }) => [body.type, body.data["previousGameId"]])).toEqual([
      ["link.set", "1"],
      ["link.removed", "2"],
    ]);
    expect((await receiver.wait(some.path, 1)).map(({ body }) => body.type)).toEqual(["link.removed"]);
  });

  test("that fails is tried again, holds back later ones of its user, and no other's", async () => {
    const [user, other] = [newUser(), newUser()];
    const { owner, link } = await newOwner();
    const { id, path } = await createWebhook(owner);
    receiver.answer(path, 500);
    await link(user, "1");
    await receiver.wait(path, 1);
    await link(user, "2");
    receiver.answer(path, 200);
    await link(other, "1");
    // The first is tried again after 5 seconds, and followed by the second.
    const received = await receiver.wait(path, 4);
    const of = (chatId: string) => received.filter(({ body }) => body.data["chatId"] === chatId);
    expect(received[1]?.body.data["chatId"]).toBe(other);
    expect(of(user).map(({ body }) => body.data["gameId"])).toEqual(["1", "1", "2"]);
    expect(new Set(of(user).map((each) => each.id)).size).toBe(2);
    await eventually(async () =>
      expect((await deliveriesOf(owner, id)).map(({ status, attempts }) => [status, attempts])).toEqual([
        ["delivered", 1],
        ["delivered", 1],
        ["delivered", 2],
      ]),
    );
  });

  test("is failing until it is sent again by hand", async () => {
    const user = newUser();
    const { owner, link } = await newOwner();
    const { id, path } = await createWebhook(owner);
    receiver.answer(path, 302, { location: `${receiver.url}/elsewhere` });
    await link(user, "1");
    const failing = await eventually(async () => {
      const [delivery] = await deliveriesOf(owner, id, "?status=failing");
      expect(delivery).toEqual({
        eventId: anEventId,
        type: "link.set",
        at: isoTime,
        attempts: 1,
        status: "failing",
        responseStatus: 302,
        error: "status",
        nextAttemptAt: isoTime,
      });
      return delivery;
    });
    expect(receiver.at("/elsewhere")).toEqual([]);
    expect(await webhookOf(owner, id)).toMatchObject({ failingSince: isoTime, pending: 1, status: "active" });
    receiver.answer(path, 200);
    const eventId = textOf(failing?.eventId);
    const resent = await owner.send(`POST /dashboard/api/webhooks/${id}/deliveries/${eventId}/resend`);
    const delivery = { ...failing, attempts: 2, status: "delivered", responseStatus: 200, error: null };
    expectData(resent, { delivery: { ...delivery, nextAttemptAt: null } });
    expect(await deliveriesOf(owner, id, "?status=failing")).toEqual([]);
    expect(await webhookOf(owner, id)).toMatchObject({ failingSince: null, pending: 0 });
  });

  test("answered 410 disables the webhook, and an active one goes on", async () => {
    const user = newUser();
    const { owner, link } = await newOwner();
    const { id, path } = await createWebhook(owner);
    receiver.answer(path, 410);
    await link(user, "1");
    await eventually(async () =>
      expect(await webhookOf(owner, id)).toMatchObject({ status: "disabled", disabledReason: "gone" }),
    );
    await link(user, "2");
    receiver.answer(path, 200);
    const active = await owner.send(`PATCH /dashboard/api/webhooks/${id}`, { body: { status: "active" } });
    expectData(active, {
      webhook: expect.objectContaining({ status: "active", disabledReason: null, failingSince: null }),
    });
    const received = await receiver.wait(path, 3);
    expect(received.map(({ body }) => body.data["gameId"])).toEqual(["1", "1", "2"]);
    const { body } = await owner.send("GET /dashboard/api/audit?action=webhook.disabled");
    expect(body.data?.entries).toMatchObject([
      { actor: { type: "operator" }, details: { webhookId: id, reason: "gone" } },
    ]);
  });

  test("waits while the webhook is paused", async () => {
    const user = newUser();
    const { owner, link } = await newOwner();
    const { id, path } = await createWebhook(owner);
    const setStatus = (status: string) =>
      owner.send(`PATCH /dashboard/api/webhooks/${id}`, { body: { status } });
    await setStatus("paused");
    const other = await createWebhook(owner);
    await eventually(async () => {
      await link("100003", String(Math.floor(Math.random() * 5) + 1));
      const before = receiver.at(path).length;
      await receiver.wait(other.path, receiver.at(other.path).length + 1);
      expect(receiver.at(path).length).toBe(before);
    });
    const sent = receiver.at(path).length;
    await link(user, "1");
    await link(user, "2");
    await receiver.wait(other.path, receiver.at(other.path).length);
    expect((await webhookOf(owner, id))?.pending).toBeGreaterThanOrEqual(2);
    await setStatus("active");
    const received = await receiver.wait(path, sent + 2);
    const games = received.filter(({ body }) => body.data["chatId"] === user);
    await eventually(() =>
      expect(
        receiver
          .at(path)
          .filter(({ body }) => body.data["chatId"] === user)
          .map(({ body }) => body.data["gameId"]),
      ).toEqual(["1", "2"]),
    );
    expect(games.length).toBeGreaterThan(0);
  });
});

describe("a test", () => {
  test("is sent at once, whatever the status, and listed", async () => {
    const { owner } = await newOwner();
    const { id, path, secret, webhook } = await createWebhook(owner);
    await owner.send(`PATCH /dashboard/api/webhooks/${id}`, { body: { status: "paused" } });
    const tested = await owner.send(`POST /dashboard/api/webhooks/${id}/test`);
    const delivery = {
      eventId: anEventId,
      type: "test",
      at: isoTime,
      attempts: 1,
      status: "delivered",
      responseStatus: 204,
      error: null,
      nextAttemptAt: null,
    };
    expectData(tested, { delivery });
    const [received] = receiver.at(path);
    if (received === undefined) throw new Error();
    expect(isSignedWith(secret, received)).toBe(true);
    const { eventId, at } = tested.body.data?.delivery ?? {};
    expect(received.id).toBe(eventId);
    expect(received.body).toEqual({
      type: "test",
      timestamp: at,
      data: {},
      scope: { pid: webhook.pid, guildId: null },
    });
    expect(await deliveriesOf(owner, id)).toEqual([delivery]);

    receiver.answer(path, 503);
    const failed = await owner.send(`POST /dashboard/api/webhooks/${id}/test`);
    expectData(failed, {
      delivery: { ...delivery, status: "given_up", responseStatus: 503, error: "status" },
    });
    receiver.answer(path, 200);
    const again = `POST /dashboard/api/webhooks/${id}/deliveries/${textOf(failed.body.data?.delivery?.eventId)}/resend`;
    expectData(await owner.send(again as "POST /"), {
      delivery: { ...delivery, attempts: 2, responseStatus: 200 },
    });
  });

  test("says why there was no answer", async () => {
    const { owner } = await newOwner();
    const { id } = await createWebhook(owner, { url: "https://name.invalid/" });
    const tested = await owner.send(`POST /dashboard/api/webhooks/${id}/test`);
    expect(tested.body.data?.delivery).toMatchObject({
      status: "given_up",
      responseStatus: null,
      error: "name",
    });
  });
});

describe("a rotation", () => {
  test("lets both secrets sign", async () => {
    const { owner } = await newOwner();
    const { id, path, secret, webhook } = await createWebhook(owner);
    const rotated = await owner.send(`POST /dashboard/api/webhooks/${id}/rotate`);
    expectData(rotated, { secret: expect.stringMatching(/^whsec_/) as unknown, webhook });
    const next = textOf(rotated.body.data?.secret);
    expect(next).not.toBe(secret);
    await owner.send(`POST /dashboard/api/webhooks/${id}/test`);
    const [received] = receiver.at(path);
    if (received === undefined) throw new Error();
    expect([isSignedWith(secret, received), isSignedWith(next, received)]).toEqual([true, true]);
    expect(received.headers["webhook-signature"]).toMatch(/^v1,\S+ v1,\S+$/);
  });
});

const nextOf = (value: unknown): string | null => (value === null ? null : textOf(value));

describe("a list of deliveries", () => {
  test("comes in pages, by status", async () => {
    const { owner } = await newOwner();
    const { id } = await createWebhook(owner);
    for (let count = 0; count < 5; count++) await owner.send(`POST /dashboard/api/webhooks/${id}/test`);
    const all = await deliveriesOf(owner, id);
    const pages: Array<Json> = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const query = `?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`;
      const { body }: Answer = await owner.send(`GET /dashboard/api/webhooks/${id}/deliveries${query}`);
      pages.push(...listOf(body.data?.deliveries));
      cursor = nextOf(body.data?.next);
    }
    expect(pages).toEqual(all);
    expect(all.length).toBe(5);
    expect(await deliveriesOf(owner, id, "?status=given_up")).toEqual([]);
    for (const [name, value] of [
      ["limit", "0"],
      ["limit", "101"],
      ["cursor", "x"],
      ["status", "lost"],
    ] as const) {
      const line = `GET /dashboard/api/webhooks/${id}/deliveries?${name}=${value}` as const;
      expectRefusal(await owner.send(line), 400, "INVALID_PARAMETER", {
        parameters: [{ name, reason: expect.any(String) as unknown }],
      });
    }
  });
});

describe("a deleted webhook", () => {
  test("gets nothing more, and its deliveries are gone", async () => {
    const user = newUser();
    const { owner, link } = await newOwner();
    const [gone, stays] = [await createWebhook(owner), await createWebhook(owner)];
    const deleted = await owner.send(`DELETE /dashboard/api/webhooks/${gone.id}`);
    expectData(deleted, { deleted: true });
    expectRefusal(await owner.send(`DELETE /dashboard/api/webhooks/${gone.id}`), 404, "BAD_REQUEST", null);
    expect(await webhookOf(owner, gone.id)).toBeUndefined();
    await untilQuiet(link, gone.path, stays.path);
    const sent = receiver.at(gone.path).length;
    await link(user, "1");
    await receiver.wait(stays.path, receiver.at(stays.path).length);
    expect(receiver.at(gone.path)).toHaveLength(sent);
  });

  test("and every other change is in the audit log, without URLs", async () => {
    const { owner } = await newOwner();
    const { id, path } = await createWebhook(owner);
    await owner.send(`PATCH /dashboard/api/webhooks/${id}`, { body: { description: "B" } });
    await owner.send(`POST /dashboard/api/webhooks/${id}/rotate`);
    await owner.send(`DELETE /dashboard/api/webhooks/${id}`);
    const { body, text } = await owner.send("GET /dashboard/api/audit?limit=4");
    const entries = listOf(body.data?.entries);
    expect(entries.map(({ action, actor, details }) => [action, actor, details])).toEqual(
      [
        ["webhook.deleted", {}],
        ["webhook.rotated", {}],
        ["webhook.updated", { changed: "description" }],
        ["webhook.created", {}],
      ].map(([action, more]) => [
        action,
        { type: "account", id: `chat:${cyd}` },
        { webhookId: id, ...(more as object) },
      ]),
    );
    expect(text).not.toContain(path);
  });
});
