import { sightingsOf } from "@accountlink/core/addresses";
import { storeSightings } from "@accountlink/core/alts";
import type { StoreEffect } from "@accountlink/core/errors";
import { completedSession, completionRefusal, endFlow, keptGame } from "@accountlink/core/flow";
import type { ChatId } from "@accountlink/core/ids";
import type { CompleteFlow, FlowCompleted } from "@accountlink/core/sessions";
import { changeSession, findFlow } from "@accountlink/core/storage";
import { Data, Effect } from "effect";
import type { Database } from "../database.ts";
import { txOf } from "../records.ts";
import { isBlocked } from "./blocks.ts";
import { removeLink } from "./link_store.ts";
import { findRecord, linkWriteKeys, takenByIn, writeGame } from "./links.ts";
import { endingVerifications, type ManyVerifications } from "./verifications.ts";

/** A commit has no room for all links that the game user loses. The one of this chat user is removed before. */
class ManyTaken extends Data.TaggedError("ManyTaken")<{ readonly chatId: ChatId }> {}

const removalOf = (write: CompleteFlow, chatId: ChatId) => ({ ...write, chatId, source: "flow" }) as const;

/** Implements `SessionStore.complete`. */
export const completeFlow =
  (db: Database) =>
  (write: CompleteFlow): StoreEffect<FlowCompleted> => {
    const { pid, chatId, gameId, at } = write;
    const complete = db.write<FlowCompleted, ManyVerifications | ManyTaken>(pid, function* (tx) {
      const records = txOf(tx);
      yield* tx.prefetch(linkWriteKeys(pid, chatId));
      const { flow, session } = yield* findFlow(records, write.flow);
      const record = yield* findRecord(tx, pid, chatId);
      const takenBy = yield* takenByIn(tx, write);
      const refusal = completionRefusal(write, {
        flow,
        session,
        record,
        isBlocked: yield* isBlocked(tx, pid, write),
        takenBy,
      });
      if (refusal !== null) return refusal;
      const kept = keptGame(write, record);
      let linked = { gameId: kept ?? gameId, previousGameId: kept };
      if (kept === null) {
        yield* storeSightings(records, pid, sightingsOf(write));
        for (const other of takenBy) yield* removeLink(tx, removalOf(write, other));
        linked = { gameId, previousGameId: (yield* writeGame(tx, write, write.proof)).previousGameId };
      }
      yield* endFlow(records, write.flow);
      if (session !== undefined) yield* changeSession(records, completedSession(session, write, linked), at);
      const [first] = takenBy;
      if (first !== undefined && !tx.hasRoom(0, 0)) return yield* new ManyTaken({ chatId: first });
      return { _tag: "Completed", ...linked };
    });
    const completed: StoreEffect<FlowCompleted> = Effect.suspend(() =>
      endingVerifications(db, write, complete).pipe(
        Effect.map(([done]) => done),
        Effect.catchTag("ManyTaken", ({ chatId: other }) => {
          const removal = db.write<unknown, ManyVerifications>(pid, (tx) =>
            removeLink(tx, removalOf(write, other)),
          );
          return Effect.andThen(endingVerifications(db, write, removal), completed);
        }),
      ),
    );
    return completed;
  };
