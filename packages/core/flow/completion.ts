/** The rules by which a flow completes. Stores apply the rules in their transaction, to rows that they have locked. */
import type { GameId } from "../ids.ts";
import type { LinkRecord } from "../links/link.ts";
import { isOpenAt, type VerificationSession } from "../sessions/session.ts";
import type { CompleteFlow, FlowCompleted } from "../sessions/session_store.ts";
import { isVoided, type VerificationFlow } from "./verification_flow.ts";

export interface CompletionState {
  readonly flow: VerificationFlow | undefined;
  readonly session: VerificationSession | undefined;
  /** The record of the write's chat user. */
  readonly record: LinkRecord | undefined;
}

export type CompletionRefusal = Exclude<FlowCompleted, { readonly _tag: "Completed" }>;

/**
 * Returns why a flow cannot complete; null if it can.
 *
 * @example
 * ```ts
 * import { ChatId, GameId, Pid } from "@accountlink/core";
 * import { makeFlow, makeKey, makeSession } from "@accountlink/testing";
 *
 * const scope = { kind: "global", pid: Pid.make("pid_0123456789abcdefghij"), account: "acme" } as const;
 * const session = makeSession(makeKey(scope));
 * const proofs = { chatId: ChatId.make("100001"), gameId: GameId.make("1") };
 * const flow = makeFlow(scope, { ...proofs, session: session.id, seenVersion: 0 });
 * const origin = { actor: { type: "user", id: proofs.chatId }, requestId: null } as const;
 * const write = { ...origin, ...proofs, flow: flow.id, pid: scope.pid, at: 1_000, address: null, browser: null };
 *
 * completionRefusal(write, { flow, session, record: undefined }); // null
 * completionRefusal(write, { flow: undefined, session, record: undefined }); // { _tag: "FlowGone" }
 * completedSession(session, write, { gameId: proofs.gameId, previousGameId: null }).linkChanged; // true
 * ```
 */
export const completionRefusal = (
  write: CompleteFlow,
  { flow, session, record }: CompletionState,
): CompletionRefusal | null => {
  if (flow === undefined) return { _tag: "FlowGone" };
  if (session !== undefined && !isOpenAt(session, write.at)) return { _tag: "SessionOver", session };
  if (flow.pid !== write.pid || write.at >= flow.expiresAt) return { _tag: "FlowGone" };
  if (isVoided(flow)) return { _tag: "LinkChanged" };
  if (!holdsProofs(flow, write) || (flow.session !== null && !isFor(session, write)))
    return { _tag: "FlowGone" };
  const canKeep = keptGame(write, record) !== null;
  return isAsSeen(flow, record) && (!write.keeps || canKeep) ? null : { _tag: "LinkChanged" };
};

/**
 * Returns the game user of the link that a completion keeps; null if it stores a new link.
 *
 * @example
 * ```ts
 * import { ChatId, GameId, Pid } from "@accountlink/core";
 * import { uniqueFlowId } from "@accountlink/testing";
 *
 * const [chatId, gameId] = [ChatId.make("100001"), GameId.make("1")];
 * const origin = { actor: { type: "user", id: chatId }, requestId: null } as const;
 * const proofs = { chatId, gameId: GameId.make("2"), at: 1_000, address: null, browser: null };
 * const write = { ...origin, ...proofs, flow: uniqueFlowId(), pid: Pid.make("pid_0123456789abcdefghij") };
 * const record = { chatId, gameId, linkVersion: 1, linkedAt: 0, lastVerifiedAt: 0 };
 *
 * keptGame({ ...write, keeps: true }, record); // "1"
 * keptGame(write, record); // null
 * ```
 */
export const keptGame = ({ keeps }: CompleteFlow, record: LinkRecord | undefined): GameId | null =>
  keeps ? (record?.gameId ?? null) : null;

const isAsSeen = (flow: VerificationFlow, record: LinkRecord | undefined): boolean =>
  (record?.linkVersion ?? 0) === flow.seenVersion;

const holdsProofs = (flow: VerificationFlow, { chatId, gameId }: CompleteFlow): boolean =>
  flow.chatId === chatId && flow.gameId === gameId;

const isFor = (session: VerificationSession | undefined, { pid, chatId }: CompleteFlow): boolean =>
  session?.pid === pid && (session.chatId ?? chatId) === chatId;

export const completedSession = (
  session: VerificationSession,
  { chatId, at, keeps }: CompleteFlow,
  { gameId, previousGameId }: { readonly gameId: GameId; readonly previousGameId: GameId | null },
): VerificationSession => ({
  ...session,
  state: "completed",
  chatId,
  gameId,
  linkChanged: gameId !== previousGameId,
  previousGameId: keeps ? null : previousGameId,
  completedAt: at,
  change: session.change + 1,
});
