/** Tells the nodes that send webhooks of a change of one. They look for changes every second, too. */
import { Effect } from "effect";
import { forEachSignal, makeAnnounce } from "../signals.ts";

const topic = "webhooks";

/** Makes the effect that tells of a change, without waiting for it. */
export const makeAnnounceChange = Effect.map(makeAnnounce, (announce) => announce(topic, ""));

/** Handles every change of a webhook, on any node, until the scope closes. */
export const forEachWebhookChange = (handle: () => void) => forEachSignal(topic, handle);
