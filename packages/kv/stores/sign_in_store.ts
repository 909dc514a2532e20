import { type BegunSignIn, maxSignIns, SignInStore, type SiteSignIn } from "@accountlink/core/sign_ins";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect, Option, Order } from "effect";
import { removeInSteps } from "../steps.ts";
import { table } from "../table.ts";
import { storeLayer } from "./store_layer.ts";

export const signIns = table<SiteSignIn>()("sign_in", ({ id }) => [id], {
  byUser: { keys: ({ id, site, chatId }) => [[chatId, site, id]], group: 1 },
  byAccount: { keys: ({ id, account }) => (account === null ? [] : [[account, id]]), group: 1 },
  byEnd: { keys: ({ id, expiresAt }) => [[expiresAt, id]] },
});

/** Pending sign-ins by the hash of their OAuth `state`. */
export const begunSignIns = table<BegunSignIn>()("begun_sign_in", ({ stateHash }) => [stateHash], {
  byEnd: { keys: ({ stateHash, expiresAt }) => [[expiresAt, stateHash]] },
});

const newestFirst = (one: SiteSignIn, other: SiteSignIn): number =>
  other.createdAt - one.createdAt || Order.String(one.id, other.id);

export const layer = storeLayer(SignInStore, (db) => ({
  begin: (begun) =>
    db.write(begun.stateHash, function* (tx) {
      assertStorable([begun.stateHash]);
      if ((yield* tx.get(begunSignIns, begun.stateHash)) !== undefined) {
        throw new Error("Cannot begin a sign-in: its state is taken, expected a new one");
      }
      yield* tx.put(begunSignIns, begun);
    }),

  takeBegun: (site, stateHash, at) =>
    db.write(stateHash, function* (tx) {
      const begun = yield* tx.get(begunSignIns, stateHash);
      if (begun === undefined || begun.site !== site || at >= begun.expiresAt) return false;
      yield* tx.remove(begunSignIns, stateHash);
      return true;
    }),

  create: (signIn, replaced) =>
    db.write(signIn.id, function* (tx) {
      assertStorable([signIn.id]);
      if ((yield* tx.get(signIns, signIn.id)) !== undefined) {
        throw new Error("Cannot store a sign-in: its id is taken, expected a new one");
      }
      if (replaced !== null) yield* tx.remove(signIns, replaced);
      const earlier = (yield* tx.list(signIns.byUser, [signIn.chatId])).toSorted(newestFirst);
      for (const { id } of earlier.slice(maxSignIns - 1)) yield* tx.remove(signIns, id);
      yield* tx.put(signIns, signIn);
    }),

  find: (site, id, at) =>
    db.read(function* (tx) {
      const found = yield* tx.get(signIns, id);
      return found?.site === site && at < found.expiresAt ? Option.some(found) : Option.none();
    }),

  list: (site, chatId, at) =>
    db.read(function* (tx) {
      return (yield* tx.list(signIns.byUser, [chatId, site]))
        .filter(({ expiresAt }) => at < expiresAt)
        .toSorted(newestFirst);
    }),

  end: (site, chatId, id) =>
    db.write(chatId, function* (tx) {
      const found = yield* tx.list(signIns.byUser, [chatId, site]);
      const ended = found.filter((signIn) => id === null || signIn.id === id);
      for (const signIn of ended) yield* tx.remove(signIns, signIn.id);
      return ended.length;
    }),

  sweep: (at) =>
    Effect.gen(function* () {
      yield* removeInSteps(db, begunSignIns.byEnd, [], { before: [at + 1] });
      yield* removeInSteps(db, signIns.byEnd, [], { before: [at + 1] });
    }),
}));
