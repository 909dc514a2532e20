import { Effect } from "effect";
import type { FlowId, Pid, SessionId } from "../ids.ts";
import { Secrets } from "../secrets/secrets.ts";
import type { Cookie } from "./flow_cookie.ts";
import { FlowRefused } from "./flow_refusal.ts";
import { FlowSubjects } from "./flow_subjects.ts";
import type { FlowEntry } from "./flow_view.ts";
import { refuseGone } from "./held_flow.ts";

/** The fields that a page's form sends to confirm or cancel the verification. */
export interface FlowForm {
  readonly csrf: string | null;
  /** The session of the page, which can outlive the flow; null without a session. */
  readonly sid: string | null;
  /** Whether a confirmation keeps the user's existing link. */
  readonly keeps?: boolean;
}

export const makeFormChecks = Effect.gen(function* () {
  const subjects = yield* FlowSubjects;
  const secrets = yield* Secrets;

  /** Refuses a form that does not come from a page of this flow. */
  const check = Effect.fnUntraced(function* (id: FlowId, subject: SessionId | Pid, { csrf }: FlowForm) {
    if (csrf !== (yield* secrets.flowCsrf(id, subject))) {
      return yield* new FlowRefused({ reason: "forged", entry: null });
    }
  });

  /** Refuses a form of another session. The browser began another verification after the form's page was shown. */
  const checkSession = Effect.fnUntraced(function* (entry: FlowEntry, { sid }: FlowForm) {
    if (sid === null || ("sid" in entry && entry.sid === sid)) return;
    yield* subjects.resolve({ sid });
    return yield* new FlowRefused({ reason: "unfinished", entry: { sid } });
  });

  /** Refuses a form whose flow is gone. If the form's session has ended, the refusal says how the session ended. */
  const refuse = Effect.fnUntraced(function* (cookie: Cookie, { sid }: FlowForm) {
    if (sid !== null) yield* subjects.resolve({ sid });
    return yield* refuseGone(cookie, sid === null ? null : { sid });
  });

  return { check, checkSession, refuse };
});
