/**
 * The port for verification flows and the proofs that they hold.
 */
import { Context, type Effect, type Option } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, FlowId, GameId } from "../ids.ts";
import type { Millis } from "../link.ts";
import type { SignInChallenge, VerificationFlow } from "../verification_flow.ts";

/** What a browser has proven. A proof of the chat account takes the place of both that were there before. */
export type Proof =
  | { readonly step: "chat"; readonly chatId: ChatId }
  | { readonly step: "game"; readonly gameId: GameId };

/**
 * Where flows live. A removal (`LinkStore.removeGame`) takes the proofs of every flow that has proven to be its chat
 * user in the scope, a deletion (`LinkStore.deleteScope`) those of every flow of the scope, so that no proof outlives
 * them. The flow itself stays, `isVoided`, so that its browser can be told and can begin again.
 *
 * A scope that does not exist, an id or a `stateHash` that is taken, and text that `isStorable` refuses are defects.
 */
export class FlowStore extends Context.Service<
  FlowStore,
  {
    readonly begin: (flow: VerificationFlow) => Effect.Effect<void, StoreUnavailable>;

    /** The flow, unless it is gone or over. */
    readonly find: (
      id: FlowId,
      at: Millis,
    ) => Effect.Effect<Option.Option<VerificationFlow>, StoreUnavailable>;

    /** Keeps a challenge. False when its flow is gone. */
    readonly challenge: (challenge: SignInChallenge) => Effect.Effect<boolean, StoreUnavailable>;

    /** Hands out a challenge of the flow, once; not when it or the flow is gone or over. */
    readonly takeChallenge: (
      id: FlowId,
      stateHash: string,
      at: Millis,
    ) => Effect.Effect<Option.Option<SignInChallenge>, StoreUnavailable>;

    /**
     * Adds a proof, and with the second of them notes the version of the chat user's record. The flow goes on under the
     * id of a new cookie, without its challenges: no sign-in that was begun under the old cookie is taken up. None when
     * it is gone or over, or when a game account comes before a chat account.
     */
    readonly prove: (
      id: FlowId,
      proof: Proof,
      at: Millis,
      nextId: FlowId,
    ) => Effect.Effect<Option.Option<VerificationFlow>, StoreUnavailable>;

    /** Removes a flow with its proofs and challenges. */
    readonly end: (id: FlowId) => Effect.Effect<void, StoreUnavailable>;
  }
>()("@accountlink/core/FlowStore") {}
