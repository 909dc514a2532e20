/** Compares alt detection with a plain computation from the stored data, and checks each report for consistency. */
import { assert, test } from "@accountlink/test-servers/effect";
import { Effect, Layer } from "effect";
import { TestClock } from "effect/testing";
import * as FastCheck from "fast-check";
import * as AccountLink from "../account_link.ts";
import { AddressVault } from "../addresses/address_vault.ts";
import { sightingsOf } from "../addresses/sighting.ts";
import type { ChatId, GameId } from "../ids.ts";
import { ApiKeys } from "../keys/api_keys.ts";
import { LinkStore } from "../links/link_store.ts";
import { SessionStore } from "../sessions/session_store.ts";
import { address, chatId, operator, services, vaultWith } from "../test_services.ts";
import { AltDetection, type AltReport } from "./alt_detection.ts";
import { NetworkIntelligence } from "./network_intelligence.ts";

const day = 86_400_000;
const now = 1_000 * day;

const users = Array.from({ length: 40 }, (_, index) => chatId(String(10_001 + index)));
const user = FastCheck.constantFrom(...users.slice(0, 8));
const visit = FastCheck.record({
  // Some of the users share an address with many others.
  user: FastCheck.oneof(
    { weight: 4, arbitrary: user },
    { weight: 1, arbitrary: FastCheck.constantFrom(...users) },
  ),
  place: FastCheck.constantFrom(1, 2, 3, 4),
  browser: FastCheck.option(FastCheck.constantFrom("phone", "laptop", "club")),
  days: FastCheck.integer({ min: 0, max: 400 }),
});
const crowd = FastCheck.constantFrom(0, 3, 12, 39).map((size) =>
  users.slice(0, size).map((each, index) => ({ user: each, place: 1, browser: "club", days: index })),
);
const town = FastCheck.record({
  visits: FastCheck.tuple(FastCheck.array(visit, { maxLength: 25 }), crowd).map((each) => each.flat()),
  games: FastCheck.array(FastCheck.option(FastCheck.constantFrom("1", "2")), { minLength: 8, maxLength: 8 }),
  asked: FastCheck.constantFrom("chat", "game"),
});
type Town = typeof town extends FastCheck.Arbitrary<infer T> ? T : never;

interface Expected {
  readonly chatId: ChatId;
  readonly weight: number;
  /** When the candidate was seen last at a shared place, else when the link was verified. */
  readonly freshness: number;
}

/** Computes the expected candidates and their weights directly from all visits and links. */
const plain = (
  { visits }: Town,
  linked: ReadonlyMap<ChatId, string>,
  seeds: ReadonlyArray<ChatId>,
  games: ReadonlyArray<string>,
  target: ChatId,
) => {
  const expected: Array<Expected> = [];
  for (const [index, candidate] of users.entries()) {
    if (candidate === target) continue;
    let [withoutAddresses, device, latest]: [number, number, number | null] = [1, 0, null];
    for (const kind of ["place", "browser"] as const) {
      const there = (value: unknown) => visits.filter((each) => each[kind] === value);
      const ofSeeds = new Set(visits.filter((each) => seeds.includes(each.user)).map((each) => each[kind]));
      ofSeeds.delete(null);
      for (const value of ofSeeds) {
        const own = there(value).filter((each) => each.user === candidate);
        if (own.length === 0) continue;
        const age = Math.min(...own.map(({ days }) => days));
        const count = new Set(there(value).map((each) => each.user)).size;
        latest = Math.max(latest ?? 0, now - age * day);
        if (kind === "browser") device = Math.max(device, 0.7 * 2 ** (-age / 180) * Math.min(1, 10 / count));
        else withoutAddresses *= 1 - 0.35 * 2 ** (-age / 90) * Math.min(1, 4 / count) ** 2;
      }
    }
    const game = games.includes(linked.get(candidate) ?? "none") ? 0.9 : 0;
    if (latest === null && game === 0) continue;
    const weight = 1 - (1 - game) * (1 - device) * (1 - Math.min(0.6, 1 - withoutAddresses));
    expected.push({ chatId: candidate, weight, freshness: latest ?? index });
  }
  return expected;
};

/** Computes the score from the weights in a report, as docs/alts.md describes. */
const altOf = ({ matches, risk }: AltReport): number =>
  Math.round(100 * Math.max(risk.unlistedWeight, ...matches.map(({ weight }) => weight)));

const alts = AccountLink.layerAlts.pipe(
  Layer.provideMerge(Layer.merge(vaultWith(1), NetworkIntelligence.none)),
  Layer.provideMerge(services),
);

const check = Effect.fnUntraced(function* (given: Town, name: string) {
  const { pid } = yield* (yield* ApiKeys).scopeOf(
    { name, chatId: null, tier: "premium" },
    { kind: "global" },
  );
  const scope = { kind: "global", pid, account: name } as const;
  const { protect } = yield* AddressVault;
  const seen = yield* Effect.forEach(given.visits, ({ user: of, place, browser, days }) =>
    Effect.map(protect(address(`203.0.113.${place}`)), (protectedAddress) =>
      sightingsOf({ chatId: of, address: protectedAddress, browser, at: now - days * day }),
    ),
  );
  yield* (yield* SessionStore).recordSightings(pid, seen.flat());
  const links = given.games.flatMap((gameId, index) =>
    gameId === null
      ? []
      : [{ chatId: users[index] as ChatId, gameId: gameId as GameId, lastVerifiedAt: index }],
  );
  yield* (yield* LinkStore).importBatch({
    ...operator,
    pid,
    at: now,
    links,
    existing: "keep",
    proof: null,
    progress: { source: name, position: 1 },
  });
  const linked = new Map(links.map((link) => [link.chatId, link.gameId]));

  const ofGame = links
    .filter(({ gameId }) => gameId === "1")
    .map((link) => link.chatId)
    .toReversed();
  const [first = chatId("10001")] = users;
  const isByGame = given.asked === "game" && ofGame.length > 0;
  const target = isByGame ? (ofGame[0] as ChatId) : first;
  const query = isByGame
    ? { chatId: null, gameId: "1" as GameId, address: null }
    : { chatId: target, gameId: null, address: null };
  const options = { guildId: null, resolved: false, unknownMembers: "refuse" } as const;
  const report = yield* (yield* AltDetection).detect(scope, query, options);

  const own = linked.get(target);
  const games = isByGame ? ["1"] : own === undefined ? [] : [own];
  const expected = plain(given, linked, isByGame ? ofGame : [target], games, target);
  const best = Math.max(0, ...expected.map(({ weight }) => weight));
  assert.strictEqual(report.risk.alt, Math.round(100 * best));
  assert.strictEqual(altOf(report), report.risk.alt);
  const sorted = expected.toSorted((one, other) => other.freshness - one.freshness);
  assert.deepEqual(
    report.matches.map((match) => match.chatId),
    sorted.slice(0, 25).map((each) => each.chatId),
  );
  for (const match of report.matches) {
    const same = expected.find((each) => each.chatId === match.chatId);
    assert.closeTo(match.weight, same?.weight ?? Number.NaN, 1e-9);
    assert.deepEqual(
      match.evidence,
      match.evidence.toSorted((one, other) => other.weight - one.weight),
    );
  }
});

test("a report has the matches that a plain computation finds in all sightings and links", () =>
  // Set the time before services start, or their timers would run through all earlier days.
  Effect.andThen(
    TestClock.setTime(now),
    Effect.forEach(FastCheck.sample(town, 150), (given, index) => check(given, `town ${index}`)).pipe(
      Effect.provide(alts),
    ),
  ));
