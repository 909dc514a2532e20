import { Context, type Effect, type Option } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, FlowId, GameId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import type { SignInChallenge, VerificationFlow } from "./verification_flow.ts";

/** A proven account. A proof of the chat account replaces both earlier proofs. */
export type Proof =
  | { readonly step: "chat"; readonly chatId: ChatId }
  | { readonly step: "game"; readonly gameId: GameId };

/**
 * Stores verification flows and their proofs. `LinkStore.removeGame` voids the proofs of all flows of the scope that
 * proved the given chat user. `LinkStore.deleteScope` voids the proofs of all flows of the scope. A voided flow stays
 * (`isVoided`), so that its browser learns the reason and can start again.
 *
 * An unknown scope, an existing id or `stateHash`, and text that `isStorable` refuses are defects.
 */
export class FlowStore extends Context.Service<
  FlowStore,
  {
    readonly begin: (flow: VerificationFlow) => Effect.Effect<void, StoreUnavailable>;

    /** Finds a flow. None if it was deleted or has expired. */
    readonly find: (
      id: FlowId,
      at: Millis,
    ) => Effect.Effect<Option.Option<VerificationFlow>, StoreUnavailable>;

    /** Stores a challenge. Returns false if its flow is gone. */
    readonly challenge: (challenge: SignInChallenge) => Effect.Effect<boolean, StoreUnavailable>;

    /**
     * Takes a challenge of the flow, which can be taken only once. None if the challenge or the flow is gone or has
     * expired.
     */
    readonly takeChallenge: (
      id: FlowId,
      stateHash: string,
      at: Millis,
    ) => Effect.Effect<Option.Option<SignInChallenge>, StoreUnavailable>;

    /**
     * Adds a proof; the second proof also stores the version of the chat user's record. The flow gets the id of a new
     * cookie and loses its challenges, so that no sign-in started under the old cookie succeeds. None if the flow is
     * gone or has expired, or if the game account comes before the chat account.
     */
    readonly prove: (
      id: FlowId,
      proof: Proof,
      at: Millis,
      nextId: FlowId,
    ) => Effect.Effect<Option.Option<VerificationFlow>, StoreUnavailable>;

    readonly end: (id: FlowId) => Effect.Effect<void, StoreUnavailable>;
  }
>()("@accountlink/core/FlowStore") {}
