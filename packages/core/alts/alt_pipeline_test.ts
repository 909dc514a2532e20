import { assert, it } from "@accountlink/test-servers/effect";
import type { ChatId } from "../ids.ts";
import { findCandidates } from "./alt_candidates.ts";
import { type AltWeights, scoreAlts, weighAddress, weighDevice } from "./alt_score.ts";

const day = 86_400_000;

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

it("only the latest of a candidate's sightings at one address counts, even if their address keys differ", () => {
  const visits = [5, 9, 7].map((seenAt) => ({ chatId: chat(2), place: 1, seenAt }));
  const [found] = findCandidates({ target: chat(1), games: [], visits, records: new Map() });
  assert.deepStrictEqual(found?.visits, [{ place: 1, seenAt: 9 }]);
});
