/** `VerificationFlows.finish`: stores the proof when the browser returns from a platform. */
import { Clock, Effect, Option } from "effect";
import { SecureRandom } from "effect/crypto";
import type { ChatId, GameId } from "../ids.ts";
import { GuildGuard } from "../platforms/guild_guard.ts";
import type { ProofDenied, ProofInvalid } from "../platforms/identity_provider.ts";
import { Secrets } from "../secrets/secrets.ts";
import { makeFlowAccounts } from "./flow_accounts.ts";
import { type Cookie, makeFlowId, newCookie, withEntry } from "./flow_cookie.ts";
import { FlowRefused } from "./flow_refusal.ts";
import { FlowStore, type Proof } from "./flow_store.ts";
import { FlowSubjects } from "./flow_subjects.ts";
import type { FlowEntry } from "./flow_view.ts";
import { type HeldFlow, makeFindFlow, refuseGone } from "./held_flow.ts";
import { checkOrder, identityProviders } from "./start_proof.ts";
import { admitUser, refusePlatformDown } from "./user_admission.ts";
import type { ProofStep } from "./verification_flow.ts";

export const makeFinish = Effect.gen(function* () {
  const flows = yield* FlowStore;
  const subjects = yield* FlowSubjects;
  const secrets = yield* Secrets;
  const guard = yield* GuildGuard;
  const accounts = yield* makeFlowAccounts;
  const random = yield* SecureRandom.SecureRandom;
  const identities = yield* identityProviders;
  const findFlow = yield* makeFindFlow;
  const idOf = yield* makeFlowId;

  const signIn = Effect.fnUntraced(function* (
    step: ProofStep,
    { id, guildId, entry }: HeldFlow,
    callback: URLSearchParams,
    redirectUri: string,
  ) {
    const state = callback.get("state") ?? "";
    const { stateHash, ...derived } = yield* secrets.signIn(state);
    const now = yield* Clock.currentTimeMillis;
    const challenge = Option.getOrNull(yield* flows.takeChallenge(id, stateHash, now));
    if (challenge === null || challenge.step !== step) {
      return yield* new FlowRefused({ reason: "sign_in_invalid", entry });
    }
    return yield* identities[step]
      .finish({ redirectUri, state, ...derived, guildId }, callback)
      .pipe(Effect.catchTags({ ...refuseProof(entry, step), ...refusePlatformDown(entry) }));
  });

  /** Shows refused users which account they signed in with, since they may have several. */
  const withAccount = (chatId: ChatId) => (refused: FlowRefused) => {
    const { reason, entry } = refused;
    return reason === "wrong_user" || reason === "not_a_member"
      ? Effect.flatMap(accounts.chat(chatId), (account) => new FlowRefused({ reason, entry, account }))
      : refused;
  };

  return Effect.fn("VerificationFlows.finish")(function* (
    step: ProofStep,
    held: Cookie,
    callback: URLSearchParams,
    redirectUri: string,
  ) {
    const flow = yield* findFlow(held);
    if (flow === null) return yield* refuseGone(held, null);
    const { entry } = flow;
    const { userId, isMember } = yield* signIn(step, flow, callback, redirectUri);
    const proof = proofOf(step, userId);
    const subject = yield* subjects.resolve(entry);
    if (proof.step === "chat") {
      const { chatId } = proof;
      const admitted = admitUser(guard, subject, { chatId, isMember }, entry);
      yield* admitted.pipe(Effect.catch(withAccount(chatId)));
    }
    const cookie = withEntry(yield* newCookie(random, flow.expiresAt), entry);
    const now = yield* Clock.currentTimeMillis;
    const proven = yield* flows.prove(flow.id, proof, now, yield* idOf(cookie));
    if (Option.isNone(proven)) {
      yield* checkOrder(step, yield* findFlow(held), entry);
      return yield* refuseGone(held, entry);
    }
    return { entry, cookie };
  });
});

const proofOf = (step: ProofStep, userId: ChatId | GameId): Proof =>
  step === "chat" ? { step, chatId: userId as ChatId } : { step, gameId: userId as GameId };

const refuseProof = (entry: FlowEntry, step: ProofStep) => ({
  ProofDenied: (_: ProofDenied) => new FlowRefused({ reason: "denied", entry, step }),
  ProofInvalid: (cause: ProofInvalid) =>
    Effect.andThen(
      Effect.logDebug(cause.message),
      new FlowRefused({ reason: "sign_in_invalid", entry, cause }),
    ),
});
