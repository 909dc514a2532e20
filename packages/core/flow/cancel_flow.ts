import { Clock, Effect, Option } from "effect";
import { SessionStore } from "../sessions/session_store.ts";
import { SessionWatch } from "../sessions/session_watch.ts";
import { type Cookie, makeFlowId } from "./flow_cookie.ts";
import { type FlowForm, makeFormChecks } from "./flow_form.ts";
import { FlowStore } from "./flow_store.ts";
import { FlowSubjects, refuseOver } from "./flow_subjects.ts";
import { belongsTo, lastEntryOf, makeFindFlow } from "./held_flow.ts";
import { withOutcome } from "./redirect_outcome.ts";

export const makeCancel = Effect.gen(function* () {
  const flows = yield* FlowStore;
  const subjects = yield* FlowSubjects;
  const sessions = yield* SessionStore;
  const watch = yield* SessionWatch;
  const forms = yield* makeFormChecks;
  const findFlow = yield* makeFindFlow;
  const idOf = yield* makeFlowId;

  return Effect.fn("VerificationFlows.cancel")(function* (cookie: Cookie, form: FlowForm) {
    const held = yield* findFlow(cookie);
    const entry = form.sid === null ? yield* lastEntryOf(held, cookie) : { sid: form.sid };
    // Without a flow and without a session, there is nothing to cancel.
    const isNothing = entry === null || (held === null && !("sid" in entry));
    if (cookie === null || isNothing) return yield* forms.refuse(cookie, form);
    const subject = yield* subjects.resolve(entry);
    const { session, pid, guildId, redirect, sid } = subject;
    const ended = { entry, guildId, redirect: redirect && withOutcome(redirect, sid, "cancelled") };
    yield* forms.check(yield* idOf(cookie), session ?? pid, form);
    if (held !== null && belongsTo(held, subject)) yield* flows.end(held.id);
    if (session === null) return ended;
    const at = yield* Clock.currentTimeMillis;
    const cancelled = yield* sessions.advance({ id: session, to: "cancelled", at });
    if (Option.isNone(cancelled)) return ended;
    if (!cancelled.value.changed) return yield* refuseOver(cancelled.value.session, entry);
    yield* watch.announce([session]);
    return ended;
  });
});
