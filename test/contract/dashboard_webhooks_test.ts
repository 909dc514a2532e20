/** Webhooks in the dashboard's JSON API. */
import { expect, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import { formOf } from "../support/flow_browser.ts";
import { listOf, textOf } from "../support/http.ts";
import {
  dataOf,
  expectConflict,
  expectData,
  expectInvalid,
  expectMissing,
  expectUnknown,
  isoTime,
} from "./contract_server.ts";
import { signInOwner } from "./dashboard.ts";
import { isSignedWith } from "./webhook_receiver.ts";
import { ada, bob, cyd, delivered, deliveriesOf, useWebhooks, webhookOf } from "./webhooks.ts";

const { receiver, server, createWebhook, newOwner } = await useWebhooks();

const anId = expect.stringMatching(/^wh_[0-9A-Za-z]{20}$/) as unknown;

test("a new webhook and a rotation show the secret only once", async () => {
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
  const rotated = await owner.send(`POST /dashboard/api/webhooks/${id}/rotate`);
  expectData(rotated, { secret: expect.stringMatching(/^whsec_/) as unknown, webhook });
  expect(rotated.body.data?.secret).not.toBe(secret);
});

test("a scope has at most five webhooks", async () => {
  const { owner } = await newOwner(ada);
  for (let count = 0; count < 5; count++) await createWebhook(owner);
  const sixth = { body: { url: `${receiver.url}/sixth`, scope: "global" } };
  expectConflict(await owner.send("POST /dashboard/api/webhooks", sixth), "webhook_limit");
  const { webhook } = await createWebhook(owner, { scope: "guild", guildId: guild });
  expect(webhook).toMatchObject({ scope: "guild", guildId: guild, types: [], description: "" });
});

test.each<[what: string, body: object, parameters: ReadonlyArray<string>]>([
  ["nothing", {}, ["url", "scope"]],
  ["no url", { scope: "global", types: "all" }, ["url"]],
  ["no guild", { url: "https://example.com", scope: "guild" }, ["guildId"]],
])("creating a webhook needs its URL and scope: %s", async (_, body, parameters) => {
  const owner = await signInOwner(server, bob);
  expectMissing(await owner.send("POST /dashboard/api/webhooks", { body }), ...parameters);
});

test.each<[name: string, value: unknown]>([
  ["url", 7],
  ["url", "http://example.com/a"],
  ["url", "https://ada@example.com/a"],
  ["url", "https://example.com:0/a"],
  ["url", `https://example.com/${"a".repeat(1_981)}`],
  ["url", "https://2130706434/a"],
  ["scope", "galaxy"],
  ["types", "link.set"],
  ["types", ["link.made"]],
  ["types", ["test"]],
  ["description", 7],
  ["description", "x".repeat(301)],
  ["description", "a\u202eb"],
])("creating a webhook is refused with the %s %j", async (name, value) => {
  const owner = await signInOwner(server, bob);
  const body = { url: "https://example.com/a", scope: "global", [name]: value };
  expectInvalid(await owner.send("POST /dashboard/api/webhooks", { body }), name);
});

test("a form that its reader opened before keeps the events of now, whichever order they were set in", async () => {
  const { owner } = await newOwner();
  const types = ["link.set", "link.removed"];
  const { id, webhook } = await createWebhook(owner, { types: types.toReversed() });
  const form = new URLSearchParams(formOf(await owner.browser.get(`/dashboard/webhooks/${id}`)));
  const now = { types: ["link.moved"] };
  dataOf(await owner.send(`PATCH /dashboard/api/webhooks/${id}`, { body: now }));
  const sent = [...form, ["url", textOf(webhook.url)], ...types.map((type) => ["types", type])];
  const change = new URLSearchParams([...sent, ["description", "Ours"]]).toString();
  expect((await owner.browser.post(`/dashboard/webhooks/${id}/update`, change)).status).toBe(303);
  expect(await webhookOf(owner, id)).toMatchObject({ ...now, description: "Ours" });
});

test("updating a webhook changes only the given fields, and null clears the description", async () => {
  const { owner } = await newOwner();
  const { id, webhook } = await createWebhook(owner, { types: ["link.set"], description: "A" });
  const patch = (body: object) => owner.send(`PATCH /dashboard/api/webhooks/${id}`, { body });
  expectData(await patch({ types: [], unknown: 1 }), { webhook: { ...webhook, types: [] } });
  expectData(await patch({ description: null }), { webhook: { ...webhook, types: [], description: "" } });
  const url = `${receiver.url}/changed`;
  expectData(await patch({ url, status: "paused", description: "B" }), {
    webhook: { ...webhook, url, types: [], description: "B", status: "paused" },
  });
  for (const [name, value] of Object.entries({
    url: "https://127.0.0.2/a",
    status: "disabled",
    types: [1],
  })) {
    expectInvalid(await patch({ [name]: value }), name);
  }
  expect(await webhookOf(owner, id)).toMatchObject({ url, description: "B", status: "paused" });
});

test("a test delivery is sent at once and listed, even while the webhook is paused", async () => {
  const { owner } = await newOwner();
  const { id, path, secret, webhook } = await createWebhook(owner);
  await owner.send(`PATCH /dashboard/api/webhooks/${id}`, { body: { status: "paused" } });
  const tested = await owner.send(`POST /dashboard/api/webhooks/${id}/test`);
  const delivery = { ...delivered, type: "test" };
  expectData(tested, { delivery });
  const [received] = receiver.at(path);
  if (received === undefined) throw new Error();
  expect(isSignedWith(secret, received)).toBe(true);
  const { eventId, at } = tested.body.data?.delivery ?? {};
  expect(received.id).toBe(eventId);
  const scope = { pid: webhook.pid, guildId: null };
  expect(received.body).toEqual({ type: "test", timestamp: at, data: {}, scope });
  expect(await deliveriesOf(owner, id)).toEqual([delivery]);
});

test("an account has at most three test deliveries in flight", async () => {
  const { owner } = await newOwner();
  const [one, other] = [await createWebhook(owner), await createWebhook(owner)];
  const send = (id: string) => owner.send(`POST /dashboard/api/webhooks/${id}/test`);
  expectData(await send(other.id), { delivery: { ...delivered, type: "test" } });
  const release = receiver.hold(one.path);
  const held = [1, 2, 3].map(() => send(one.id));
  await receiver.wait(one.path, 3);
  expectConflict(await send(other.id), "test_limit");
  const page = `/dashboard/webhooks/${other.id}`;
  const form = formOf(await owner.browser.get(page));
  const { eventId } = (await deliveriesOf(owner, other.id))[0] ?? {};
  expectConflict(
    await owner.send(`POST /dashboard/api/webhooks/${other.id}/deliveries/${textOf(eventId)}/resend`),
    "test_limit",
  );
  const refused = await owner.browser.post(`${page}/test`, form);
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("three tests")]);

  const { owner: stranger } = await newOwner(bob);
  const theirs = await createWebhook(stranger);
  expect((await stranger.send(`POST /dashboard/api/webhooks/${theirs.id}/test`)).status).toBe(200);

  release();
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await send(other.id)).status).toBe(200);
});

