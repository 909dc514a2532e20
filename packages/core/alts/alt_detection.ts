import { Clock, Context, Effect, Layer, Option, Result } from "effect";
import { AddressVault } from "../addresses/address_vault.ts";
import type { ClientAddress } from "../addresses/client_address.ts";
import { isAtAddress, isInBrowser, placeOf, type Sighting } from "../addresses/sighting.ts";
import type { DataScope } from "../data_scope.ts";
import type { ChatId, GameId, Pid } from "../ids.ts";
import { bulkGameResults, checkBulkLimit, LinkStore, type ResolvedPair } from "../links/mod.ts";
import { GuildGuard, Profiles, type RequestedGuild } from "../platforms/mod.ts";
import { bounds, makePlaces, Turns, WorkingTimes } from "../turns/mod.ts";
import { seedAddresses, seedNetworks } from "./alt_addresses.ts";
import {
  type AltCandidate,
  type AltPlace,
  findCandidates,
  reviewCandidates,
  type WeighedAlt,
  weighCandidate,
} from "./alt_candidates.ts";
import { AltReviewStore } from "./alt_review_store.ts";
import { type AltRisk, scoreAlts } from "./alt_score.ts";
import type { AltWarning } from "./alt_warning.ts";
import { answersInTime } from "./answers_in_time.ts";
import { makeDecidingAlts, type UnknownMembers } from "./deciding_alts.ts";
import { NetworkIntelligence } from "./network_intelligence.ts";
import { SightingStore } from "./sighting_store.ts";

/** Whose alts to find. At least one of the fields is not null. */
export interface AltQuery {
  readonly chatId: ChatId | null;
  readonly gameId: GameId | null;
  readonly address: ClientAddress | null;
}

export interface AltOptions {
  readonly guildId: RequestedGuild;
  readonly resolved: boolean;
  readonly unknownMembers: UnknownMembers;
}

export interface AltMatch extends WeighedAlt {
  /** Null unless the query asked for profiles. */
  readonly resolved: ResolvedPair | null;
}

export interface AltReport {
  /** `gameId` is the game user of the query, or else the target's linked game user. */
  readonly target: {
    readonly chatId: ChatId | null;
    readonly gameId: GameId | null;
    readonly guildId: RequestedGuild;
  };
  /** The target and every chat user linked to the game user of the query. */
  readonly seeds: ReadonlyArray<ChatId>;
  /** The game users of the query and of the target. */
  readonly games: ReadonlyArray<GameId>;
  /** How many candidates were compared, including those that are not listed. */
  readonly candidates: number;
  /** The 25 most recently seen candidates, the most recent first. */
  readonly matches: ReadonlyArray<AltMatch>;
  /** Candidates that moderators reviewed as `different`. They do not affect `candidates`, `matches` and `risk`. */
  readonly ruledOut: ReadonlyArray<WeighedAlt>;
  /** The score of the strongest candidate, who may be missing from `matches`. */
  readonly risk: AltRisk;
  /** How many addresses and browsers were compared. */
  readonly places: number;
  /** Which facts could not be looked up. The warnings contain no address. */
  readonly warnings: ReadonlyArray<AltWarning>;
}

/** @internal */
export const maxBulkAltInputs = 10;

/**
 * The most seeds and places of a request; the newest are kept. Seeds that share places have many sightings of few, so
 * more sightings than places are read.
 */
const [maxSeeds, maxPlaces, maxSightings] = [100, 100, 1_000];

/** The most candidates found by addresses and browsers; the most recently seen are kept. */
const maxSeenCandidates = 150;

/** How long a report waits for profiles, and how many profiles are requested at once. */
const profileDeadline = { within: "2 seconds", atOnce: 16 } as const;

