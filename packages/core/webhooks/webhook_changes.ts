/**
 * Tells the nodes that send webhooks of a change of one. They look for changes every second, too.
 */
import { Effect } from "effect";
import { forEachSignal, type Signals } from "../signals.ts";

const topic = "webhooks";

/** Makes the effect that tells of a change, without waiting for it. */
export const makeAnnounceChange = ({ publish }: Signals["Service"]) =>
  Effect.map(Effect.scope, (scope) =>
    publish(topic, "").pipe(Effect.ignore, Effect.forkIn(scope, { startImmediately: true }), Effect.asVoid),
  );

/** Handles every change of a webhook, on any node, until the scope closes. */
export const forEachWebhookChange = (handle: () => void) => forEachSignal(topic, handle);
