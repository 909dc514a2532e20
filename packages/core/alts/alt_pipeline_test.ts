import { assert, it } from "@accountlink/test-servers/effect";
import type { ChatId, GameId } from "../ids.ts";
import { findCandidates } from "./alt_candidates.ts";
import {
  type AltEvidence,
  type AltWeights,
  scoreAlts,
  weighAddress,
  weighDevice,
  weighEvidence,
} from "./alt_score.ts";

const day = 86_400_000;

const scored = (parts: Partial<AltWeights>) =>
  scoreAlts({ listed: [], unlisted: [], addresses: 0, vpnAddresses: 0, ...parts });

it.each([
  [0, 1, 0.7, 0.35],
  [-5, 2, 0.7, 0.35],
  [90, 1, 0.7 * 2 ** -0.5, 0.175],
  [180, 4, 0.35, 0.0875],
  [0, 8, 0.7, 0.0875],
  [0, 20, 0.35, 0.014],
])(
  "a place that was shared %d days ago by %d users weighs %d as a browser and %d as an address",
  (days, chatUsers, browser, place) => {
    const shared = { age: days * day, chatUsers };
    assert.closeTo(weighDevice(shared), browser, 1e-9);
    assert.closeTo(weighAddress({ ...shared, isShared: false }), place, 1e-9);
    assert.closeTo(weighAddress({ ...shared, isShared: true }), Math.min(0.1, place), 1e-9);
  },
);

const evidence = (kind: "device" | "address", weight: number): AltEvidence => ({
  kind,
  weight,
  lastSeenAt: 0,
  chatUsers: 2,
});
const address = (weight: number) => evidence("address", weight);
const game: AltEvidence = { kind: "game", weight: 0.9, gameId: "1" as GameId };

it.each<[reasons: ReadonlyArray<AltEvidence>, weight: number]>([
  [[], 0],
  [[address(0.35), address(0.2)], 0.48],
  [[address(0.35), address(0.35), address(0.35)], 0.6],
  [[evidence("device", 0.7), evidence("device", 0.6)], 0.7],
  [[game, evidence("device", 0.7), address(0.5)], 0.985],
  [[address(0.1), { kind: "review", weight: 1 }], 1],
])("the reasons %j weigh %d together", (reasons, weight) => {
  assert.closeTo(weighEvidence(reasons), weight, 1e-9);
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

it("only the latest of a candidate's sightings at one address counts, even if their address keys differ", () => {
  const visits = [5, 9, 7].map((seenAt) => ({ chatId: chat(2), place: 1, seenAt }));
  const [found] = findCandidates({ target: chat(1), games: [], visits, records: new Map() });
  assert.deepStrictEqual(found?.visits, [{ place: 1, seenAt: 9 }]);
});
