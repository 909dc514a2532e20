/**
 * How often alt detection is right in a town whose people are known. A score is right about an account whose owner has
 * another one.
 */

import {
  AccountLink,
  AddressVault,
  ApiKeys,
  type ChatId,
  type DataScope,
  type GameId,
  LinkStore,
} from "@accountlink/core";
import { parseAddress, parseNetwork, sightingsOf } from "@accountlink/core/addresses";
import { AltDetection, type AltReport, NetworkIntelligence } from "@accountlink/core/alts";
import { Secrets } from "@accountlink/core/secrets";
import { SessionStore } from "@accountlink/core/sessions";
import { CacheMemory, PlatformMemory, StorageMemory } from "@accountlink/memory";
import { NetworkFiles } from "@accountlink/server/networks";
import { Effect, Layer, Option, Redacted } from "effect";
import { Digest, SecureRandom } from "effect/crypto";
import { TestClock } from "effect/testing";
import {
  makeTown,
  type TownAccount,
  type TownPlan,
  townSharedNetworks,
  townTime,
  townVpnNetworks,
} from "./alts_town.ts";

/** What was answered about one account, and what is true of it. */
export interface TownAnswer {
  readonly report: AltReport;
  /** Whether the person has another account. */
  readonly hasAlt: boolean;
  readonly isListed: boolean;
  /** Whether the two have a game account or a browser in common. */
  readonly hasTraces: boolean;
}

const secret = Redacted.make(new Uint8Array(32).fill(7));

/** Keeps addresses as they are, since what a real vault does to each takes longer than all the rest. */
const openVault = Layer.succeed(AddressVault, {
  newestKeyId: "town",
  hasOlderKeys: false,
  protect: ({ countedAs }) => Effect.succeed({ hash: countedAs, sealed: countedAs, addressKeyId: "town" }),
  hashes: ({ countedAs }) => Effect.succeed([countedAs]),
  reveal: ({ sealed }) => Effect.succeed(parseAddress(sealed)),
  revealEach: (addresses) => Effect.succeed(addresses.map(({ sealed }) => parseAddress(sealed))),
});

const listOf = (cidrs: ReadonlyArray<string>) =>
  NetworkFiles.NetworkSet.of(cidrs.flatMap((cidr) => Option.toArray(parseNetwork(cidr))));

const networks = Effect.sync(() => {
  const [vpn, shared] = [listOf(townVpnNetworks), listOf(townSharedNetworks)];
  return NetworkIntelligence.of({
    lookup: (address) => Effect.succeed({ vpn: vpn.has(address), shared: shared.has(address) }),
  });
});

const detection = AccountLink.layerAlts.pipe(
  Layer.provideMerge(AccountLink.layer),
  Layer.provideMerge(
    Layer.mergeAll(
      StorageMemory.layer,
      CacheMemory.layer,
      PlatformMemory.layer({ guilds: [], chatUsers: [], gameUsers: [] }),
      Secrets.layerWebCrypto(secret),
      openVault,
      Layer.effect(NetworkIntelligence, networks),
    ),
  ),
  Layer.provideMerge(Layer.merge(Digest.layerWebCrypto, SecureRandom.layerWebCrypto)),
  Layer.fresh,
);

const fill = Effect.fnUntraced(function* (scope: DataScope, accounts: ReadonlyArray<TownAccount>) {
  const { protect } = yield* AddressVault;
  yield* (yield* LinkStore).importBatch({
    actor: { type: "operator", id: "town" },
    requestId: null,
    pid: scope.pid,
    at: townTime,
    links: accounts.map(({ chatId, gameId }) => ({
      chatId: chatId as ChatId,
      gameId: gameId as GameId,
      lastVerifiedAt: townTime,
    })),
    existing: "keep",
    progress: { source: "town", position: 1 },
  });
  const sightings = yield* Effect.forEach(
    accounts.flatMap(({ chatId, visits }) => visits.map((visit) => ({ chatId: chatId as ChatId, ...visit }))),
    ({ chatId, address, browser, seenAt }) =>
      Effect.map(protect(Option.getOrThrow(parseAddress(address))), (protectedAddress) =>
        sightingsOf({ chatId, address: protectedAddress, browser, at: seenAt }),
      ),
  );
  yield* (yield* SessionStore).recordSightings(scope.pid, sightings.flat());
});

const detectAll = Effect.fnUntraced(function* (accounts: ReadonlyArray<TownAccount>) {
  const keys = yield* ApiKeys;
  const scope = yield* keys.scopeOf({ name: "town", chatId: null, tier: "premium" }, { kind: "global" });
  yield* fill(scope, accounts);
  const alts = yield* AltDetection;
  const personOf = new Map(accounts.map(({ chatId, person }) => [chatId, person]));
  const ofPerson = Map.groupBy(accounts, ({ person }) => person);
  const options = { guildId: null, resolved: false, unknownMembers: "refuse" } as const;
  return yield* Effect.forEach(accounts, (account) =>
    Effect.map(
      alts.detect(scope, { chatId: account.chatId as ChatId, gameId: null, address: null }, options),
      (report): TownAnswer => {
        const others = (ofPerson.get(account.person) ?? []).filter((other) => other !== account);
        return {
          report,
          hasAlt: others.length > 0,
          isListed: report.matches.some(({ chatId }) => personOf.get(chatId) === account.person),
          hasTraces: others.some((other) => haveTraces(account, other)),
        };
      },
    ),
  );
});

const haveTraces = (one: TownAccount, other: TownAccount): boolean => {
  const browsers = new Set(one.visits.map(({ browser }) => browser));
  return one.gameId === other.gameId || other.visits.some(({ browser }) => browsers.has(browser));
};

export const askAbout = (plan: TownPlan): Promise<ReadonlyArray<TownAnswer>> =>
  TestClock.setTime(townTime).pipe(
    Effect.andThen(Effect.provide(detectAll(makeTown(plan)), detection)),
    Effect.provide(TestClock.layer()),
    Effect.scoped,
    Effect.runPromise,
  );

/** Precision and recall of the answers with at least a score, and how many these are. */
export interface Rates {
  readonly answers: number;
  readonly precision: number;
  readonly recall: number;
  /** The recall of those who have a game account or a browser in common with their other account. */
  readonly recallOfTraces: number;
}

export const ratesFrom = (answers: ReadonlyArray<TownAnswer>, least: number): Rates => {
  const reached = answers.filter(({ report }) => report.risk.score >= least);
  const right = reached.filter(({ hasAlt }) => hasAlt);
  const traced = answers.filter(({ hasTraces }) => hasTraces);
  return {
    answers: reached.length,
    precision: right.length / reached.length,
    recall: right.length / answers.filter(({ hasAlt }) => hasAlt).length,
    recallOfTraces: right.filter(({ hasTraces }) => hasTraces).length / traced.length,
  };
};
