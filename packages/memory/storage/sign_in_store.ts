import type { ChatId } from "@accountlink/core";
import { maxSignIns, type SignInSite, SignInStore, type SiteSignIn } from "@accountlink/core/sign_ins";
import { assertStorable } from "@accountlink/core/storable_text";
import { Option, Order } from "effect";
import { layerOf } from "./state.ts";

const newestFirst = (one: SiteSignIn, other: SiteSignIn) =>
  other.createdAt - one.createdAt || Order.String(one.id, other.id);

/** Finds sign-ins in O(1), and the sign-ins of a person by a scan. */
export const layer = layerOf(SignInStore, ({ signIns, begunSignIns }) => {
  const signInsOf = (site: SignInSite, chatId: ChatId) =>
    [...signIns.values()].filter((signIn) => signIn.site === site && signIn.chatId === chatId);

  return {
    begin: (begun) => {
      assertStorable([begun.stateHash]);
      if (begunSignIns.has(begun.stateHash)) {
        throw new Error("Cannot begin a sign-in: its state is taken, expected a new one");
      }
      begunSignIns.set(begun.stateHash, begun);
    },

    takeBegun: (site, stateHash, at) => {
      const begun = begunSignIns.get(stateHash);
      return begun?.site === site && at < begun.expiresAt && begunSignIns.delete(stateHash);
    },

    create: (signIn, replaced) => {
      assertStorable([signIn.id]);
      if (signIns.has(signIn.id)) {
        throw new Error("Cannot store a sign-in: its id is taken, expected a new one");
      }
      if (replaced !== null) signIns.delete(replaced);
      const earlier = [...signIns.values()].filter(({ chatId }) => chatId === signIn.chatId);
      for (const { id } of earlier.toSorted(newestFirst).slice(maxSignIns - 1)) signIns.delete(id);
      signIns.set(signIn.id, signIn);
    },

    find: (site, id, at) =>
      Option.filter(
        Option.fromUndefinedOr(signIns.get(id)),
        (signIn) => signIn.site === site && at < signIn.expiresAt,
      ),

    list: (site, chatId, at) =>
      signInsOf(site, chatId)
        .filter(({ expiresAt }) => at < expiresAt)
        .toSorted(newestFirst),

    end: (site, chatId, id) => {
      const ended = signInsOf(site, chatId).filter((signIn) => id === null || signIn.id === id);
      for (const signIn of ended) signIns.delete(signIn.id);
      return ended.length;
    },

    sweep: (at) => {
      for (const [hash, { expiresAt }] of begunSignIns) if (expiresAt <= at) begunSignIns.delete(hash);
      for (const [id, { expiresAt }] of signIns) if (expiresAt <= at) signIns.delete(id);
    },
  };
});