/**
 * Finds possibly related accounts inside one scope.
 *
 * @example
 * ```ts
 * import { ChatId } from "@accountlink/core";
 * import { aFixture, memoryWorld } from "@accountlink/testing";
 * import { Scope } from "accountlink";
 * import { Effect } from "effect";
 *
 * const links = ["100001", "100002"].map((chatId) => ({ chatId, gameId: "1" }));
 * const world = await memoryWorld(aFixture({ links }));
 * const program = Effect.gen(function* () {
 *   const query = { chatId: ChatId.make("100001"), gameId: null, address: null };
 *   const options = { guildId: null, resolved: false, unknownMembers: "refuse" } as const;
 *   const { matches, risk } = yield* (yield* AltDetection).detect(yield* Scope, query, options);
 *   return [matches.map(({ chatId }) => chatId), risk.severity];
 * });
 * await world.run(program); // [["100002"], "CRITICAL"]
 * await world.close();
 * ```
 */
export class AltDetection extends Context.Service<AltDetection>()("@accountlink/core/AltDetection", {
  make: Effect.gen(function* () {
    const links = yield* LinkStore;
    const sightings = yield* SightingStore;
    const reviews = yield* AltReviewStore;
    const vault = yield* AddressVault;
    const networks = yield* NetworkIntelligence;
    const guard = yield* GuildGuard;
    const profiles = yield* Profiles;
    const decide = yield* makeDecidingAlts;
    // Each may compare hundreds of users.
    const inPlace = yield* makePlaces(new Turns({ resource: "alts", share: bounds.dearRequests }));
    const { accounts } = yield* WorkingTimes;

    const findSeeds = Effect.fnUntraced(function* (pid: Pid, { chatId, gameId }: AltQuery) {
      const record = chatId === null ? Option.none() : yield* links.findByChatId(pid, chatId);
      const games = distinct([gameId, Option.getOrNull(record)?.gameId ?? null]);
      const linked = yield* links.findByGameIds(pid, games);
      const chatsOfGame = gameId === null ? [] : (linked.get(gameId) ?? []);
      const target = chatId ?? chatsOfGame[0] ?? null;
      return {
        target,
        seeds: distinct([target, ...chatsOfGame]).slice(0, maxSeeds),
        games,
        linked: [...linked.values()].flat(),
      };
    });

    /** Between its reads, each of which may find thousands of records, it waits for the working time of the account. */
    const findSources = Effect.fnUntraced(function* ({ pid, account }: DataScope, query: AltQuery) {
      const { target, seeds, games, linked } = yield* findSeeds(pid, query);
      yield* accounts.rest(account);
      const [found, targetReviews] = yield* Effect.all(
        [
          seeds.length === 0 ? Effect.succeed([]) : sightings.findByChatIds(pid, seeds, maxSightings),
          target === null ? Effect.succeed([]) : reviews.findByChatId(pid, target, null),
        ],
        { concurrency: "unbounded" },
      );
      const seen = newestPlaces(found);
      const addresses = yield* seedAddresses(vault, seen.filter(isAtAddress), query.address);
      const browsers = distinct(seen.filter(isInBrowser).map(({ browser }) => browser));
      const hashes = [...addresses.map((address) => [...address.hashes]), ...browsers.map((hash) => [hash])];
      const called = targetReviews.filter(({ verdict }) => verdict === "same");
      const known = new Set([...linked, ...called.map(({ otherChatId }) => otherChatId)]);
      const [visits, chatUsers, facts] = yield* Effect.all(
        [
          sightings.findShared(pid, {
            hashes: hashes.flat(),
            including: [...known].filter((chatId) => chatId !== target),
            excluding: seeds,
            limit: maxSeenCandidates,
          }),
          sightings.countUsers(pid, hashes),
          seedNetworks(networks, addresses),
        ],
        { concurrency: "unbounded" },
      );
      yield* accounts.rest(account);
      const chatIds = new Set([...visits.map(({ chatId }) => chatId), ...known]);
      const records = yield* links.findByChatIds(pid, [...chatIds]);
      const placeAt = new Map(hashes.flatMap((group, index) => group.map((hash) => [hash, index])));
      return {
        target,
        seeds,
        games,
        reviews: targetReviews,
        records,
        visits: visits.flatMap(({ chatId, hash, seenAt }) => {
          const place = placeAt.get(hash);
          return place === undefined ? [] : [{ chatId, place, seenAt }];
        }),
        places: hashes.map(
          (_, index): AltPlace => ({
            kind: index < addresses.length ? "address" : "device",
            chatUsers: chatUsers[index] ?? 0,
            isShared: facts.isShared[index] ?? false,
          }),
        ),
        addresses: addresses.length,
        vpnAddresses: facts.isVpn.filter(Boolean).length,
        warnings: facts.warnings,
      };
    });

    const resolve = Effect.fnUntraced(function* (
      matches: ReadonlyArray<WeighedAlt>,
      { guildId, resolved }: AltOptions,
    ) {
      if (!resolved) return matches.map((match) => ({ ...match, resolved: null }));
      const gameIds = matches.flatMap(({ gameId }) => (gameId === null ? [] : [gameId]));
      const chatIds = matches.map(({ chatId }) => chatId);
      const [games, chats] = yield* Effect.all(
        [
          answersInTime(gameIds, profiles.game, profileDeadline),
          answersInTime(chatIds, (chatId) => profiles.chat(chatId, guildId), profileDeadline),
        ],
        { concurrency: "unbounded" },
      );
      return matches.map((match) => ({
        ...match,
        resolved: {
          game: match.gameId === null ? null : (games.get(match.gameId) ?? null),
          chat: chats.get(match.chatId) ?? null,
        },
      }));
    });

    const report = Effect.fnUntraced(function* (scope: DataScope, query: AltQuery, options: AltOptions) {
      const sources = yield* findSources(scope, query);
      yield* accounts.rest(scope.account);
      const { target, seeds, games, records, places, addresses, vpnAddresses, warnings } = sources;
      const all = findCandidates(sources);
      const now = yield* Clock.currentTimeMillis;
      const weigh = (candidate: AltCandidate) => weighCandidate(candidate, places, now);
      const weighed = reviewCandidates(all, sources.reviews, records).map(weigh);
      const different = new Set(
        sources.reviews.flatMap(({ otherChatId, verdict }) => (verdict === "different" ? [otherChatId] : [])),
      );
      const { listed, heaviest, unknown } = yield* decide(weighed, options.guildId, options.unknownMembers);
      return {
        target: { chatId: target, gameId: games[0] ?? null, guildId: options.guildId },
        seeds,
        games,
        candidates: weighed.length,
        matches: yield* resolve(listed, options),
        ruledOut: all.filter(({ chatId }) => different.has(chatId)).map(weigh),
        risk: scoreAlts({
          listed: listed.map(({ weight }) => weight),
          unlisted: heaviest === null ? [] : [heaviest.weight],
          addresses,
          vpnAddresses,
        }),
        places: places.length,
        warnings: unknown === 0 ? warnings : [...warnings, unknownMembers(unknown)],
      };
    });

    return {
      detect: Effect.fn("AltDetection.detect")(function* (
        scope: DataScope,
        query: AltQuery,
        options: AltOptions,
      ) {
        yield* guard.enter(scope, options.guildId);
        return yield* inPlace(scope, report(scope, query, options));
      }),

      /** Detects alts of up to 10 game users and returns one result per input, in the same order. */
      detectEach: Effect.fn("AltDetection.detectEach")(function* (
        scope: DataScope,
        inputs: ReadonlyArray<string>,
        options: AltOptions,
      ) {
        yield* checkBulkLimit(inputs, maxBulkAltInputs);
        yield* guard.enter(scope, options.guildId);
        return yield* bulkGameResults(inputs, (gameId) =>
          inPlace(scope, report(scope, { chatId: null, gameId, address: null }, options)).pipe(
            Effect.map(Result.succeed),
            Effect.catchTag("PlatformUnavailable", (error) => Effect.succeed(Result.fail(error))),
          ),
        );
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(AltDetection, AltDetection.make);
}

/** @param found sightings, newest first */
const newestPlaces = (found: ReadonlyArray<Sighting>): ReadonlyArray<Sighting> => {
  const newest = new Map<string, Sighting>();
  for (const sighting of found) {
    const place = placeOf(sighting);
    if (!newest.has(place)) newest.set(place, sighting);
  }
  return [...newest.values()].slice(0, maxPlaces);
};

const distinct = <A>(values: ReadonlyArray<A | null>): ReadonlyArray<A> => [
  ...new Set(values.filter((value) => value !== null)),
];

const unknownMembers = (count: number): AltWarning => ({ is: "unknown_members", count });
