/** Forwards the events of a key to a local address, for receivers of webhooks that are still being written. */
import { createClient, type FollowedEvent } from "@accountlink/client";
import { reasonOf } from "@accountlink/core/errors";
import { webhookSignature } from "@accountlink/core/secrets";
import { headersOf, signedText, WebhookSender } from "@accountlink/core/webhooks";
import { NodeWebhookSender } from "accountlink/webhook_sender";
import { Clock, Effect, Result } from "effect";
import { Flag } from "effect/cli";
import { Base64 } from "effect/encoding";
import { IpNetwork } from "effect/net";
import { textFlag } from "../cli/flags.ts";
import { Invocation } from "../cli/invocation.ts";
import { answer } from "../cli/output.ts";
import { CommandFailed } from "../cli/report.ts";
import { isLocal } from "../config/config_warnings.ts";
import { cryptoLayer } from "../secrets/crypto_layer.ts";
import { describe, single } from "./command.ts";

const isLocalUrl = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && isLocal(url);
};

const flags = {
  forward: textFlag(
    "forward",
    isLocalUrl,
    "an http address of this machine, such as http://localhost:3000/hook",
  ).pipe(Flag.withMetavar("url"), Flag.withDescription("Where to send each event, on this machine")),
};

export const listenCommand = single("listen", flags, function* ({ forward }) {
  const sender = NodeWebhookSender.layer({ networks: thisMachine });
  yield* Effect.provide(listen(forward), [sender, cryptoLayer]);
}).pipe(
  describe(
    [
      "Send each new event of a key's scope to an address of this machine, as a webhook does, and " +
        "print the answers. For a receiver that has no public address yet.",
      "ACCOUNTLINK_KEY is the key, ACCOUNTLINK_URL the service (default: http://127.0.0.1:8080). The " +
        "secret of the signatures is always the same for a key. Each event is sent once.",
    ],
    { "accountlink listen --forward http://127.0.0.1:3000/hook": "Try a receiver of webhooks" },
  ),
);

const thisMachine = ["127.0.0.0/8", "::1/128"].map((text) => Result.getOrThrow(IpNetwork.fromString(text)));

const listen = Effect.fnUntraced(function* (forward: string) {
  const { environment } = yield* Invocation;
  const { ACCOUNTLINK_URL: url = "http://127.0.0.1:8080", ACCOUNTLINK_KEY: key } = environment;
  if (key === undefined) {
    return yield* new CommandFailed({
      problem: "Cannot listen: ACCOUNTLINK_KEY is not set, expected an API key",
    });
  }
  const client = yield* Effect.try({ try: () => createClient({ url, key }), catch: failed });
  // This read fails if the service is away or refuses the key. Later reads wait until the service is back.
  const { cursor } = yield* Effect.tryPromise({
    try: () => client.events.read({ limit: 1, retryFor: 0 }),
    catch: failed,
  });
  const secret = yield* webhookSignature(new TextEncoder().encode(key), "accountlink listen");
  const bytes = yield* Effect.fromResult(Base64.decode(secret));
  yield* answer(
    { url, forward, secret: `whsec_${secret}` },
    `Forwarding the events of ${url} to ${forward}, signed with whsec_${secret}`,
  );
  const stop = new AbortController();
  const events = client.events({ cursor, signal: stop.signal });
  const next = Effect.tryPromise({ try: () => events.next(), catch: failed }).pipe(
    Effect.onInterrupt(() => Effect.sync(() => stop.abort())),
  );
  while (true) {
    const { value } = yield* next;
    if (value !== undefined) yield* send(forward, bytes, value);
  }
});

const failed = (error: unknown) =>
  new CommandFailed({ problem: `Cannot read the events: ${reasonOf(error)}` });

const send = Effect.fnUntraced(function* (url: string, secret: Uint8Array, event: FollowedEvent) {
  const { id, type, at, data } = event;
  const sender = yield* WebhookSender;
  const begun = yield* Clock.currentTimeMillis;
  const body = JSON.stringify({ type, timestamp: at, data, scope: unknownScope });
  const signature = yield* webhookSignature(secret, signedText(id, begun, body));
  const result = yield* sender.send({ url, headers: headersOf(id, begun, `v1,${signature}`), body }).pipe(
    Effect.match({
      onSuccess: ({ status }) => ({ status, error: null }),
      onFailure: ({ error }) => ({ status: null, error }),
    }),
  );
  const ms = (yield* Clock.currentTimeMillis) - begun;
  const outcome = result.status ?? `no answer (${result.error})`;
  yield* answer({ id, type, ...result, ms }, `${type}  ${id}  ${outcome}  ${ms} ms`);
});

/** The feed names neither the ID nor the guild of its scope. */
const unknownScope = { pid: `pid_${"0".repeat(20)}`, guildId: null };
