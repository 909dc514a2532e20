import type { FlowId } from "../ids.ts";
import type { LinkRecord } from "../links/link.ts";
import type { Proof } from "./flow_store.ts";
import type { VerificationFlow } from "./verification_flow.ts";

/** Returns the flow without its proofs, which become void when the user's link is removed. @internal */
export const voidedFlow = (flow: VerificationFlow): VerificationFlow => ({
  ...flow,
  chatId: null,
  gameId: null,
  seenVersion: flow.seenVersion ?? 0,
});

/**
 * Adds a proof to a flow, and gives the flow a new ID. Returns null if the game account is proven before the chat
 * account.
 *
 * @param id the new ID of the flow, which belongs to the flow's next cookie
 * @param record the record of the flow's chat user
 *
 * @internal
 */
export const provenFlow = (
  flow: VerificationFlow,
  proof: Proof,
  id: FlowId,
  record: LinkRecord | undefined,
): VerificationFlow | null => {
  if (proof.step === "chat") return { ...flow, id, chatId: proof.chatId, gameId: null, seenVersion: null };
  if (flow.chatId === null) return null;
  return { ...flow, id, gameId: proof.gameId, seenVersion: record?.linkVersion ?? 0 };
};
