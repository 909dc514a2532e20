import { Clock, Effect } from "effect";
import { makeAdmission } from "../admission/admission.ts";
import type { PlatformUnavailable, StoreEffect, StoreUnavailable } from "../errors.ts";
import type { ChatId, GameId, Pid } from "../ids.ts";
import { filterLimited } from "../limited_loops.ts";
import { isLinked, isOwnProof, provenAt as provenAtOf } from "../links/mod.ts";
import { GamePlatform, platformConcurrency } from "../platforms/mod.ts";
import { SessionSettings } from "../sessions/session_settings.ts";
import { type ScopedRecord, UserStore } from "../users/mod.ts";
import type { FlowSubject } from "./flow_subjects.ts";
import type { KnownAccount } from "./flow_view.ts";
import { GameWays } from "./game_ways.ts";

/** The community to which accounts are offered. */
type KnownFor = Pick<FlowSubject, "pid" | "scope" | "settings" | "gameId">;

/** How many accounts a flow offers, the latest proof first. */
const mostOffered = 5;

/** An account that a user has proven to a community and is linked to there still. */
interface ProvenAccount extends KnownAccount {
  readonly pid: Pid;
}

/** @internal */
export const makeKnownAccounts = Effect.gen(function* () {
  const users = yield* UserStore;
  const games = yield* GamePlatform;
  const admission = yield* makeAdmission;
  const { knownFor } = yield* SessionSettings;
  const isOn = (yield* GameWays).includes("known") && knownFor > 0;

  const provenIn = Effect.fnUntraced(function* (records: ReadonlyArray<ScopedRecord>) {
    if (!isOn) return [];
    const since = (yield* Clock.currentTimeMillis) - knownFor;
    return records
      .flatMap(({ scope: { pid }, record }): ReadonlyArray<ProvenAccount> => {
        const [provenAt, { proof }] = [provenAtOf(record), record];
        if (!isLinked(record) || !isOwnProof(proof) || provenAt === null || provenAt <= since) return [];
        return [{ id: record.gameId, proof, provenAt, pid }];
      })
      .toSorted((one, other) => other.provenAt - one.provenAt);
  });

  const isOffered = (
    subject: KnownFor,
    id: GameId,
  ): Effect.Effect<boolean, StoreUnavailable | PlatformUnavailable> =>
    Effect.flatMap(games.hasUser(id), (exists) =>
      exists ? Effect.map(admission.game(subject, id), (refused) => refused === null) : Effect.succeed(false),
    );

  const offeredTo = (
    subject: KnownFor,
    proven: ReadonlyArray<ProvenAccount>,
  ): StoreEffect<ReadonlyArray<KnownAccount>> =>
    filterLimited(latestFor(subject, proven), platformConcurrency, ({ id }) =>
      Effect.catchTag(isOffered(subject, id), "PlatformUnavailable", () => Effect.succeed(false)),
    );

  return {
    /** Picks the proofs among a user's records that still count, the latest first. */
    provenIn,

    /**
     * Returns the accounts that a community offers to a user who has proven them to others. Leaves out accounts that are
     * gone, that this community does not admit, and those about which the platform does not answer.
     */
    offeredTo,

    /**
     * Finds the game accounts that a chat user has proven to other communities and is linked to there still, as far as
     * they are offered to this one.
     */
    find: Effect.fnUntraced(function* (subject: KnownFor, chatId: ChatId) {
      return yield* offeredTo(subject, yield* provenIn(yield* users.findRecords(chatId)));
    }),

    /** Returns the game account that a user chose among those offered. Fails if the platform does not answer about it. */
    choose: Effect.fnUntraced(function* (subject: KnownFor, chatId: ChatId, gameId: string) {
      const proven = yield* provenIn(yield* users.findRecords(chatId));
      const chosen = latestFor(subject, proven).find(({ id }) => id === gameId);
      return chosen !== undefined && (yield* isOffered(subject, chosen.id)) ? chosen.id : undefined;
    }),

    /** Returns whether a chat user may still link an account as known to a community. The caller checks admission. */
    isStillKnown: Effect.fnUntraced(function* (
      { pid, settings }: Pick<KnownFor, "pid" | "settings">,
      chatId: ChatId,
      gameId: GameId,
    ) {
      if (settings.freshProof) return false;
      const proven = yield* provenIn(yield* users.findRecords(chatId));
      return proven.some((each) => each.pid !== pid && each.id === gameId);
    }),
  };
});

/** The latest accounts of other communities, which the platform has not been asked about. */
const latestFor = (subject: KnownFor, proven: ReadonlyArray<ProvenAccount>): ReadonlyArray<KnownAccount> => {
  if (subject.settings.freshProof || subject.gameId !== null) return [];
  const found = new Map<GameId, KnownAccount>();
  for (const { pid, ...account } of proven) {
    if (pid !== subject.pid && !found.has(account.id)) found.set(account.id, account);
  }
  return [...found.values()].slice(0, mostOffered);
};
