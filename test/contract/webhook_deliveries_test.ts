import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { formOf, wordsOf } from "../support/flow_browser.ts";
import { textOf } from "../support/http.ts";
import { expectData, isoTime } from "./contract_server.ts";
import { isSignedWith } from "./webhook_receiver.ts";
import { anEventId, delivered, deliveriesOf, newUser, useWebhooks, webhookOf } from "./webhooks.ts";

const { receiver, createWebhook, newOwner } = await useWebhooks();

test("a delivery conforms to Standard Webhooks, and is listed", async () => {
  const user = newUser();
  const { owner, link } = await newOwner();
  const { id, path, secret, webhook } = await createWebhook(owner);
  await link(user, "1");
  const [received] = await receiver.wait(path, 1);
  if (received === undefined) throw new Error();
  expect(isSignedWith(secret, received)).toBe(true);
  expect(isSignedWith(`whsec_${Buffer.alloc(32).toString("base64")}`, received)).toBe(false);
  expect(received.headers).toMatchObject({
    "webhook-id": anEventId,
    "webhook-timestamp": expect.stringMatching(/^\d{10}$/) as unknown,
    "webhook-signature": expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/) as unknown,
  });
  expect(received.body).toEqual({
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
  const delivery = { ...delivered, eventId: received.id, type: "link.set", at: received.body.timestamp };
  await eventually(async () => expect(await deliveriesOf(owner, id)).toEqual([delivery]));
  expect(await webhookOf(owner, id)).toMatchObject({ lastDeliveredAt: isoTime, pending: 0 });
});

test("after several rotations, the last two secrets sign", async () => {
  const { owner, link } = await newOwner();
  const { id, path, secret } = await createWebhook(owner);
  const secrets = [secret];
  for (let rotation = 0; rotation < 3; rotation++) {
    const { body } = await owner.send(`POST /dashboard/api/webhooks/${id}/rotate`);
    secrets.push(textOf(body.data?.secret));
  }
  await link(newUser(), "1");
  const [received] = await receiver.wait(path, 1);
  expect(secrets.map((each) => received && isSignedWith(each, received))).toEqual([false, false, true, true]);
});

test("a failing delivery can be resent by its owner", async () => {
  const user = newUser();
  const { owner, link } = await newOwner();
  const { id, path } = await createWebhook(owner);
  receiver.answer(path, 302);
  await link(user, "1");
  const failing = await eventually(async () => {
    const [delivery] = await deliveriesOf(owner, id, "?status=failing");
    const failed = { status: "failing", responseStatus: 302, error: "status", nextAttemptAt: isoTime };
    expect(delivery).toEqual({ ...delivered, type: "link.set", ...failed });
    return delivery;
  });
  expect(await webhookOf(owner, id)).toMatchObject({ failingSince: isoTime, pending: 1, status: "active" });
  expect(wordsOf(await owner.browser.get("/dashboard"))).toMatch(
    /The webhook [\w.:]+ has been failing since .* UTC\.\s+1 event waits\./,
  );
  const page = async () => wordsOf(await owner.browser.get(`/dashboard/webhooks/${id}`));
  expect(await page()).toContain("Nothing more is sent, and 1 waiting event is lost.");
  const told = "It counts as failing until a delivery arrives: when your server works again, send a test.";
  expect(await page()).toContain(told);
  receiver.answer(path, 200);
  const eventId = textOf(failing?.eventId);
  const resent = await owner.send(`POST /dashboard/api/webhooks/${id}/deliveries/${eventId}/resend`);
  const delivery = { ...failing, attempts: 2, status: "delivered", responseStatus: 200, error: null };
  expectData(resent, { delivery: { ...delivery, nextAttemptAt: null } });
  expect(await deliveriesOf(owner, id, "?status=failing")).toEqual([]);
  expect(await webhookOf(owner, id)).toMatchObject({ failingSince: null, pending: 0 });
  expect(await page()).not.toContain(told);
});

test("an owner can send pending deliveries at once, by a form or JSON", async () => {
  const user = newUser();
  const { owner, link } = await newOwner();
  const { id, path } = await createWebhook(owner);
  receiver.answer(path, 503, { "retry-after": "3600" });
  await link(user, "1");
  await link(user, "2");
  await eventually(async () =>
    expect(await deliveriesOf(owner, id, "?status=failing")).toMatchObject([{ attempts: 1 }]),
  );
  receiver.answer(path, 200);
  const page = `/dashboard/webhooks/${id}`;
  const pending = await owner.browser.get(page);
  expect(pending.text).toContain("Send what waits now");
  const sent = await owner.browser.post(`${page}/send-pending`, formOf(pending));
  expect([sent.status, sent.headers.location]).toEqual([303, `${page}?done=pendingSent`]);
  const received = await receiver.wait(path, 3);
  expect(received.map(({ body }) => body.data["gameId"])).toEqual(["1", "1", "2"]);
  await eventually(async () => expect(await webhookOf(owner, id)).toMatchObject({ pending: 0 }));
  expect((await owner.browser.get(page)).text).not.toContain("Send what waits now");
  expectData(await owner.send(`POST /dashboard/api/webhooks/${id}/send-pending`), {
    webhook: expect.objectContaining({ id, status: "active", pending: 0 }),
  });
});
