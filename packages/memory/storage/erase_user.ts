import type { ChatId, KeyId } from "@accountlink/core";
import { hasAccepted, isSuspendedOwner } from "@accountlink/core/accounts";
import { isAtAddress, placeOf } from "@accountlink/core/addresses";
import type { AuditEntry } from "@accountlink/core/audit";
import { newEvent } from "@accountlink/core/events";
import { type Account, noSettings } from "@accountlink/core/keys";
import { isFinal } from "@accountlink/core/sessions";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import {
  countErased,
  type ErasedThing,
  type EraseUser,
  type UserErased,
  withoutUser,
} from "@accountlink/core/users";
import { Option } from "effect";
import { membershipsOf } from "./member_store.ts";
import { forgetRoles } from "./role_plan_store.ts";
import type { Memory } from "./state/state.ts";
import { keyOfErasedAccount } from "./state/stored_key.ts";
import { endVerifications } from "./verification_ends.ts";

export const eraseUser = (memory: Memory, write: EraseUser): Option.Option<UserErased> => {
  const { chatId, at, scopes, pseudonym, ownerHash } = write;
  const holders = [...memory.links.values()].filter((links) => links.find(chatId) !== undefined);
  if (holders.some(({ scope }) => !scopes.includes(scope.pid))) return Option.none();
  assertStorable([pseudonym]);

  const accounts = [...memory.accounts.values()].filter((account) => account.chatId === chatId);
  const names = accounts.map(({ name }) => name);
  for (const links of holders) links.remove(chatId);
  const things: Array<ErasedThing> = [
    ...holders.map(({ scope }) => ({ what: "records" as const, pid: scope.pid })),
    ...forgetSightings(memory, chatId),
    ...forgetReviews(memory, chatId),
    ...eraseEntries(memory, chatId, names),
  ];
  eraseFromSessions(memory, chatId, at);
  for (const [pid, events] of memory.events) if (events.erase(chatId)) things.push({ what: "events", pid });
  eraseRequests(memory, chatId);
  for (const signIn of memory.signIns.values()) {
    if (signIn.chatId === chatId || (signIn.account !== null && names.includes(signIn.account))) {
      memory.signIns.delete(signIn.id);
    }
  }
  if (membershipsOf(memory, chatId).some(isSuspendedOwner)) memory.suspendedOwners.add(ownerHash);
  eraseMember(memory, chatId);
  forgetRoles(memory, chatId);

  const revokedKeys = accounts.flatMap((account, index) =>
    releaseAccount(memory, write, account, index === 0 ? pseudonym : `${pseudonym}-${index + 1}`),
  );
  const { total, byScope } = countErased(things);
  for (const [pid, details] of byScope) {
    memory.record({ ...write, action: "user.erased", scope: memory.linksOf(pid).scope, details });
  }
  for (const pid of new Set(things.map((thing) => thing.pid))) {
    if (pid !== null) memory.append(pid, newEvent(at, { type: "user.erased", data: { chatId } }));
  }
  return Option.some({ ...total, accounts: accounts.length, revokedKeys });
};

const eraseMember = (memory: Memory, chatId: ChatId): void => {
  for (const members of memory.members.values()) {
    members.delete(chatId);
    for (const [id, member] of members) {
      if (member.invitedBy === chatId) members.set(id, { ...member, invitedBy: null });
    }
  }
};

const eraseFromSessions = (memory: Memory, chatId: ChatId, at: Millis): void => {
  const theirs = () => memory.sessions.filter((session) => session.chatId === chatId);
  for (const { id, state } of theirs()) if (isFinal(state)) memory.sessions.delete(id);
  for (const pid of memory.links.keys()) endVerifications(memory, pid, chatId, at);
  for (const session of theirs()) memory.sessions.change({ ...session, chatId: null }, at);
};

const eraseRequests = (memory: Memory, chatId: ChatId): void => {
  for (const [id, { chatIds, fingerprint, endsAt }] of memory.idempotent) {
    if (!chatIds.includes(chatId)) continue;
    memory.idempotent.set(id, { fingerprint, endsAt, chatIds: [], answer: null, isErased: true });
  }
};

const forgetSightings = (memory: Memory, chatId: ChatId): ReadonlyArray<ErasedThing> => {
  const things: Array<ErasedThing> = [];
  for (const [pid, sightings] of memory.sightings) {
    for (const sighting of sightings.of(chatId)) {
      sightings.remove(chatId, placeOf(sighting));
      things.push({ what: isAtAddress(sighting) ? "sightings" : "browsers", pid });
    }
  }
  return things;
};

const forgetReviews = (memory: Memory, chatId: ChatId): ReadonlyArray<ErasedThing> => {
  const things: Array<ErasedThing> = [];
  for (const [pid, reviews] of memory.reviews) {
    for (const { otherChatId } of reviews.of(chatId)) {
      reviews.remove(chatId, otherChatId);
      things.push({ what: "reviews", pid });
    }
  }
  return things;
};

const eraseEntries = (memory: Memory, chatId: ChatId, names: ReadonlyArray<string>) => {
  const entries = entriesOf(memory, chatId, names);
  for (const entry of entries) {
    const log = memory.log.get(entry.account) ?? [];
    log[log.indexOf(entry)] = { ...entry, ...withoutUser(entry, chatId, names) };
  }
  return entries.map(({ pid }) => ({ what: "entries" as const, pid }));
};

/**
 * Removes the chat ID and the name from an account, deletes its webhooks and role plans, revokes its keys, and clears
 * the settings that the owner entered for keys and scopes.
 */
const releaseAccount = (
  memory: Memory,
  write: EraseUser,
  { name, tier, status: accountStatus }: Account,
  pseudonym: string,
): ReadonlyArray<KeyId> => {
  for (const { id, scope } of memory.webhooks.values()) {
    if (scope.account === name) memory.webhooks.delete(id);
  }
  for (const [place, { pid }] of memory.rolePlans) {
    if (memory.linksOf(pid).scope.account === name) memory.rolePlans.delete(place);
  }
  const members = memory.members.get(name);
  for (const [id, member] of members ?? []) if (!hasAccepted(member)) members?.delete(id);
  memory.renameAccount(name, { name: pseudonym, chatId: null, tier, status: accountStatus });
  for (const { pid } of memory.scopes.get(pseudonym)?.values() ?? [])
    memory.linksOf(pid).settings = noSettings;
  const revoked: Array<KeyId> = [];
  for (const stored of memory.keys.values()) {
    const { id, scope, status } = stored.key;
    if (scope.account !== name) continue;
    if (status !== "revoked") revoked.push(id);
    memory.keys.set(id, keyOfErasedAccount(stored, pseudonym, write.at));
  }
  memory.recordOfAccount(
    { ...write, action: "user.erased", details: { revokedKeys: revoked.length } },
    pseudonym,
  );
  return revoked;
};

/** The audit entries that name a chat user or one of the user's accounts. */
export const entriesOf = (
  memory: Memory,
  chatId: ChatId,
  accountNames: ReadonlyArray<string>,
): ReadonlyArray<AuditEntry> =>
  [...memory.log.values()].flat().filter((entry) => withoutUser(entry, chatId, accountNames) !== null);