test("deliveries are listed in pages and by status", async () => {
  const { owner } = await newOwner();
  const { id } = await createWebhook(owner);
  for (let count = 0; count < 5; count++) await owner.send(`POST /dashboard/api/webhooks/${id}/test`);
  const path = `GET /dashboard/api/webhooks/${id}/deliveries` as const;
  const all = await deliveriesOf(owner, id);
  const first = dataOf(await owner.send(`${path}?limit=3`));
  const second = dataOf(await owner.send(`${path}?limit=3&cursor=${textOf(first.next)}`));
  expect([...listOf(first.deliveries), ...listOf(second.deliveries)]).toEqual(all);
  expect([all.length, second.next]).toEqual([5, null]);
  expect(await deliveriesOf(owner, id, "?status=given_up")).toEqual([]);
  for (const [name, value] of [
    ["limit", "0"],
    ["limit", "101"],
    ["cursor", "x"],
    ["status", "lost"],
  ] as const) {
    expectInvalid(await owner.send(`${path}?${name}=${value}`), name);
  }
});

test("a webhook is deleted by a form that is sent twice", async () => {
  const { owner } = await newOwner();
  const { id } = await createWebhook(owner);
  const form = { ...formOf(await owner.browser.get(`/dashboard/webhooks/${id}`)), confirm: "true" };
  for (let press = 0; press < 2; press++) {
    const { headers } = await owner.browser.post(`/dashboard/webhooks/${id}/delete`, form);
    expect(headers.location).toBe("/dashboard/webhooks?done=deleted");
  }
});

test("changes of a webhook are in the audit log, without URLs", async () => {
  const { owner } = await newOwner();
  const { id, path } = await createWebhook(owner);
  await owner.send(`PATCH /dashboard/api/webhooks/${id}`, { body: { description: "B" } });
  await owner.send(`POST /dashboard/api/webhooks/${id}/rotate`);
  const remove = () => owner.send(`DELETE /dashboard/api/webhooks/${id}`);
  expectData(await remove(), { deleted: true });
  expectUnknown(await remove());
  expect(await webhookOf(owner, id)).toBeUndefined();
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
