import type { DataScope } from "@accountlink/core";
import type { FeedEvent } from "@accountlink/core/events";
import { dayMs } from "@accountlink/core/timestamp";
import { Array as Arr, Effect } from "effect";
import { chess, poker } from "../scopes.ts";
import { hashOf, ownOf, said } from "./link_operations.ts";
import { worldOf } from "./operation.ts";
import { newLinksOf } from "./people_operations.ts";
import { plain } from "./run_command.ts";
import type { CommandSubjects } from "./subjects.ts";

const each = <A, B, E, R>(all: ReadonlyArray<A>, read: (one: A) => Effect.Effect<B, E, R>) =>
  Effect.forEach(all, (one) => Effect.map(read(one), plain));

/** Reads the stored state that is compared after the commands. */
export const observe = Effect.fnUntraced(function* (subjects: CommandSubjects) {
  const world = yield* worldOf(subjects, {});
  const {
    account,
    links,
    imports,
    keys,
    log,
    events,
    sessions,
    flows,
    usage,
    reviews,
    suspects,
    blocks,
    signIns,
  } = world;
  const users = [...world.users.values()];
  const positions = [0, 1, 2].flatMap((lastVerifiedAt) =>
    users.map((chatId) => ({ lastVerifiedAt, chatId })),
  );
  const ofUser = { action: null, keyId: null, chatId: users[0] ?? null };
  const observeScope = ({ pid }: DataScope) =>
    Effect.all([
      each(users, (chatId) => links.findByChatId(pid, chatId)),
      each([users], (all) => links.findByChatIds(pid, all)),
      each([users], (all) => links.findGamesByChatIds(pid, all)),
      each([[chess, poker]], (all) => links.findByGameIds(pid, all)),
      each([1, 100], (limit) => links.exportPage(pid, null, limit)),
      each([1, 100], (limit) => links.newestPage(pid, null, limit)),
      each(positions, (position) => links.newestPage(pid, position, 1)),
      each(positions, (position) => links.newestPage(pid, position, 2, "newer")),
      links.countLinks(pid),
      links.countLinks(pid, { verified: { from: 0, before: dayMs } }),
      links.countLinks(pid, { verified: { from: 1, before: 2 } }),
      Effect.map(links.countWays(pid, 1), (ways) => new Set(ways)),
      imports.importPosition(pid),
      Effect.map(events.readBack(pid, null, 1_000), happened),
      each(users, (chatId) => reviews.findByChatId(pid, chatId, null)),
      each(users, (chatId) => reviews.findByChatId(pid, chatId, 1)),
      suspects.find(pid, 0),
      newLinksOf(suspects, pid),
      blocks.count(pid),
      blocks.page(pid, null, 10),
      each(positions, ({ lastVerifiedAt: at, chatId }) => blocks.page(pid, { at, hash: hashOf(chatId) }, 2)),
    ]);
  const { entries } = yield* log.list(account.name, null, 1_000);
  const { entries: entriesOfUser } = yield* log.list(account.name, null, 1_000, ofUser);
  return {
    scopes: yield* Effect.all([observeScope(subjects.global), observeScope(subjects.guild)]),
    account: [yield* keys.findAccount(account.name), yield* keys.countKeys(account.name)],
    settings: yield* keys.listScopes(account.name),
    accepted: new Set(yield* keys.acceptedAmong(subjects.keyIds, 1)),
    keys: yield* Effect.forEach([0, 1, 2, 3], (at) => keys.listKeys(account.name, at)),
    details: yield* each(subjects.keyIds, (id) => keys.findDetails(id, 1)),
    secrets: yield* each(subjects.hashes, (hash) => keys.findByHash(hash)),
    sessions: yield* each(subjects.sessionIds, (id) => sessions.find(id)),
    changedSessions: ownOf(subjects.sessionIds, yield* sessions.changedSince(0, subjects.sessionIds)),
    signIns: yield* each(subjects.people, (person) => signIns.list("dashboard", person, 0)),
    flows: yield* each(subjects.flowIds, (id) => flows.find(id, 0)),
    // The sequence numbers differ between stores, and so does the order of the scopes in an erasure.
    entries: Arr.groupBy(
      entries.map(({ sequence: _, ...entry }) => entry),
      ({ pid }) => pid ?? "account",
    ),
    entriesOfUser: entriesOfUser.map(({ at, action }) => [at, action]),
    usage: yield* usage.days({ account: account.name }, 0),
  };
});

export type Observation = Effect.Success<ReturnType<typeof observe>>;

const isOfSession = ({ type }: FeedEvent) => type.startsWith("session.");

/**
 * Converts the events of a feed to comparable values. Session events become a set, since one write may end several
 * sessions in any order.
 */
const happened = (events: ReadonlyArray<FeedEvent>) => [
  events.filter((event) => !isOfSession(event)).map(said),
  new Set(events.filter(isOfSession).map(said)),
];
