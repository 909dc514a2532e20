import { Context, type Option } from "effect";
import type { StoreEffect } from "../errors.ts";
import type { ChatId, FlowId, GameId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import type { SignInChallenge, VerificationFlow } from "./verification_flow.ts";

/** A proven account. A new proof of the chat account replaces the earlier proofs of both accounts. */
export type Proof =
  | { readonly step: "chat"; readonly chatId: ChatId }
  | { readonly step: "game"; readonly gameId: GameId };

/**
 * Stores verification flows and their proofs. `LinkStore.removeGame` and `UserStore.erase` void the flows that proved
 * the chat user, and `LinkStore.deleteScope` voids all flows of the scope. A voided flow loses its proofs but stays
 * stored (see `isVoided`), so that its browser learns the reason and can start again.
 *
 * Operations die on an unknown scope, on an id or `stateHash` that exists already, and on text that `isStorable`
 * refuses.
 */
export class FlowStore extends Context.Service<
  FlowStore,
  {
    readonly begin: (flow: VerificationFlow) => StoreEffect<void>;

    /** Finds a flow. None if it was deleted or has expired. */
    readonly find: (id: FlowId, at: Millis) => StoreEffect<Option.Option<VerificationFlow>>;

    /** Stores a challenge. Returns false if its flow is gone. */
    readonly challenge: (challenge: SignInChallenge) => StoreEffect<boolean>;

    /**
     * Returns a challenge of the flow and deletes it, so that it is used only once. Returns None if the challenge or
     * the flow is gone or has expired.
     */
    readonly takeChallenge: (
      id: FlowId,
      stateHash: string,
      at: Millis,
    ) => StoreEffect<Option.Option<SignInChallenge>>;

    /**
     * Adds a proof to a flow. The flow's id becomes `nextId`, the id of a new cookie, and its sign-in challenges are
     * deleted. So no sign-in that started under the old cookie succeeds. The second proof also stores the version of
     * the chat user's record.
     *
     * Returns None if the flow is gone or has expired, or if the game account is proven before the chat account.
     */
    readonly prove: (
      id: FlowId,
      proof: Proof,
      at: Millis,
      nextId: FlowId,
    ) => StoreEffect<Option.Option<VerificationFlow>>;

    readonly end: (id: FlowId) => StoreEffect<void>;
  }
>()("@accountlink/core/FlowStore") {}
