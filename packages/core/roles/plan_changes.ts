/** Signals changes of role plans to the nodes that work on them, which also look for changes every second. */
import { Effect } from "effect";
import { forEachSignal, makeAnnounce } from "../signals.ts";

const topic = "role_plans";

/** Makes an effect that signals a change in the background. */
export const makeAnnouncePlanChange = Effect.map(makeAnnounce, (announce) => announce(topic, ""));

/** Handles every change of a plan, on any node, until the scope closes. */
export const forEachPlanChange = (handle: () => void) => forEachSignal(topic, handle);
