/** Signals webhook changes to the sending nodes, which also look for changes every second. */
import { Effect } from "effect";
import { forEachSignal, makeAnnounce } from "../signals.ts";

const topic = "webhooks";

/** Makes an effect that signals a change in the background. */
export const makeAnnounceChange = Effect.map(makeAnnounce, (announce) => announce(topic, ""));

/** Handles every change of a webhook, on any node, until the scope closes. */
export const forEachWebhookChange = (handle: () => void) => forEachSignal(topic, handle);
