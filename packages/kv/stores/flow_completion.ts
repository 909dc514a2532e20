import { sightingsOf } from "@accountlink/core/addresses";
import { noteNewLink, storeSightings } from "@accountlink/core/alts";
import type { StoreEffect } from "@accountlink/core/errors";
import { completedSession, completionRefusal, endFlow, keptGame } from "@accountlink/core/flow";
import type { ChatId, SessionId } from "@accountlink/core/ids";
import type { GameUnlinked } from "@accountlink/core/links";
import type { CompleteFlow, FlowCompleted, LinkLost } from "@accountlink/core/sessions";
import { changeSession, findFlow } from "@accountlink/core/storage";
import { Data, Effect, Result } from "effect";
import type { Database } from "../database.ts";
import { txOf } from "../records.ts";
import { isBlocked } from "./blocks.ts";
import { removeLink } from "./link_store.ts";
import { findRecord, linkWriteKeys, takenByIn, writeGame } from "./links.ts";
import { endingVerifications, type ManyVerifications, withEnded } from "./verifications.ts";

/** A commit has no room for all links that the game user loses. The one of this chat user is removed before. */
class ManyTaken extends Data.TaggedError("ManyTaken")<{ readonly removal: Removal }> {}

const removalOf = (write: CompleteFlow, chatId: ChatId, spares: SessionId | undefined) =>
  ({ ...write, chatId, source: "flow", spares }) as const;

type Removal = ReturnType<typeof removalOf>;

/** Implements `SessionStore.complete`. */
export const completeFlow = (db: Database) =>
  Effect.fnUntraced(function* (
    write: CompleteFlow,
  ): Effect.fn.Return<FlowCompleted, Effect.Error<StoreEffect<never>>> {
    const { pid, chatId, gameId, at } = write;
    const earlier: Array<LinkLost> = [];
    const complete = db.write<FlowCompleted, ManyVerifications | ManyTaken>(pid, function* (tx) {
      const records = txOf(tx);
      yield* tx.prefetch(linkWriteKeys(pid, chatId));
      const { flow, session } = yield* findFlow(records, write.flow);
      const record = yield* findRecord(tx, pid, chatId);
      const takenBy = yield* takenByIn(tx, write);
      // The page showed a chat user whose link an earlier commit has removed.
      const asked = earlier.length > 0 ? { ...write, moves: true } : write;
      const refusal = completionRefusal(asked, {
        flow,
        session,
        record,
        isBlocked: yield* isBlocked(tx, pid, write),
        takenBy,
      });
      if (refusal !== null) return refusal;
      const kept = keptGame(write, record);
      let linked = { gameId: kept ?? gameId, previousGameId: kept };
      const losers: Array<LinkLost> = [];
      if (kept === null) {
        yield* storeSightings(records, pid, sightingsOf(write));
        for (const other of takenBy) {
          const removed = yield* removeLink(tx, removalOf(write, other, session?.id));
          if (removed !== null) losers.push({ chatId: other, ended: removed.ended });
        }
        linked = { gameId, previousGameId: (yield* writeGame(tx, write, write.proof)).previousGameId };
        if (linked.previousGameId !== gameId) yield* noteNewLink(records, write);
      }
      yield* endFlow(records, write.flow);
      if (session !== undefined) yield* changeSession(records, completedSession(session, write, linked), at);
      const [first] = takenBy;
      if (first !== undefined && !tx.hasRoom(0, 0)) {
        return yield* new ManyTaken({ removal: removalOf(write, first, session?.id) });
      }
      return { _tag: "Completed", ...linked, losers };
    });
    for (;;) {
      const made = yield* Effect.result(endingVerifications(db, complete));
      if (Result.isSuccess(made)) {
        const [completed, before] = made.success;
        if (completed._tag !== "Completed") return completed;
        const losers = completed.losers.map((loser) => withEnded(loser, loser.chatId, before));
        return { ...completed, losers: [...earlier, ...losers] };
      }
      if (made.failure._tag !== "ManyTaken") return yield* made.failure;
      const { removal } = made.failure;
      const [removed, before] = yield* endingVerifications(
        db,
        db.write<GameUnlinked | null, ManyVerifications>(pid, (tx) => removeLink(tx, removal)),
      );
      if (removed === null) continue;
      earlier.push(withEnded({ chatId: removal.chatId, ended: removed.ended }, removal.chatId, before));
    }
  });
