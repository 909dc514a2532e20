/** The rules by which a flow completes. Stores apply the rules in their transaction, to rows that they have locked. */
import type { GameId } from "../ids.ts";
import type { LinkRecord } from "../links/link.ts";
import { isOpenAt, type VerificationSession } from "../sessions/session.ts";
import type { CompleteFlow, FlowCompleted } from "../sessions/session_store.ts";
import { isVoided, type VerificationFlow } from "./verification_flow.ts";

export interface CompletionState {
  readonly flow: VerificationFlow | undefined;
  readonly session: VerificationSession | undefined;
  /** The link record of the flow's chat user; undefined if the scope has none. */
  readonly record: LinkRecord | undefined;
}

export type CompletionRefusal = Exclude<FlowCompleted, { readonly _tag: "Completed" }>;

/** Returns why a flow cannot complete; null if it can. @internal */
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

/** Returns the game user of the link that a completion keeps; null if it stores a new link. @internal */
export const keptGame = ({ keeps }: CompleteFlow, record: LinkRecord | undefined): GameId | null =>
  keeps ? (record?.gameId ?? null) : null;

const isAsSeen = (flow: VerificationFlow, record: LinkRecord | undefined): boolean =>
  (record?.linkVersion ?? 0) === flow.seenVersion;

const holdsProofs = (flow: VerificationFlow, { chatId, gameId }: CompleteFlow): boolean =>
  flow.chatId === chatId && flow.gameId === gameId;

const isFor = (session: VerificationSession | undefined, { pid, chatId }: CompleteFlow): boolean =>
  session?.pid === pid && (session.chatId ?? chatId) === chatId;

/** @internal */
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
