import type { ChatId } from "@accountlink/core";
import type { SignInId } from "@accountlink/core/ids";
import { type BegunSignIn, type SignInSite, SignInStore, type SiteSignIn } from "@accountlink/core/sign_ins";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Option } from "effect";
import { layerOf, type Memory } from "./state/state.ts";

/** Finds sign-ins in O(1), and the sign-ins of a person by a scan. */
export const layer = layerOf(SignInStore, (memory) => ({
  begin: (begun) => begin(memory, begun),
  takeBegun: (site, stateHash, at) => takeBegun(memory, site, stateHash, at),
  create: (signIn, replaced) => create(memory, signIn, replaced),
  find: (site, id, at) =>
    Option.filter(
      Option.fromUndefinedOr(memory.signIns.get(id)),
      (signIn) => signIn.site === site && at < signIn.expiresAt,
    ),
  list: (site, chatId, at) =>
    signInsOf(memory, site, chatId)
      .filter(({ expiresAt }) => at < expiresAt)
      .toSorted(newestFirst),
  end: (site, chatId, id) => {
    const ended = signInsOf(memory, site, chatId).filter((signIn) => id === null || signIn.id === id);
    for (const signIn of ended) memory.signIns.delete(signIn.id);
    return ended.length;
  },
  sweep: (at) => sweep(memory, at),
}));

const begin = (memory: Memory, begun: BegunSignIn): void => {
  assertStorable([begun.stateHash]);
  if (memory.begunSignIns.has(begun.stateHash)) {
    throw new Error("Cannot begin a sign-in: its state is taken, expected a new one");
  }
  memory.begunSignIns.set(begun.stateHash, begun);
};

const takeBegun = (memory: Memory, site: SignInSite, stateHash: string, at: Millis): boolean => {
  const begun = memory.begunSignIns.get(stateHash);
  if (begun === undefined || begun.site !== site || begun.expiresAt <= at) return false;
  return memory.begunSignIns.delete(stateHash);
};

const create = (memory: Memory, signIn: SiteSignIn, replaced: SignInId | null): void => {
  assertStorable([signIn.id]);
  if (memory.signIns.has(signIn.id)) {
    throw new Error("Cannot store a sign-in: its id is taken, expected a new one");
  }
  if (replaced !== null) memory.signIns.delete(replaced);
  memory.signIns.set(signIn.id, signIn);
};

const signInsOf = (memory: Memory, site: SignInSite, chatId: ChatId): ReadonlyArray<SiteSignIn> =>
  [...memory.signIns.values()].filter((signIn) => signIn.site === site && signIn.chatId === chatId);

const newestFirst = (one: SiteSignIn, other: SiteSignIn): number =>
  other.createdAt - one.createdAt || (one.id < other.id ? -1 : 1);

const sweep = (memory: Memory, at: Millis): void => {
  for (const { stateHash, expiresAt } of memory.begunSignIns.values()) {
    if (expiresAt <= at) memory.begunSignIns.delete(stateHash);
  }
  for (const { id, expiresAt } of memory.signIns.values()) if (expiresAt <= at) memory.signIns.delete(id);
};
