import { Clock, Effect } from "effect";
import { makeAdmission } from "../admission/admission.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, GameId } from "../ids.ts";
import { filterLimited } from "../limited_loops.ts";
import { isLinked } from "../links/link.ts";
import { gameProofs, type LinkProof } from "../links/link_proof.ts";
import { GamePlatform } from "../platforms/game_platform.ts";
import { platformConcurrency } from "../platforms/guild_guard.ts";
import { SessionSettings } from "../sessions/session_settings.ts";
import { UserStore } from "../users/user_store.ts";
import type { FlowSubject } from "./flow_subjects.ts";
import type { KnownAccount } from "./flow_view.ts";
import { GameWays } from "./game_ways.ts";

/** The community to which accounts are offered. */
type KnownFor = Pick<FlowSubject, "pid" | "scope" | "settings" | "gameId">;

/** How many accounts a flow offers, the latest proof first. */
const mostOffered = 5;

const isOwnProof = (proof: LinkProof): proof is KnownAccount["proof"] =>
  proof !== "known" && gameProofs.some((each) => each === proof);

/**
 * Makes a function that finds the game accounts that a chat user has proven to other communities and is linked to there
 * still. Leaves out accounts that are gone, that this community does not admit, and those about which the platform does
 * not answer.
 */
export const makeKnownAccounts = Effect.gen(function* () {
  const users = yield* UserStore;
  const games = yield* GamePlatform;
  const admission = yield* makeAdmission;
  const { knownFor } = yield* SessionSettings;
  const isOn = (yield* GameWays).includes("known") && knownFor > 0;

  const isOffered = (subject: KnownFor, id: GameId): Effect.Effect<boolean, StoreUnavailable> =>
    games.hasUser(id).pipe(
      Effect.flatMap((exists) =>
        exists
          ? Effect.map(admission.game(subject, id), (refused) => refused === null)
          : Effect.succeed(false),
      ),
      Effect.catchTag("PlatformUnavailable", () => Effect.succeed(false)),
    );

  return Effect.fnUntraced(function* (subject: KnownFor, chatId: ChatId) {
    if (!isOn || subject.settings.freshProof || subject.gameId !== null) return [];
    const since = (yield* Clock.currentTimeMillis) - knownFor;
    const found = new Map<GameId, KnownAccount>();
    const records = (yield* users.findRecords(chatId)).toSorted(
      ({ record: one }, { record: other }) => (other.lastVerifiedAt ?? 0) - (one.lastVerifiedAt ?? 0),
    );
    for (const { scope, record } of records) {
      if (scope.pid === subject.pid || !isLinked(record) || found.has(record.gameId)) continue;
      const { gameId: id, proof, lastVerifiedAt: provenAt } = record;
      if (isOwnProof(proof) && provenAt > since) found.set(id, { id, proof, provenAt });
    }
    const newest = [...found.values()].slice(0, mostOffered);
    return yield* filterLimited(newest, ({ id }) => isOffered(subject, id), {
      concurrency: platformConcurrency,
    });
  });
});
