import { assert, it } from "@accountlink/test-servers/effect";
import type { ChatId, GameId } from "../ids.ts";
import {
  type AltCandidate,
  type AltPlace,
  findCandidates,
  freshestFirst,
  weighCandidate,
} from "./alt_candidates.ts";
import { type AltWeights, scoreAlts, weighAddress, weighDevice } from "./alt_score.ts";

const day = 86_400_000;
const now = 1_000 * day;

const scored = (parts: Partial<AltWeights>) =>
  scoreAlts({ listed: [], unlisted: [], addresses: 0, vpnAddresses: 0, ...parts });

it("a sighting in the future weighs like one from now", () => {
  assert.strictEqual(weighDevice({ age: -5 * day, chatUsers: 2 }), 0.7);
  assert.strictEqual(weighAddress({ age: -5 * day, chatUsers: 2, isShared: false }), 0.35);
});

it.each([
  [24, 0, 24, "LOW"],
  [25, 0, 25, "MEDIUM"],
  [50, 0, 50, "HIGH"],
  [75, 0, 75, "CRITICAL"],
  [97, 1, 81, "CRITICAL"],
  [90, 3, 45, "MEDIUM"],
] as const)(
  "a weight of %i %% with %i of 3 VPN addresses scores %i",
  (alt, vpnAddresses, score, severity) => {
    const risk = scored({ listed: [alt / 100], addresses: 3, vpnAddresses });
    assert.deepInclude(risk, { alt, score, severity });
  },
);

it("the score includes the weight of an unlisted candidate if every match weighs less", () => {
  assert.strictEqual(scored({ listed: [0.5], unlisted: [0.3, 0.75] }).unlistedWeight, 0.75);
  assert.strictEqual(scored({ listed: [0.75], unlisted: [0.75] }).unlistedWeight, 0);
  assert.strictEqual(scored({ listed: [], unlisted: [] }).unlistedWeight, 0);
});

const chat = (id: number) => `${10_000 + id}` as ChatId;
const game = "1" as GameId;

const places: ReadonlyArray<AltPlace> = [
  ...[1, 4, 9, 1_000].map(
    (chatUsers) => ({ kind: "address", chatUsers, isShared: chatUsers === 1_000 }) as const,
  ),
  ...[2, 30].map((chatUsers) => ({ kind: "device", chatUsers, isShared: false }) as const),
];

it("only the latest of a candidate's sightings at one address counts, even if their address keys differ", () => {
  const visits = [5, 9, 7].map((seenAt) => ({ chatId: chat(2), place: 1, seenAt }));
  const [found] = findCandidates({ target: chat(1), games: [], visits, records: new Map() });
  assert.deepStrictEqual(found?.visits, [{ place: 1, seenAt: 9 }]);
});

const record = (id: number, gameId: GameId | null) => ({
  chatId: chat(id),
  gameId,
  linkVersion: 1,
  linkedAt: 1,
  lastVerifiedAt: 100 * day,
  proof: null,
});

it("candidates are sorted by time (of the latest sighting, else of the link, else of the review), then by chat ID", () => {
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
