import type { ChatId, KeyId } from "@accountlink/core";
import { isInCharge, isSuspendedOwner } from "@accountlink/core/accounts";
import { isAtAddress } from "@accountlink/core/addresses";
import { eventWithoutUser, newEvent } from "@accountlink/core/events";
import type { Account } from "@accountlink/core/keys";
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
import { closeAccount, pauseAll, releaseAccount } from "./account_end.ts";
import { endVerifications } from "./flow_store.ts";
import { forgetInLogs } from "./guild_log_store.ts";
import { membershipsOf } from "./member_store.ts";
import type { Memory } from "./state.ts";
import { forgetSuspects } from "./suspect_store.ts";
import { forgetRoles } from "./user_roles.ts";

export const eraseUser = (memory: Memory, write: EraseUser): Option.Option<UserErased> => {
  const { chatId, at, scopes, pseudonym, ownerHash } = write;
  const holders = [...memory.links.values()].filter((links) => links.find(chatId) !== undefined);
  if (holders.some(({ scope }) => !scopes.includes(scope.pid))) return Option.none();
  assertStorable([pseudonym]);

  const accounts = [...memory.accounts.values()].filter((account) => account.chatId === chatId);
  const names = accounts.map(({ name }) => name);
  for (const links of holders) links.remove(chatId);
  for (const { links } of memory.linkImports.values()) links.delete(chatId);
  const things: Array<ErasedThing> = [
    ...holders.map(({ scope }) => ({ what: "records" as const, pid: scope.pid })),
    ...eraseSightings(memory, chatId),
    ...eraseReviews(memory, chatId),
    ...eraseEntries(memory, chatId, names),
    ...forgetInLogs(memory, chatId, at).map((pid) => ({ what: "messages" as const, pid })),
  ];
  eraseFromSessions(memory, chatId, at);
  things.push(...eraseFromEvents(memory, chatId));
  eraseRequests(memory, chatId);
  eraseFromBlocks(memory, chatId);
  forgetSuspects(memory, chatId);
  for (const signIn of memory.signIns.values()) {
    if (signIn.chatId === chatId) memory.signIns.delete(signIn.id);
  }
  if (membershipsOf(memory, chatId).some(isSuspendedOwner)) memory.suspendedOwners.add(ownerHash);
  const run = membershipsOf(memory, chatId)
    .filter((member) => isInCharge(member) && member.account.chatId !== chatId)
    .map(({ account }) => account.name)
    .toSorted();
  eraseMember(memory, chatId);
  forgetRoles(memory, chatId);

  const released = accounts.flatMap((account, index) =>
    endOwn(memory, write, account, index === 0 ? pseudonym : `${pseudonym}-${index + 1}`),
  );
  const revokedKeys = [...released, ...run.flatMap((account) => leaveAccount(memory, write, account))];
  const { total, byScope } = countErased(things);
  for (const [pid, details] of byScope) memory.record({ ...write, pid, action: "user.erased", details });
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
  for (const [id, { session }] of memory.sessions) {
    if (session.chatId === chatId && isFinal(session.state)) memory.sessions.delete(id);
  }
  for (const pid of memory.links.keys()) endVerifications(memory, pid, chatId, at);
  for (const [id, stored] of memory.sessions) {
    const { session } = stored;
    if (session.chatId === chatId)
      memory.sessions.set(id, { ...stored, session: { ...session, chatId: null } });
  }
};

const eraseFromEvents = (memory: Memory, chatId: ChatId): ReadonlyArray<ErasedThing> =>
  [...memory.events].flatMap(([pid, feed]) => {
    const erased = feed.events.map((event) => eventWithoutUser(event, chatId));
    feed.events = feed.events.map((event, i) => erased[i] ?? event);
    return erased.some((event) => event !== null) ? [{ what: "events", pid }] : [];
  });

const eraseRequests = (memory: Memory, chatId: ChatId): void => {
  for (const [id, { chatIds, fingerprint, endsAt }] of memory.idempotent) {
    if (!chatIds.includes(chatId)) continue;
    memory.idempotent.set(id, { fingerprint, endsAt, chatIds: [], answer: null });
  }
};

const eraseFromBlocks = (memory: Memory, chatId: ChatId): void => {
  for (const blocks of memory.blocks.values()) {
    for (const [hash, block] of blocks) {
      const isTheirs = block.chatId === chatId;
      const member = block.member === chatId ? null : block.member;
      blocks.set(hash, { ...block, ...(isTheirs && { chatId: null, reason: null }), member });
    }
  }
};

/** The sightings of a chat user in all scopes, with the keys of `Memory.sightings`. */
export const sightingsOf = (memory: Memory, chatId: ChatId) =>
  [...memory.sightings].filter(([, { sighting }]) => sighting.chatId === chatId);

const eraseSightings = (memory: Memory, chatId: ChatId): ReadonlyArray<ErasedThing> =>
  sightingsOf(memory, chatId).map(([name, { pid, sighting }]) => {
    memory.sightings.delete(name);
    return { what: isAtAddress(sighting) ? "sightings" : "browsers", pid };
  });

const eraseReviews = (memory: Memory, chatId: ChatId): ReadonlyArray<ErasedThing> =>
  [...memory.reviews].flatMap(([name, { pid, review }]) => {
    if (review.chatId !== chatId && review.otherChatId !== chatId) return [];
    memory.reviews.delete(name);
    return [{ what: "reviews", pid }];
  });

const eraseEntries = (
  memory: Memory,
  chatId: ChatId,
  names: ReadonlyArray<string>,
): ReadonlyArray<ErasedThing> => {
  const entries = entriesOf(memory, chatId, names);
  memory.log = memory.log.map((entry) => ({ ...entry, ...withoutUser(entry, chatId, names) }));
  return entries.map(({ pid }) => ({ what: "entries", pid }));
};

const isClosed = (memory: Memory, account: string): boolean =>
  ![...(memory.members.get(account)?.values() ?? [])].some(isInCharge);

/** Closes an account if the user was its last owner or admin, and returns the revoked keys. */
const leaveAccount = (memory: Memory, write: EraseUser, account: string): ReadonlyArray<KeyId> => {
  if (!isClosed(memory, account)) return [];
  const revoked = closeAccount(memory, account, write.at);
  memory.recordOfAccount(
    { ...write, action: "user.erased", details: { revokedKeys: revoked.length } },
    account,
  );
  return revoked;
};

/** Releases an account of the user. If no owner or admin is left, pauses its webhooks and role plans. */
const endOwn = (
  memory: Memory,
  write: EraseUser,
  account: Account,
  pseudonym: string,
): ReadonlyArray<KeyId> => {
  const revoked = releaseAccount(memory, account, pseudonym, write.at);
  if (isClosed(memory, pseudonym)) pauseAll(memory, pseudonym, write.at);
  const details = { revokedKeys: revoked.length };
  memory.recordOfAccount({ ...write, action: "user.erased", details }, pseudonym);
  return revoked;
};

/** The audit entries that name a chat user or one of the user's accounts. */
export const entriesOf = (memory: Memory, chatId: ChatId, accountNames: ReadonlyArray<string>) =>
  memory.log.filter((entry) => withoutUser(entry, chatId, accountNames) !== null);
