/** Checks the forms of the flow's pages. */
import { Effect } from "effect";
import type { FlowId, Pid, SessionId } from "../ids.ts";
import { Secrets } from "../secrets/secrets.ts";
import { FlowSubjects } from "./flow_subjects.ts";
import { type FlowEntry, FlowRefused } from "./flow_view.ts";
import { type Cookie, makeFindFlow, makeRefuseGone } from "./held_flow.ts";

/** The fields that every form of the flow has. */
export interface FlowForm {
  readonly csrf: string | null;
  /** The session of the page, which can outlive the flow; null without a session. */
  readonly sid: string | null;
}

export const makeFormCheck = Effect.gen(function* () {
  const subjects = yield* FlowSubjects;
  const secrets = yield* Secrets;
  const findFlow = yield* makeFindFlow;
  const refuseGone = yield* makeRefuseGone;

  /** Refuses a form that does not come from a page of this flow. */
  const checkForm = Effect.fnUntraced(function* (
    id: FlowId,
    subject: SessionId | Pid,
    { csrf }: FlowForm,
    entry: FlowEntry,
  ) {
    if (csrf !== (yield* secrets.flowCsrf(id, subject))) {
      return yield* new FlowRefused({ reason: "forged", entry });
    }
  });

  /** Refuses a form of another session. The browser began another verification after the form's page was shown. */
  const checkSession = Effect.fnUntraced(function* (entry: FlowEntry, { sid }: FlowForm) {
    if (sid === null || ("sid" in entry && entry.sid === sid)) return;
    yield* subjects.resolve({ sid });
    return yield* new FlowRefused({ reason: "unfinished", entry: { sid } });
  });

  const refuseForm = (cookie: Cookie, { sid }: FlowForm) => refuseGone(cookie, sid === null ? null : { sid });

  /** Returns the flow that a form belongs to, and its session or scope. */
  const flowOf = Effect.fnUntraced(function* (cookie: Cookie, form: FlowForm) {
    const flow = yield* findFlow(cookie);
    if (flow === null) return yield* refuseForm(cookie, form);
    const { id, session, pid, entry } = flow;
    yield* checkSession(entry, form);
    yield* checkForm(id, session ?? pid, form, entry);
    return { flow, subject: yield* subjects.resolve(entry) };
  });

  return { checkForm, refuseForm, flowOf };
});
