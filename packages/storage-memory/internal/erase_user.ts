import {
  type Account,
  type ChatId,
  type EraseUser,
  isFinal,
  type KeyId,
  type Millis,
  type Pid,
  type UserErased,
  withoutUser,
} from "@accountlink/core";
import { Option } from "effect";
import type { Memory } from "./state.ts";
import { assertStorable } from "./storable_text.ts";
import { entriesOf } from "./user_entries.ts";
import { endVerifications } from "./verification_ends.ts";

/** Erases a user, as `UserStore.erase` says. */
export const eraseUser = (memory: Memory, write: EraseUser): Option.Option<UserErased> => {
  const { chatId, at, scopes, pseudonym, actor, requestId } = write;
  const holders = [...memory.links.values()].filter((links) => links.find(chatId) !== undefined);
  if (holders.some(({ scope }) => !scopes.includes(scope.pid))) return Option.none();
  assertStorable(pseudonym, actor.id, requestId ?? "");

  const accounts = [...memory.accounts.values()].filter((account) => account.chatId === chatId);
  const names = accounts.map(({ name }) => name);
  for (const links of holders) links.remove(chatId);
  const found: Record<"records" | "sightings" | "entries", ReadonlyArray<Pid | null>> = {
    records: holders.map(({ scope }) => scope.pid),
    sightings: forgetSightings(memory, chatId),
    entries: eraseEntries(memory, chatId, names),
  };
  eraseFromSessions(memory, chatId, at);

  const revokedKeys = accounts.flatMap((account, index) =>
    releaseAccount(memory, write, account, index === 0 ? pseudonym : `${pseudonym}-${index + 1}`),
  );
  for (const pid of new Set(Object.values(found).flat())) {
    if (pid === null) continue;
    const countIn = (pids: ReadonlyArray<Pid | null>) => pids.filter((other) => other === pid).length;
    const details = {
      records: countIn(found.records),
      sightings: countIn(found.sightings),
      entries: countIn(found.entries),
    };
    memory.record({ ...write, action: "user.erased", scope: memory.linksOf(pid).scope, details });
  }
  return Option.some({
    records: found.records.length,
    sightings: found.sightings.length,
    entries: found.entries.length,
    accounts: accounts.length,
    revokedKeys,
  });
};

const eraseFromSessions = (memory: Memory, chatId: ChatId, at: Millis): void => {
  const theirs = () => memory.sessions.filter((session) => session.chatId === chatId);
  for (const { id, state } of theirs()) if (isFinal(state)) memory.sessions.delete(id);
  for (const pid of memory.links.keys()) endVerifications(memory, pid, chatId, at);
  for (const session of theirs()) memory.sessions.change({ ...session, chatId: null }, at);
};

const forgetSightings = (memory: Memory, chatId: ChatId): ReadonlyArray<Pid> => {
  const pids: Array<Pid> = [];
  for (const [pid, sightings] of memory.sightings) {
    for (const [key, sighting] of sightings) {
      if (sighting.chatId !== chatId) continue;
      sightings.delete(key);
      pids.push(pid);
    }
  }
  return pids;
};

const eraseEntries = (memory: Memory, chatId: ChatId, names: ReadonlyArray<string>) => {
  const entries = entriesOf(memory, chatId, names);
  for (const entry of entries) {
    const log = memory.log.get(entry.account) ?? [];
    log[log.indexOf(entry)] = { ...entry, ...withoutUser(entry, chatId, names) };
  }
  return entries.map(({ pid }) => pid);
};

/** Takes chat ID and name from an account, and revokes its keys. They lose what its owner wrote into them. */
const releaseAccount = (
  memory: Memory,
  write: EraseUser,
  { name, tier }: Account,
  pseudonym: string,
): ReadonlyArray<KeyId> => {
  memory.renameAccount(name, { name: pseudonym, chatId: null, tier });
  const revoked: Array<KeyId> = [];
  for (const stored of memory.keys.values()) {
    if (stored.key.scope.account !== name) continue;
    const { scope, status, id } = stored.key;
    if (status !== "revoked") revoked.push(id);
    stored.key = {
      ...stored.key,
      scope: { ...scope, account: pseudonym },
      status: "revoked",
      name: "",
      allowIps: [],
      denyIps: [],
      redirectOrigins: [],
    };
  }
  memory.recordOfAccount(
    { ...write, action: "user.erased", details: { revokedKeys: revoked.length } },
    pseudonym,
  );
  return revoked;
};
