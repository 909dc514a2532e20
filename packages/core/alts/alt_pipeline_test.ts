import { assert, describe, it } from "@effect/vitest";
import * as FastCheck from "fast-check";
import type { ChatId, GameId, KeyId } from "../ids.ts";
import { type AltCandidate, findCandidates, reviewCandidates } from "./alt_candidates.ts";
import { bestWeight, weighAddress } from "./alt_evidence.ts";
import { maxListedAlts, trimAlts, weighCandidate } from "./alt_matches.ts";
import type { AltReview, AltVerdict } from "./alt_review.ts";
import { type AltWeights, scoreAlts } from "./alt_score.ts";

const day = 86_400_000;
const now = 1_000 * day;

const age = FastCheck.integer({ min: -10 * day, max: 400 * day });
const users = FastCheck.integer({ min: 0, max: 100_000 });
const weight = FastCheck.double({ min: 0, max: 1, noNaN: true });
const weights = FastCheck.array(weight, { maxLength: 60 });

const scored = (parts: Partial<AltWeights>) =>
  scoreAlts({ listed: [], unlisted: [], addresses: 0, vpnAddresses: 0, ...parts });

describe("The weight of an address", () => {
  it("is between 0 and 0.5, and on a shared network at most 0.1", () => {
    FastCheck.assert(
      FastCheck.property(age, users, (since, chatUsers) => {
        const own = weighAddress({ age: since, chatUsers, isShared: false });
        const shared = weighAddress({ age: since, chatUsers, isShared: true });
        assert.isTrue(own > 0 && own <= 0.5 && shared === Math.min(0.1, own));
      }),
    );
  });

  it("never rises with the age or the number of users", () => {
    FastCheck.assert(
      FastCheck.property(
        age,
        users,
        FastCheck.nat(),
        FastCheck.boolean(),
        (since, chatUsers, more, isShared) => {
          const before = weighAddress({ age: since, chatUsers, isShared });
          assert.isAtMost(weighAddress({ age: since + more, chatUsers, isShared }), before);
          assert.isAtMost(weighAddress({ age: since, chatUsers: chatUsers + more, isShared }), before);
        },
      ),
    );
  });
});

describe("The score", () => {
  it("is a whole number from 0 to 100, and so are alt and vpn", () => {
    FastCheck.assert(
      FastCheck.property(
        weights,
        weights,
        FastCheck.nat(20),
        FastCheck.nat(20),
        (listed, unlisted, vpn, rest) => {
          const risk = scored({ listed, unlisted, addresses: vpn + rest, vpnAddresses: vpn });
          for (const value of [risk.score, risk.alt, risk.vpn]) {
            assert.isTrue(Number.isInteger(value) && value >= 0 && value <= 100);
          }
          assert.isAtMost(risk.score, risk.alt);
        },
      ),
    );
  });

  it("never falls when a weight rises or a candidate is added, listed or not", () => {
    FastCheck.assert(
      FastCheck.property(weights, weight, weight, FastCheck.boolean(), (others, one, two, isListed) => {
        const [lower, higher] = [Math.min(one, two), Math.max(one, two)];
        const altWith = (...more: ReadonlyArray<number>) =>
          scored(isListed ? { listed: [...others, ...more] } : { listed: others, unlisted: more }).alt;
        assert.isAtMost(altWith(), altWith(lower));
        assert.isAtMost(altWith(lower), altWith(higher));
      }),
    );
  });

  it.each([
    [{}, 0, "LOW"],
    [{ listed: [0.24] }, 24, "LOW"],
    [{ listed: [0.25] }, 25, "MEDIUM"],
    [{ listed: [0.49] }, 49, "MEDIUM"],
    [{ listed: [0.5] }, 50, "HIGH"],
    [{ listed: [0.5], unlisted: [0.5] }, 75, "CRITICAL"],
    [{ listed: [1], addresses: 4, vpnAddresses: 1 }, 88, "CRITICAL"],
    [{ listed: [1], addresses: 1, vpnAddresses: 1 }, 50, "HIGH"],
  ] as const)("of %j is %d, %s", (parts, score, severity) => {
    const risk = scored(parts);
    assert.deepStrictEqual([risk.score, risk.severity], [score, severity]);
  });
});

const chat = (id: number) => `${10_000 + id}` as ChatId;
const target = chat(0);
const game = "1" as GameId;

const review = (id: number, verdict: AltVerdict): AltReview => ({
  chatId: target,
  otherChatId: chat(id),
  verdict,
  note: null,
  at: now,
  keyId: "k" as KeyId,
});

