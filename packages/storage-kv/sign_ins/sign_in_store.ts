import type { ChatId } from "@accountlink/core";
import type { SignInId } from "@accountlink/core/ids";
import { type BegunSignIn, type SignInSite, SignInStore, type SiteSignIn } from "@accountlink/core/sign_ins";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Layer, Option } from "effect";
import { Database } from "../records/database.ts";
import { begunSignIns, signIns } from "../records/schema.ts";
import { forget } from "../records/steps.ts";
import type { Transaction } from "../records/transaction.ts";

export const layer: Layer.Layer<SignInStore, never, Database> = Layer.effect(
  SignInStore,
  Effect.map(Database, (db) =>
    SignInStore.of({
      begin: (begun) => db.write("SignInStore.begin", (tx) => begin(tx, begun)),
      takeBegun: (site, stateHash, at) =>
        db.write("SignInStore.takeBegun", (tx) => takeBegun(tx, site, stateHash, at)),
      create: (signIn, replaced) => db.write("SignInStore.create", (tx) => create(tx, signIn, replaced)),
      find: (site, id, at) =>
        db.find("SignInStore.find", (tx) =>
          Effect.map(signIns.find(tx, id), (found) =>
            Option.filter(
              Option.fromUndefinedOr(found),
              (signIn) => signIn.site === site && at < signIn.expiresAt,
            ),
          ),
        ),
      list: (site, chatId, at) =>
        db.read("SignInStore.list", (tx) =>
          Effect.map(signIns.list(tx, "chat", [chatId, site]), (all) =>
            all.filter(({ expiresAt }) => at < expiresAt),
          ),
        ),
      end: (site, chatId, id) => db.write("SignInStore.end", (tx) => end(tx, site, chatId, id)),
      sweep: (at) =>
        Effect.gen(function* () {
          const name = "SignInStore.sweep";
          yield* forget(db, name, begunSignIns, ["deadline"], ({ expiresAt }) => expiresAt <= at);
          yield* forget(db, name, signIns, ["deadline"], ({ expiresAt }) => expiresAt <= at);
        }),
    }),
  ),
);

const begin = Effect.fnUntraced(function* (tx: Transaction, begun: BegunSignIn) {
  if ((yield* begunSignIns.find(tx, begun.stateHash)) !== undefined) {
    throw new Error("Cannot begin a sign-in: its state is taken, expected a new one");
  }
  yield* begunSignIns.put(tx, begun);
});

const takeBegun = Effect.fnUntraced(function* (
  tx: Transaction,
  site: SignInSite,
  stateHash: string,
  at: Millis,
) {
  const begun = yield* begunSignIns.find(tx, stateHash);
  if (begun === undefined || begun.site !== site || begun.expiresAt <= at) return false;
  yield* begunSignIns.remove(tx, stateHash);
  return true;
});

const create = Effect.fnUntraced(function* (tx: Transaction, signIn: SiteSignIn, replaced: SignInId | null) {
  assertStorable([signIn.id]);
  if ((yield* signIns.find(tx, signIn.id)) !== undefined) {
    throw new Error("Cannot store a sign-in: its id is taken, expected a new one");
  }
  if (replaced !== null) yield* signIns.remove(tx, replaced);
  yield* signIns.put(tx, signIn);
});

const end = Effect.fnUntraced(function* (
  tx: Transaction,
  site: SignInSite,
  chatId: ChatId,
  id: SignInId | null,
) {
  const all = yield* signIns.list(tx, "chat", [chatId, site]);
  const ended = all.filter((signIn) => id === null || signIn.id === id);
  for (const signIn of ended) yield* signIns.remove(tx, signIn.id);
  return ended.length;
});
