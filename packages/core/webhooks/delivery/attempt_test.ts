import { assert, it, testWith } from "@accountlink/test-servers/effect";
import { makeDelivery, makeWebhook, uniqueWebhookId } from "@accountlink/testing";
import { Effect } from "effect";
import { Webhook as Verifier } from "standardwebhooks";
import { Secrets } from "../../secrets/secrets.ts";
import { scopes, services } from "../../test_services.ts";
import type { StoredWebhook } from "../webhook.ts";
import { type WebhookRequest, WebhookSender } from "../webhook_sender.ts";
import { resent, type StoredDelivery } from "../webhook_store.ts";
import { attempted, makeAttempt } from "./attempt.ts";

const secretOf = (byte: number) => new Uint8Array(32).fill(byte);
const textOf = (byte: number) => `whsec_${Buffer.from(secretOf(byte)).toString("base64")}`;

/** Sends an event to a webhook whose secrets end at the given times, and returns the request. */
const sentWith = Effect.fnUntraced(function* (ends: ReadonlyArray<number | null>) {
  const { guild } = yield* scopes;
  const { sealWebhookSecret } = yield* Secrets;
  const webhook = makeWebhook(guild);
  const secrets = yield* Effect.forEach(ends, (endsAt, index) =>
    Effect.map(sealWebhookSecret(webhook.id, secretOf(index)), (sealed) => ({ sealed, endsAt })),
  );
  const sent: Array<WebhookRequest> = [];
  const sender = {
    problemOf: () => Effect.succeed(null),
    send: (request: WebhookRequest) => {
      sent.push(request);
      return Effect.succeed({ status: 200, retryAfter: null });
    },
  };
  const attempt = yield* Effect.provideService(makeAttempt, WebhookSender, sender);
  const stored: StoredWebhook = { ...webhook, secrets };
  const data = { chatId: "100001", gameId: "1", lastVerifiedAt: 1_000 };
  yield* attempt(stored, { id: "evt_1", type: "link.set", at: 2_000, data });
  return { guild, request: sent[0] as WebhookRequest };
});

const verifies = (secret: string, { headers, body }: WebhookRequest): boolean => {
  try {
    // Compare signatures, because `verify` refuses the time of the test clock, which is far in the past.
    const verifier = new Verifier(secret);
    const signature = verifier.sign(headers["webhook-id"] ?? "", new Date(0), body);
    return (headers["webhook-signature"] ?? "").split(" ").includes(signature);
  } catch {
    return false;
  }
};

const test = testWith(services);

test("an attempt has the body and the headers of Standard Webhooks", function* () {
  const { guild, request } = yield* sentWith([null]);
  assert.deepEqual(JSON.parse(request.body), {
    type: "link.set",
    timestamp: "1970-01-01T00:00:02.000Z",
    data: { chatId: "100001", gameId: "1", lastVerifiedAt: "1970-01-01T00:00:01.000Z" },
    scope: { pid: guild.pid, guildId: guild.kind === "guild" ? guild.guildId : null },
  });
  assert.include(request.headers, { "webhook-id": "evt_1", "webhook-timestamp": "0" });
  assert.isTrue(verifies(textOf(0), request));
  assert.isFalse(verifies(textOf(1), request));
});

test("an attempt is signed with every active secret, the newest first", function* () {
  const { request } = yield* sentWith([0, 1, null]);
  const signatures = (request.headers["webhook-signature"] ?? "").split(" ");
  assert.lengthOf(signatures, 2);
  assert.deepEqual(
    [0, 1, 2].map((byte) => verifies(textOf(byte), request)),
    [false, true, true],
  );
});

const answered = (status: number | null, retryAfter: number | null = null) => ({
  status,
  retryAfter,
  error: status === null ? ("timeout" as const) : status < 300 ? null : ("status" as const),
  type: null,
  attemptedAt: 900,
  endedAt: 1_000,
});

it("an attempt's result decides whether its delivery succeeds, is tried again, or is given up", () => {
  const delivery = makeDelivery({ attempts: 0, lanes: ["a"] });
  const delivered = attempted(delivery, answered(204), 0.5);
  assert.include(delivered, { status: "delivered", attempts: 1, responseStatus: 204, error: null });
  assert.deepEqual([delivered.nextAttemptAt, delivered.lanes], [null, []]);
  const failing = attempted(delivery, answered(null), 0.5);
  assert.include(failing, { status: "failing", error: "timeout", responseStatus: null });
  assert.deepEqual([failing.nextAttemptAt, failing.lanes], [6_000, ["a"]]);
  const over = attempted({ ...delivery, attempts: 7 }, answered(500), 0.5);
  assert.deepEqual([over.status, over.nextAttemptAt, over.lanes], ["given_up", null, []]);
});

const requested = (delivery: StoredDelivery, status: number) => ({
  ...answered(status),
  id: uniqueWebhookId(),
  delivery,
});

it("a delivery that was resent on request keeps its schedule", () => {
  const failing = makeDelivery({ attempts: 2, nextAttemptAt: 9_000, lanes: ["a"] });
  const again = resent(requested(failing, 500));
  assert.include(again, { status: "failing", attempts: 3, resends: 1, nextAttemptAt: 9_000 });
  assert.strictEqual(attempted(again, answered(500), 0.5).nextAttemptAt, 1_000 + 1_800_000);
  const delivered = makeDelivery({ status: "delivered", nextAttemptAt: null });
  assert.include(resent(requested(delivered, 500)), { status: "given_up", nextAttemptAt: null });
  assert.include(resent(requested(failing, 200)), { status: "delivered", nextAttemptAt: null });
});
