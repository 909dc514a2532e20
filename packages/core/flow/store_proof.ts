import { Clock, Effect, Option } from "effect";
import { SecureRandom } from "effect/crypto";
import { Secrets } from "../secrets/secrets.ts";
import { FlowStore, isVoided, type Proof, type VerificationFlow } from "./flow_store.ts";
import type { FlowSubject } from "./flow_subjects.ts";
import { type FlowEntry, FlowRefused } from "./flow_view.ts";
import {
  type Cookie,
  deadlineOf,
  flowIdOf,
  type HeldFlow,
  makeFindFlow,
  makeRefuseGone,
  newCookie,
  withEntry,
} from "./held_flow.ts";

/** Makes a function that stores a proof, and gives the browser a new cookie. */
export const makeProve = Effect.gen(function* () {
  const flows = yield* FlowStore;
  const secrets = yield* Secrets;
  const random = yield* SecureRandom.SecureRandom;
  const findFlow = yield* makeFindFlow;
  const refuseGone = yield* makeRefuseGone;

  return Effect.fnUntraced(function* ({ id, entry, expiresAt }: HeldFlow, proof: Proof, held: Cookie) {
    const cookie = withEntry(yield* newCookie(random, expiresAt), entry);
    const now = yield* Clock.currentTimeMillis;
    const proven = yield* flows.prove(id, proof, now, yield* flowIdOf(secrets, cookie));
    if (Option.isNone(proven)) {
      if (proof.step === "game") yield* checkChatProof(yield* findFlow(held), entry, held);
      return yield* refuseGone(held, entry);
    }
    return { entry, cookie };
  });
});

/** Refuses to prove a game account before the chat account, and after the flow of the cookie has expired. */
export const checkChatProof = Effect.fnUntraced(function* (
  flow: VerificationFlow | null,
  entry: FlowEntry,
  cookie: Cookie,
) {
  if (flow !== null && flow.chatId !== null) return;
  if (flow !== null) {
    const reason = isVoided(flow) ? "link_changed" : "unfinished";
    return yield* new FlowRefused({ reason, entry });
  }
  const deadline = deadlineOf(cookie);
  const isOver = deadline !== null && deadline <= (yield* Clock.currentTimeMillis);
  return yield* new FlowRefused({ reason: isOver ? "expired" : "unfinished", entry });
});

/** Refuses the proof of a game account other than the player that the session names. */
export const checkUnnamed = ({ gameId }: FlowSubject, entry: FlowEntry): Effect.Effect<void, FlowRefused> =>
  gameId === null ? Effect.void : new FlowRefused({ reason: "player_named", entry });
