import { assert, describe, it } from "@effect/vitest";
import type { ChatId, GameId } from "../ids.ts";
import { type AltCandidate, findCandidates } from "./alt_candidates.ts";
import { type AltEvidence, weighAddress, weighDevice, weighEvidence } from "./alt_evidence.ts";
import { type AltPlace, freshestFirst, weighCandidate } from "./alt_matches.ts";
import { type AltWeights, scoreAlts } from "./alt_score.ts";

const day = 86_400_000;
const now = 1_000 * day;

const scored = (parts: Partial<AltWeights>) =>
  scoreAlts({ listed: [], unlisted: [], addresses: 0, vpnAddresses: 0, ...parts });

describe("The weight of a browser", () => {
  // 0.7 × 2^(−age / 180) × min(1, 10 / users), by hand.
  it.each([
    [0, 2, 0.7],
    [-5, 2, 0.7],
    [0, 10, 0.7],
    [0, 20, 0.35],
    [180, 2, 0.35],
    [90, 1, 0.4949747],
    [360, 40, 0.04375],
  ])("%d days old, of %d users, is %d", (days, chatUsers, expected) => {
    assert.closeTo(weighDevice({ age: days * day, chatUsers }), expected, 1e-7);
  });
});

describe("The weight of an address", () => {
  // 0.35 × 2^(−age / 90) × min(1, 4 / users)², by hand.
  it.each([
    [0, 2, 0.35],
    [0, 4, 0.35],
    [0, 8, 0.0875],
    [0, 30, 0.0062222],
    [90, 2, 0.175],
    [45, 1, 0.2474874],
    [90, 8, 0.04375],
  ])("%d days old, of %d users, is %d", (days, chatUsers, expected) => {
    assert.closeTo(weighAddress({ age: days * day, chatUsers, isShared: false }), expected, 1e-7);
  });
});

describe("The weight of a candidate", () => {
  const seen = (kind: "device" | "address", ...each: ReadonlyArray<number>): ReadonlyArray<AltEvidence> =>
    each.map((of) => ({ kind, weight: of, lastSeenAt: 0, chatUsers: 2 }));
  const shared: AltEvidence = { kind: "game", weight: 0.9, gameId: "1" as GameId };

  it.each([
    ["nothing", [], 0],
    ["an address", seen("address", 0.35), 0.35],
    ["two addresses", seen("address", 0.35, 0.35), 0.5775],
    ["three addresses, which are at their limit", seen("address", 0.35, 0.35, 0.35), 0.6],
    ["a browser", seen("device", 0.7), 0.7],
    ["two browsers, of which the best counts", seen("device", 0.35, 0.7), 0.7],
    ["a browser and an address", [...seen("device", 0.7), ...seen("address", 0.35)], 0.805],
    ["a game", [shared], 0.9],
    ["a game and an address", [shared, ...seen("address", 0.35)], 0.935],
    [
      "a game, a browser and addresses",
      [shared, ...seen("device", 0.7), ...seen("address", 0.35, 0.35, 0.35)],
      0.988,
    ],
    ["a review among others", [...seen("address", 0.35), { kind: "review", weight: 1 }], 1],
  ] satisfies ReadonlyArray<[string, ReadonlyArray<AltEvidence>, number]>)(
    "is right with %s",
    (_, evidence, expected) => {
      assert.closeTo(weighEvidence(evidence), expected, 1e-12);
    },
  );
});

describe("The score", () => {
  it.each([
    [{}, 0, "LOW"],
    [{ listed: [0.24] }, 24, "LOW"],
    [{ listed: [0.25] }, 25, "MEDIUM"],
    [{ listed: [0.49] }, 49, "MEDIUM"],
    [{ listed: [0.5] }, 50, "HIGH"],
    [{ listed: [0.5], unlisted: [0.5] }, 50, "HIGH"],
    [{ listed: [0.5, 0.5, 0.5] }, 50, "HIGH"],
    [{ listed: [0.5], unlisted: [0.3, 0.75] }, 75, "CRITICAL"],
    [{ listed: [1], addresses: 4, vpnAddresses: 1 }, 88, "CRITICAL"],
    [{ listed: [1], addresses: 1, vpnAddresses: 1 }, 50, "HIGH"],
  ] as const)("of %j is %d, %s", (parts, score, severity) => {
    const risk = scored(parts);
    assert.deepStrictEqual([risk.score, risk.severity], [score, severity]);
  });

  it("has the greatest weight of those that are not returned, where it is above every match's", () => {
    assert.strictEqual(scored({ listed: [0.5], unlisted: [0.3, 0.75] }).unlistedWeight, 0.75);
    assert.strictEqual(scored({ listed: [0.75], unlisted: [0.75] }).unlistedWeight, 0);
    assert.strictEqual(scored({ listed: [], unlisted: [] }).unlistedWeight, 0);
  });
});

const chat = (id: number) => `${10_000 + id}` as ChatId;
const target = chat(0);
const game = "1" as GameId;

const places: ReadonlyArray<AltPlace> = [
  ...[1, 4, 9, 1_000].map(
    (chatUsers) => ({ kind: "address", chatUsers, isShared: chatUsers === 1_000 }) as const,
  ),
  ...[2, 30].map((chatUsers) => ({ kind: "device", chatUsers, isShared: false }) as const),
];

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

  it("was seen in a place or has a game in common, and is not the target", () => {
    const visits = [
      { chatId: target, place: 0, seenAt: 1 },
      { chatId: chat(3), place: 0, seenAt: 2 },
      { chatId: chat(3), place: 0, seenAt: 5 },
      { chatId: chat(3), place: 1, seenAt: 4 },
    ];
    const found = findCandidates({ target, games: [game], visits, records });
    assert.deepStrictEqual(
      found.map(({ chatId, sharedGameId, visits: own }) => [chatId, sharedGameId, own]),
      [
        [
          chat(3),
          null,
          [
            { place: 0, seenAt: 5 },
            { place: 1, seenAt: 4 },
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
        { place: 4, seenAt: at },
        { place: 1, seenAt: at - 1 },
      ],
      sharedGameId: game,
      sameSince: now,
    });
    const linked: AltCandidate = { ...blank, chatId: chat(1), record: record(1, game), sharedGameId: game };
    const called: AltCandidate = { ...blank, chatId: chat(9), sameSince: 200 * day };
    const crowd = Array.from({ length: 30 }, (_, i) => seen(40 - i, 50 * day));
    const all = [...crowd, linked, seen(2, 300 * day), called];
    const sorted = all.map((each) => weighCandidate(each, places, now)).toSorted(freshestFirst);
    assert.deepStrictEqual(
      sorted.map(({ chatId }) => chatId),
      [chat(2), chat(9), chat(1), ...Array.from({ length: 30 }, (_, i) => chat(11 + i))],
    );
    assert.deepStrictEqual(
      sorted[0]?.evidence.map(({ kind }) => kind),
      ["review", "game", "device", "address"],
    );
  });
});