const candidate = FastCheck.record({
  id: FastCheck.integer({ min: 1, max: 12 }),
  visits: FastCheck.uniqueArray(
    FastCheck.record({ address: FastCheck.nat(3), seenAt: FastCheck.integer({ min: 800 * day, max: now }) }),
    { selector: ({ address }) => address, maxLength: 4 },
  ),
  sharesGame: FastCheck.boolean(),
}).map(
  ({ id, visits, sharesGame }): AltCandidate => ({
    chatId: chat(id),
    record: undefined,
    visits,
    sharedGameId: sharesGame ? game : null,
    sameSince: null,
  }),
);
const candidates = FastCheck.uniqueArray(candidate, { selector: ({ chatId }) => chatId, maxLength: 12 });
const reviewedId = FastCheck.integer({ min: 1, max: 14 });
const addresses = [1, 4, 9, 1_000].map((chatUsers) => ({ chatUsers, isShared: chatUsers === 1_000 }));

const altOf = (found: ReadonlyArray<AltCandidate>, reviews: ReadonlyArray<AltReview>): number => {
  const reviewed = reviewCandidates(found, reviews, new Map());
  const { listed, unlisted } = trimAlts(reviewed.map((each) => weighCandidate(each, addresses, now)));
  const best = (alts: typeof listed) => alts.map(({ evidence }) => bestWeight(evidence));
  return scored({ listed: best(listed), unlisted: best(unlisted) }).alt;
};

describe("A review", () => {
  it("that says different never raises the score, one that says same never lowers it", () => {
    FastCheck.assert(
      FastCheck.property(candidates, reviewedId, reviewedId, (found, id, other) => {
        const before = [review(other, "same")].filter(() => other !== id);
        assert.isAtMost(altOf(found, [...before, review(id, "different")]), altOf(found, before));
        assert.isAtLeast(altOf(found, [...before, review(id, "same")]), altOf(found, before));
      }),
    );
  });
});

describe("A candidate", () => {
  const record = (id: number, gameId: GameId | null) => ({
    chatId: chat(id),
    gameId,
    linkVersion: 1,
    linkedAt: 1,
    lastVerifiedAt: 100 * day,
  });
  const records = new Map(
    [record(0, game), record(1, game), record(2, "2" as GameId)].map((each) => [each.chatId, each]),
  );

  it("was seen at an address or has a game in common, and is not the target", () => {
    const visits = [
      { chatId: target, address: 0, seenAt: 1 },
      { chatId: chat(3), address: 0, seenAt: 2 },
      { chatId: chat(3), address: 0, seenAt: 5 },
      { chatId: chat(3), address: 1, seenAt: 4 },
    ];
    const found = findCandidates({ target, games: [game], visits, records });
    assert.deepStrictEqual(
      found.map(({ chatId, sharedGameId, visits: own }) => [chatId, sharedGameId, own]),
      [
        [
          chat(3),
          null,
          [
            { address: 0, seenAt: 5 },
            { address: 1, seenAt: 4 },
          ],
        ],
        [chat(1), game, []],
      ],
    );
  });

  it("is placed by its latest sighting, else by its link, else by its review, ties by chat ID", () => {
    const blank = { record: undefined, visits: [], sharedGameId: null, sameSince: null };
    const seen = (id: number, at: number): AltCandidate => ({
      ...blank,
      chatId: chat(id),
      visits: [
        { address: 0, seenAt: at },
        { address: 1, seenAt: at - 1 },
      ],
      sharedGameId: game,
      sameSince: now,
    });
    const linked: AltCandidate = { ...blank, chatId: chat(1), record: record(1, game), sharedGameId: game };
    const called: AltCandidate = { ...blank, chatId: chat(9), sameSince: 200 * day };
    const crowd = Array.from({ length: 30 }, (_, i) => seen(40 - i, 50 * day));
    const all = [...crowd, linked, seen(2, 300 * day), called];
    const { listed, unlisted } = trimAlts(all.map((each) => weighCandidate(each, addresses, now)));
    assert.strictEqual(listed.length, maxListedAlts);
    assert.deepStrictEqual(
      [...listed, ...unlisted].map(({ chatId }) => chatId),
      [chat(2), chat(9), chat(1), ...Array.from({ length: 30 }, (_, i) => chat(11 + i))],
    );
    assert.deepStrictEqual(
      listed[0]?.evidence.map(({ kind }) => kind),
      ["review", "game", "address", "address"],
    );
  });
});
