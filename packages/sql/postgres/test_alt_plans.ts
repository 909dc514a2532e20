/** For tests: SQL that adds many sightings and reviews, and the store operations of alt detection. */
import { ChatId, KeyId, Pid } from "@accountlink/core";
import { AltReviewStore, SightingStore } from "@accountlink/core/alts";
import { Effect } from "effect";

/** Adds the user count of each scope's shared address, since triggers are disabled, and a review for each user. */
export const fillAlts = (accounts: number) => `
  INSERT INTO place_users (pid, place_hash, users)
    SELECT scopes.pid, 'hash', COUNT(chat_id) FROM scopes LEFT JOIN sightings ON sightings.pid = scopes.pid
    GROUP BY scopes.pid;
  INSERT INTO alt_reviews (pid, chat_id, other_chat_id, verdict, reviewed_at, key_id)
    SELECT 'pid_' || lpad((i / 1000)::text, 16, '0'), (1000000 + i)::text, (1000007 + i)::text,
      'same', i, '000000000000'
    FROM generate_series(1, ${accounts * 1_000}) AS i;
`;

const pid = Pid.make("pid_0000000000000100");

/** SQL that adds sightings of users who share no address or browser, in the scope that the operations read. */
export const sightingsOfStrangers = `
  INSERT INTO sightings (pid, chat_id, place_hash, seen_at)
    SELECT '${pid}', (5000000 + i)::text, 'place ' || i, i FROM generate_series(1, 40000) AS i
  ON CONFLICT DO NOTHING`;

const chatIdOf = (index: number) => ChatId.make(`${1_100_000 + index}`);
const some = (length: number) => Array.from({ length }, (_, index) => chatIdOf(index));
const pair = {
  actor: { type: "operator", id: "test" },
  requestId: null,
  pid,
  at: 1,
  chatId: chatIdOf(50),
  otherChatId: chatIdOf(60),
} as const;

const dieUnless = (length: number) => (found: { readonly length: number }) =>
  found.length === length ? Effect.void : Effect.die(`Found ${found.length}, expected ${length}`);

export const altOperations = {
  "SightingStore.findByChatIds": SightingStore.use((sightings) =>
    Effect.tap(sightings.findByChatIds(pid, some(20), 1_000), dieUnless(20)),
  ),
  "findShared at an address of everybody in the scope": SightingStore.use((sightings) =>
    Effect.tap(
      sightings.findShared(pid, {
        hashes: ["hash", "unseen"],
        including: some(10),
        excluding: some(5),
        limit: 30,
      }),
      dieUnless(40),
    ),
  ),
  countUsers: SightingStore.use((sightings) =>
    Effect.flatMap(sightings.countUsers(pid, [["hash", "unseen"]]), ([users = 0]) =>
      dieUnless(1_000)({ length: Math.round(users / 100) * 100 }),
    ),
  ),
  "AltReviewStore.findByChatId": AltReviewStore.use((reviews) =>
    Effect.tap(reviews.findByChatId(pid, chatIdOf(100), 100), dieUnless(2)),
  ),
  "AltReviewStore.set": AltReviewStore.use((reviews) =>
    reviews.set({ ...pair, verdict: "same", note: null, keyId: KeyId.make("000000000000") }),
  ),
  "AltReviewStore.remove": AltReviewStore.use((reviews) => reviews.remove(pair)),
};
