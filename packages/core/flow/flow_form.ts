/** The forms of a page: confirm and cancel. */
import { Effect } from "effect";
import type { FlowId, Pid, SessionId } from "../ids.ts";
import { Secrets } from "../secrets/secrets.ts";
import type { Cookie } from "./flow_cookie.ts";
import { FlowRefused } from "./flow_refusal.ts";
import { FlowSubjects } from "./flow_subjects.ts";
import { refuseGone } from "./held_flow.ts";

/** What the form of a page sends. */
export interface FlowForm {
  readonly csrf: string | null;
  /** The session of the page, which outlives the flow; null without one. */
  readonly sid: string | null;
  /** Of a confirmation: whether the user keeps the link that they have. */
  readonly keeps?: boolean;
}

export const makeFormChecks = Effect.gen(function* () {
  const subjects = yield* FlowSubjects;
  const secrets = yield* Secrets;

  /** Refuses a form that is not of a page of this flow. */
  const check = Effect.fnUntraced(function* (id: FlowId, subject: SessionId | Pid, { csrf }: FlowForm) {
    if (csrf !== (yield* secrets.flowCsrf(id, subject))) {
      return yield* new FlowRefused({ reason: "forged", entry: null });
    }
  });

  /** Refuses a form whose flow is gone, with the outcome of its session if that has ended. */
  const refuse = Effect.fnUntraced(function* (cookie: Cookie, { sid }: FlowForm) {
    if (sid !== null) yield* subjects.resolve({ sid });
    return yield* refuseGone(cookie, sid === null ? null : { sid });
  });

  return { check, refuse };
});
