import type { ChatId, KeyId, Pid } from "@accountlink/core";
import { isAtAddress } from "@accountlink/core/addresses";
import { eventWithoutUser, newEvent } from "@accountlink/core/events";
import { type Account, keyOfErasedAccount } from "@accountlink/core/keys";
import { isFinal } from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import {
  countErased,
  type ErasedThing,
  type EraseUser,
  type UserErased,
  withoutUser,
} from "@accountlink/core/users";
import { Effect, Option } from "effect";
import { removeSighting } from "../alts/sightings.ts";
import { recordChange } from "../audit/record_change.ts";
import { appendEvents } from "../events/append_events.ts";
import { endVerifications } from "../flow/verification_ends.ts";
import { requireScope } from "../keys/accounts.ts";
import { removeLink } from "../links/link_records.ts";
import {
  accounts,
  entries,
  events,
  flows,
  keys,
  links,
  requests,
  reviews,
  scopes,
  sessions,
  settings,
  sightings,
  signIns,
  webhooks,
} from "../records/schema.ts";
import type { Transaction } from "../records/transaction.ts";
import { removeWebhook } from "../webhooks/webhook_store.ts";

/** Implements `UserStore.erase`. */
export const eraseUser = Effect.fnUntraced(function* (tx: Transaction, write: EraseUser) {
  const { chatId, at, pseudonym } = write;
  const records = yield* links.list(tx, "chat", [chatId]);
  if (records.some(({ pid }) => !write.scopes.includes(pid))) return Option.none<UserErased>();
  const owned = yield* accounts.list(tx, "chat", [chatId]);

  for (const { pid, record } of records) yield* removeLink(tx, pid, record);
  const seen = yield* sightings.list(tx, "chat", [chatId]);
  for (const { pid, sighting } of seen) yield* removeSighting(tx, pid, sighting);
  const reviewed = yield* reviews.list(tx, "chat", [chatId]);
  for (const review of reviewed) yield* reviews.discard(tx, review);
  const erased = yield* eraseEntries(tx, chatId, owned);
  yield* eraseFromSessions(tx, chatId, at);
  const named = yield* eraseEvents(tx, chatId);
  for (const request of yield* requests.list(tx, "chat", [chatId])) {
    // Without its request ID, nothing can commit with it.
    const nothing = { requestId: "", answer: null, chatIds: [], heldUntil: null, isErased: true };
    yield* requests.put(tx, { ...request, ...nothing });
  }
  for (const signIn of yield* signIns.list(tx, "chat", [chatId])) yield* signIns.discard(tx, signIn);

  const revokedKeys: Array<KeyId> = [];
  for (const [i, account] of owned.entries()) {
    const name = i === 0 ? pseudonym : `${pseudonym}-${i + 1}`;
    revokedKeys.push(...(yield* releaseAccount(tx, write, account, name)));
  }
  const things = [
    ...thingsOf("records", records),
    ...seen.flatMap((each) => thingsOf(isAtAddress(each.sighting) ? "sightings" : "browsers", [each])),
    ...thingsOf("reviews", reviewed),
    ...thingsOf("entries", erased),
    ...thingsOf("events", named),
  ];
  const { total, byScope } = countErased(things);
  for (const [pid, details] of byScope) {
    yield* recordChange(tx, { ...write, action: "user.erased", of: yield* requireScope(tx, pid), details });
  }
  for (const pid of new Set(things.map((thing) => thing.pid))) {
    const event = newEvent(at, { type: "user.erased", data: { chatId } });
    if (pid !== null) yield* appendEvents(tx, pid, [event]);
  }
  return Option.some<UserErased>({ ...total, accounts: owned.length, revokedKeys });
});

const thingsOf = (what: ErasedThing["what"], all: ReadonlyArray<{ readonly pid: Pid | null }>) =>
  all.map(({ pid }): ErasedThing => ({ what, pid }));

const eraseEntries = Effect.fnUntraced(function* (
  tx: Transaction,
  chatId: ChatId,
  owned: ReadonlyArray<Account>,
) {
  const names = owned.map(({ name }) => name);
  const erased = (yield* entries.scan(tx, [])).flatMap((entry) => {
    const rest = withoutUser(entry, chatId, names);
    return rest === null ? [] : [{ ...entry, ...rest }];
  });
  for (const entry of erased) yield* entries.put(tx, entry);
  return erased;
});

/** Takes the user out of their events, and returns these. */
const eraseEvents = Effect.fnUntraced(function* (tx: Transaction, chatId: ChatId) {
  const erased = (yield* events.scan(tx, [])).flatMap(({ pid, event }) => {
    const rest = eventWithoutUser(event, chatId);
    return rest === null ? [] : [{ pid, event: rest }];
  });
  for (const named of erased) yield* events.put(tx, named);
  return erased;
});

const eraseFromSessions = Effect.fnUntraced(function* (tx: Transaction, chatId: ChatId, at: Millis) {
  for (const stored of yield* sessions.list(tx, "chat", [chatId])) {
    if (isFinal(stored.session.state)) yield* sessions.discard(tx, stored);
  }
  const open = yield* sessions.list(tx, "chat", [chatId]);
  const proven = yield* flows.list(tx, "chat", [chatId]);
  const pids = new Set([...open.map(({ session }) => session.pid), ...proven.map(({ pid }) => pid)]);
  for (const pid of pids) yield* endVerifications(tx, pid, chatId, at);
  for (const found of yield* sessions.list(tx, "chat", [chatId])) {
    yield* sessions.put(tx, { ...found, session: { ...found.session, chatId: null }, changedAt: at });
  }
});

/** Removes chat ID and name from an account, deletes its webhooks, and revokes its keys. */
const releaseAccount = Effect.fnUntraced(function* (
  tx: Transaction,
  write: EraseUser,
  { name, ...account }: Account,
  pseudonym: string,
) {
  yield* accounts.remove(tx, name);
  yield* accounts.put(tx, { ...account, name: pseudonym, chatId: null });
  for (const scope of yield* scopes.list(tx, "target", [name])) {
    for (const webhook of yield* webhooks.list(tx, "scope", [scope.pid])) yield* removeWebhook(tx, webhook);
    yield* scopes.put(tx, { ...scope, account: pseudonym });
    yield* settings.remove(tx, scope.pid);
  }
  for (const entry of yield* entries.list(tx, "account", [name])) {
    yield* entries.put(tx, { ...entry, account: pseudonym });
  }
  const revoked: Array<KeyId> = [];
  for (const stored of yield* keys.list(tx, "account", [name])) {
    if (stored.key.status !== "revoked") revoked.push(stored.key.id);
    yield* keys.put(tx, keyOfErasedAccount(stored, pseudonym, write.at));
  }
  const details = { revokedKeys: revoked.length };
  yield* recordChange(tx, { ...write, action: "user.erased", of: pseudonym, details });
  return revoked;
});
