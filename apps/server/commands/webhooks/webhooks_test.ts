import { type HttpAnswer, runUntil, startHttpServer } from "@accountlink/test-servers";
import { Webhook } from "standardwebhooks";
import { expect, it, onTestFinished, vi } from "vitest";
import { makeWorkplace } from "../test_program.ts";

const anEventId = expect.stringMatching(/^evt_[0-9A-Z]{26}$/) as unknown;

/** Starts a server on this machine that receives webhooks, and that answers 200 by default. */
const startReceiver = (answer: () => HttpAnswer = () => ({})) =>
  runUntil(onTestFinished)(startHttpServer(answer));

const patience = { timeout: 30_000, interval: 250 };

const open = { ACCOUNTLINK_WEBHOOK_NETWORKS: "127.0.0.0/8" };

it("commands create, list, change, test and delete webhooks", async () => {
  const { run, json, dataFolder: folder } = await makeWorkplace(open);
  const { url, heard } = await startReceiver();
  await json("keys", "create", "--account", "acme");
  const created = await json("webhooks", "create", "--account", "acme", "--url", `${url}/a`);
  const { secret, id, pid, createdAt } = created;
  const webhook = {
    id: expect.stringMatching(/^wh_[0-9A-Za-z]{20}$/) as unknown,
    url: `${url}/a`,
    account: "acme",
    scope: "global",
    guildId: null,
    pid,
    types: [],
    description: "",
    status: "active",
    disabledReason: null,
    createdAt,
    lastDeliveredAt: null,
    failingSince: null,
    pending: 0,
  };
  expect(created).toEqual({ ...webhook, secret, folder });
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(await json("webhooks", "list")).toEqual({ webhooks: [webhook] });
  expect(await json("webhooks", "list", "--account", "other")).toEqual({ webhooks: [] });
  expect((await run("webhooks", "list")).stdout).toMatch(
    /^WEBHOOK +ACCOUNT +SCOPE +URL +STATUS +PENDING +LAST DELIVERED\nwh_\w+ +acme +global +http/,
  );

  const name = String(id);
  const changes = ["--type", "link.set", "--description", "Ours", "--status", "paused"];
  const changed = { types: ["link.set"], description: "Ours", status: "paused" };
  expect(await json("webhooks", "update", name, ...changes)).toEqual({ ...webhook, ...changed, folder });
  expect(await json("webhooks", "update", name, "--all-types")).toMatchObject({ types: [] });

  const aTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as unknown;
  const delivery = {
    eventId: anEventId,
    type: "test",
    at: aTime,
    attempts: 1,
    attemptedAt: aTime,
    answeredAt: aTime,
    status: "delivered",
    responseStatus: 200,
    responseType: "application/json",
    error: null,
    nextAttemptAt: null,
  };
  expect(await json("webhooks", "test", name)).toEqual({ id, delivery });
  const [request] = heard;
  const verifier = new Webhook(String(secret));
  expect(
    verifier.verify(request?.body ?? "", { ...request?.headers } as Record<string, string>),
  ).toMatchObject({ type: "test" });
  expect(await json("webhooks", "deliveries", name)).toEqual({ deliveries: [delivery], next: null });
  expect(await json("webhooks", "deliveries", name, "--status", "failing")).toEqual({
    deliveries: [],
    next: null,
  });
  expect((await run("webhooks", "deliveries", name)).stdout).toMatch(
    /^EVENT +TYPE +AT +STATUS +ATTEMPTS +ANSWER +NEXT ATTEMPT\nevt_\w+ +test +\S+ +delivered +1 +200 +none\n$/,
  );

  const { file } = await json("backup", `${folder}-backups`);
  await json("restore", "--replace", String(file));
  expect(await json("webhooks", "test", name)).toEqual({
    error: expect.stringContaining("acts on nobody") as unknown,
  });
  expect(heard.length).toBe(1);

  expect(await run("webhooks", "delete", name)).toEqual({
    code: 0,
    stdout: `Deleted ${name} in data folder "${folder}"\n`,
    stderr: "",
  });
  expect(await json("webhooks", "list")).toEqual({ webhooks: [] });
  for (const command of ["delete", "rotate", "test"]) {
    expect(await json("webhooks", command, name)).toEqual({
      error: `Cannot ${command} ${name}: there is no such webhook`,
    });
  }
});

it("`webhooks create` refuses addresses that are not public, and a sixth webhook in a scope", async () => {
  const { json } = await makeWorkplace();
  const create = (url: string) => json("webhooks", "create", "--account", "acme", "--url", url);
  await json("keys", "create", "--account", "acme");
  expect(await create("https://10.0.0.1/a")).toEqual({
    error: "Cannot create the webhook: url: expected an address of the public internet",
  });
  expect(await create("http://example.invalid/a")).toEqual({
    error: "Cannot create the webhook: url: expected an https URL",
  });
  for (let count = 0; count < 5; count++) await create("https://example.invalid/a");
  expect(await create("https://example.invalid/a")).toEqual({
    error: "Cannot create the webhook: its scope has as many as it may",
  });
});

it("commands rotate the secret of a webhook, send waiting events at once, and resend an event", async () => {
  const { json, run, serve, file } = await makeWorkplace(open);
  let answer: HttpAnswer = { status: 503, headers: { "retry-after": "3600" } };
  const { url, heard } = await startReceiver(() => answer);
  await serve();
  const { id } = await json("webhooks", "create", "--account", "acme", "--url", url);
  const name = String(id);
  const path = await file("links.csv", "chatId,gameId\n100001,1\n");
  await run("links", "import", path, "--account", "acme");
  const only = async () => {
    const { deliveries } = await json("webhooks", "deliveries", name);
    return (deliveries as ReadonlyArray<Record<string, unknown>>)[0];
  };
  const failing = await vi.waitFor(async () => {
    const delivery = await only();
    expect(delivery).toMatchObject({ status: "failing", attempts: 1 });
    return delivery;
  }, patience);

  const { secret: next, ...rotated } = await json("webhooks", "rotate", name);
  expect(rotated).toMatchObject({ id, status: "active" });
  const { stdout: newest } = await run("webhooks", "rotate", name);
  expect(newest).toMatch(/^whsec_[A-Za-z0-9+/]{43}=\n$/);
  answer = { status: 204 };
  expect(await json("webhooks", "send-pending", name)).toMatchObject({ id, pending: 1 });
  await vi.waitFor(
    async () => expect(await only()).toMatchObject({ status: "delivered", attempts: 2 }),
    patience,
  );
  const last = heard.at(-1);
  for (const signing of [next, newest.trim()]) {
    new Webhook(String(signing)).verify(last?.body ?? "", { ...last?.headers } as Record<string, string>);
  }

  const event = String(failing?.["eventId"]);
  expect(await json("webhooks", "resend", name, event)).toMatchObject({
    id,
    delivery: { eventId: event, status: "delivered", attempts: 3, responseStatus: 204 },
  });
  expect(await json("webhooks", "resend", name, "evt_1")).toEqual({
    error: `Cannot resend evt_1: ${name} has no such delivery`,
  });

  answer = { status: 500 };
  for (const words of [
    ["test", name],
    ["resend", name, event],
  ]) {
    expect(await run("webhooks", ...words)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("was answered 500") as unknown,
    });
  }
});
