import { runUntil, startHttpServer } from "@accountlink/test-servers";
import { afterAll, expect, it, vi } from "vitest";
import { type Kv, kv } from "./kv.ts";
import { createAccountLink } from "./mod.ts";
import { postgres } from "./postgres.ts";
import { sendWebhooks } from "./send_webhooks.ts";
import { sqlite } from "./sqlite.ts";

/** The timeout is long, because the machine may be busy. */
const patience = { timeout: 30_000 } as const;

const { url, heard } = await runUntil(afterAll)(startHttpServer(() => ({ status: 204 })));

const open = () =>
  createAccountLink({ gameUserExists: () => true, webhooks: sendWebhooks({ networks: ["127.0.0.0/8"] }) });

const invalid = (name: string, reason: string) => ({
  _tag: "InvalidParameter",
  parameters: [{ name, reason }],
});

it("a webhook receives the events of its scope, and resend sends one of the events again", async () => {
  const al = await open();
  const { webhook } = await al.webhooks.create({ url, types: ["link.set"] });
  await al.links.set("100001", "1");
  await al.links.delete("100001");
  await vi.waitFor(() => expect(heard).toHaveLength(1), patience);
  const told: unknown = JSON.parse(heard[0]?.body ?? "");
  expect(told).toMatchObject({ type: "link.set", data: { chatId: "100001", gameId: "1" } });
  const delivered = () => al.webhooks.deliveries(webhook.id, { status: "delivered" });
  await vi.waitFor(async () => expect((await delivered()).deliveries).toHaveLength(1), patience);
  const [delivery] = (await delivered()).deliveries;
  expect(await al.webhooks.resend(webhook.id, delivery?.eventId ?? "")).toMatchObject({
    status: "delivered",
    attempts: 2,
  });
  expect(heard[1]?.body).toEqual(heard[0]?.body);
  await al.webhooks.delete(webhook.id);
  expect(await al.webhooks.list()).toEqual([]);
  await al.close();
});

it("an update changes only fields that the owner may change, even for untyped callers", async () => {
  const al = await open();
  const { webhook } = await al.webhooks.create({ url, types: ["link.set"] });
  const passedOn: object = { status: "paused", sealed: "a secret", previousUntil: 0, disabledReason: "gone" };
  expect(await al.webhooks.update(webhook.id, passedOn)).toMatchObject({
    status: "paused",
    disabledReason: null,
  });
  await al.close();
});

it("calls for an unknown webhook or an unknown event are refused", async () => {
  const al = await open();
  const { webhook } = await al.webhooks.create({ url });
  const nobody = `wh_${"0".repeat(20)}`;
  const noWebhook = invalid("id", `is "${nobody}", expected a webhook of the scope`);
  await expect(al.webhooks.update(nobody, { status: "paused" })).rejects.toMatchObject(noWebhook);
  await expect(al.webhooks.resend(nobody, "evt_1")).rejects.toMatchObject(noWebhook);
  await expect(al.webhooks.resend(webhook.id, "evt_1")).rejects.toMatchObject(
    invalid("eventId", 'is "evt_1", expected the event of a delivery that is kept'),
  );
  await al.close();
});

const database = (options: object) => ({ storage: postgres("postgres://127.0.0.1:1/links", options) });
it.each<[problem: string, options: object]>([
  ["sendWebhooks.network is unknown", { webhooks: sendWebhooks({ network: ["10.0.0.0/8"] } as object) }],
  ['sendWebhooks.networks.0 is "10.0"', { webhooks: sendWebhooks({ networks: ["10.0"] }) }],
  ["postgres.redisUrl is unknown", database({ redisUrl: "redis://127.0.0.1:1" })],
  [
    "postgres.redis.commandTimeOut is unknown",
    database({ redis: { url: "redis://127.0.0.1:1", commandTimeOut: 1 } }),
  ],
  ["postgres.redis.url expected well-formed text", database({ redis: "redis://:secret\0@127.0.0.1:1" })],
  ['postgres.connectTimeout is "5 moons"', database({ connectTimeout: "5 moons" })],
  ["storage has no folder", { storage: sqlite(undefined as unknown as string) }],
  ["storage has an engine without get, list, count, commit", { storage: kv({} as Kv) }],
])("createAccountLink rejects: %s", async (problem, options) => {
  const opened = createAccountLink({ gameUserExists: () => true, secret: new Uint8Array(32), ...options });
  await expect(opened).rejects.toThrow(`Cannot create accountlink: ${problem}`);
});
