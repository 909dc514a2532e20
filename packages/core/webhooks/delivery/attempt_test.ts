import { assert, it, testWith } from "@accountlink/test-servers/effect";
import { makeDelivery, makeWebhook, uniqueWebhookId } from "@accountlink/testing";
import { Effect } from "effect";
import { Webhook as Verifier } from "standardwebhooks";
import { Secrets } from "../../secrets/secrets.ts";
import { scopes, services } from "../../test_services.ts";
import type { StoredDelivery } from "../webhook.ts";
import { type WebhookRequest, WebhookSender } from "../webhook_sender.ts";
import { resent } from "../webhook_store.ts";
import { attempted, makeAttempt } from "./attempt.ts";

const secretOf = (index: number) => new Uint8Array(32).fill(index);

testWith(services)("an attempt is signed with every active secret, the newest first", function* () {
  const { guild } = yield* scopes;
  const { sealWebhookSecret } = yield* Secrets;
  const webhook = makeWebhook(guild);
  const secrets = yield* Effect.forEach([0, 1, null], (endsAt, index) =>
    Effect.map(sealWebhookSecret(webhook.id, secretOf(index)), (sealed) => ({ sealed, endsAt })),
  );
  let sent = { url: "", headers: {}, body: "" } as WebhookRequest;
  const sender = {
    problemOf: () => Effect.succeed(null),
    send: (request: WebhookRequest) => {
      sent = request;
      return Effect.succeed({ status: 200, retryAfter: null });
    },
  };
  const attempt = yield* Effect.provideService(makeAttempt, WebhookSender, sender);
  yield* attempt({ ...webhook, secrets }, { id: "evt_1", type: "link.set", at: 2_000, data: {} });
  const signatureOf = (index: number) =>
    new Verifier(Buffer.from(secretOf(index)).toString("base64")).sign("evt_1", new Date(0), sent.body);
  assert.strictEqual(sent.headers["webhook-signature"], `${signatureOf(2)} ${signatureOf(1)}`);
});

const answered = (status: number) => ({
  status,
  retryAfter: null,
  error: status < 300 ? null : ("status" as const),
  type: null,
  attemptedAt: 900,
  endedAt: 1_000,
});

const requested = (delivery: StoredDelivery, status: number) => ({
  ...answered(status),
  id: uniqueWebhookId(),
  delivery,
});

it("a delivery that was resent on request keeps its schedule, which ends after eight attempts", () => {
  const failing = makeDelivery({ attempts: 2, nextAttemptAt: 9_000, lanes: ["a"] });
  const again = resent(requested(failing, 500));
  assert.include(again, { status: "failing", attempts: 3, resends: 1, nextAttemptAt: 9_000 });
  assert.strictEqual(attempted(again, answered(500), 0.5).nextAttemptAt, 1_000 + 1_800_000);
  const last = attempted({ ...failing, attempts: 7 }, answered(500), 0.5);
  assert.deepEqual([last.status, last.nextAttemptAt, last.lanes], ["given_up", null, []]);
  const delivered = makeDelivery({ status: "delivered", nextAttemptAt: null });
  assert.include(resent(requested(delivered, 500)), { status: "given_up", nextAttemptAt: null });
  assert.include(resent(requested(failing, 200)), { status: "delivered", nextAttemptAt: null });
});
