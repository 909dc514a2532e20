import { Context, Data, Effect, Option, Order, Schema } from "effect";
import type { StoreEffect } from "../errors.ts";
import { ChatId, type SignInId } from "../ids.ts";
import { UserGuild } from "../platforms/profile.ts";
import { type RecordOf, recordStore, recordType, removeFound, textAs } from "../records/mod.ts";
import { hourMs, type Millis } from "../timestamp.ts";

/** The sites for signed-in users: the dashboard for owners of keys, `me` for everyone's own data. */
export type SignInSite = "dashboard" | "me";

const site = Schema.Literals(["dashboard", "me"]);

/** @internal */
export const siteSignIns = recordType({
  name: "site_sign_ins",
  fields: {
    /** Hash of the browser's cookie. */
    id: textAs<SignInId>(),
    site,
    chatId: ChatId,
    /** The name of the account that the user manages; null for a sign-in to the `me` site. */
    account: Schema.NullOr(Schema.String),
    /** The user's guilds when they signed in; null if the platform did not report them. */
    guilds: Schema.NullOr(Schema.Array(UserGuild)),
    /** The browser and system of the sign-in, by `deviceOf`. */
    device: Schema.NullOr(Schema.String),
    createdAt: Schema.Int,
    expiresAt: Schema.Int,
  },
  json: ["guilds"],
  key: ["id"],
  indexes: {
    byUser: { fields: ["chatId", "site", "id"], group: 1 },
    byAccount: { fields: ["account", "id"], group: 1 },
    byEnd: { fields: ["expiresAt", "id"] },
  },
  ofUser: { index: "byUser", erasedAs: null },
  download: {
    index: "byUser",
    as: "signIns",
    fields: ["site", "account", "guilds", "device", "createdAt", "expiresAt"],
  },
});

export interface SiteSignIn extends RecordOf<typeof siteSignIns> {}

/** @internal */
export const begunSignIns = recordType({
  name: "begun_sign_ins",
  fields: {
    /** Keyed hash of the `state`. */
    stateHash: Schema.String,
    site,
    expiresAt: Schema.Int,
  },
  key: ["stateHash"],
  indexes: { byEnd: { fields: ["expiresAt", "stateHash"] } },
});

/**
 * A pending sign-in. It is stored until the browser returns from the platform, and can be used only once. Its secrets
 * are not stored: `Secrets.signIn` derives them from the returned `state`.
 */
export interface BegunSignIn extends RecordOf<typeof begunSignIns> {}

/** How long a user stays signed in, in milliseconds. @internal */
export const signInLifetime = 12 * hourMs;

/** How many sign-ins of a user hold, over all sites. An older one ends. @internal */
export const maxSignIns = 20;

/** How many guilds are stored with a sign-in. A Discord user can be in 200. @internal */
export const maxSignInGuilds = 200;

/** How long a user may take to sign in at the platform, in milliseconds. @internal */
export const beginLifetime = 10 * 60_000;

/**
 * - `denied`: the user denied the sign-in at the platform.
 * - `invalid`: this browser did not begin the sign-in, the sign-in was already used, or the platform refused it.
 * - `platform_down`: the platform does not answer; `cause` is its `PlatformUnavailable`.
 */
export type SignInRefusal = "denied" | "invalid" | "platform_down";

export class SignInRefused extends Data.TaggedError("SignInRefused")<{
  readonly reason: SignInRefusal;
  readonly cause?: unknown;
}> {
  override readonly message = `Cannot sign in: ${this.reason}`;
}

/**
 * Stores sign-ins of users. `UserStore.erase` deletes the sign-ins of its user.
 *
 * An existing id or `stateHash`, and text that `isStorable` refuses, are defects.
 */
export class SignInStore extends Context.Service<
  SignInStore,
  {
    readonly begin: (begun: BegunSignIn) => StoreEffect<void>;

    /** Removes a pending sign-in if it began at the site and has not expired. Returns whether it was removed. */
    readonly takeBegun: (site: SignInSite, stateHash: string, at: Millis) => StoreEffect<boolean>;

    /**
     * Stores a sign-in, and deletes the browser's previous one and all but the newest `maxSignIns` of the user. The
     * stored sign-in is never among the deleted ones.
     */
    readonly create: (signIn: SiteSignIn, replaced: SignInId | null) => StoreEffect<void>;

    /** Returns the sign-in to the site. None if it ended or has expired. */
    readonly find: (site: SignInSite, id: SignInId, at: Millis) => StoreEffect<Option.Option<SiteSignIn>>;

    /** Returns a user's active sign-ins to the site, newest first, ties by id. */
    readonly list: (site: SignInSite, chatId: ChatId, at: Millis) => StoreEffect<ReadonlyArray<SiteSignIn>>;

    /**
     * Deletes one of the user's sign-ins to the site, or all of them if `id` is null. Returns how many were deleted.
     */
    readonly end: (site: SignInSite, chatId: ChatId, id: SignInId | null) => StoreEffect<number>;

    /** Deletes expired sign-ins of all sites. */
    readonly sweep: (at: Millis) => StoreEffect<void>;
  }
>()("@accountlink/core/SignInStore") {}

const newestFirst = (one: SiteSignIn, other: SiteSignIn): number =>
  other.createdAt - one.createdAt || Order.String(one.id, other.id);

/** Stores sign-ins in any storage. @internal */
export const storedSignIns = recordStore(SignInStore, ({ read, write, inSteps, removeBefore }) => ({
  begin: (begun) => write("begin", begun.stateHash, (tx) => tx.create(begunSignIns, begun)),

  takeBegun: (at, stateHash, now) =>
    write("takeBegun", stateHash, function* (tx) {
      const begun = yield* tx.get(begunSignIns, stateHash);
      if (begun === undefined || begun.site !== at || now >= begun.expiresAt) return false;
      return (yield* tx.remove(begunSignIns, stateHash)) !== undefined;
    }),

  create: (signIn, replaced) =>
    write("create", signIn.chatId, function* (tx) {
      if (replaced !== null) yield* tx.remove(siteSignIns, replaced);
      const earlier = (yield* tx.list(siteSignIns.byUser, [signIn.chatId])).toSorted(newestFirst);
      for (const { id } of earlier.slice(maxSignIns - 1)) yield* tx.remove(siteSignIns, id);
      yield* tx.create(siteSignIns, signIn);
    }),

  find: (at, id, now) =>
    read("find", (tx) =>
      Effect.map(tx.get(siteSignIns, id), (found) =>
        found?.site === at && now < found.expiresAt ? Option.some(found) : Option.none(),
      ),
    ),

  list: (at, chatId, now) =>
    read("list", function* (tx) {
      const found = yield* tx.list(siteSignIns.byUser, [chatId, at]);
      return found.filter(({ expiresAt }) => now < expiresAt).toSorted(newestFirst);
    }),

  end: (at, chatId, id) =>
    inSteps(
      "end",
      chatId,
      (tx, limit) =>
        Effect.map(tx.list(siteSignIns.byUser, [chatId, at], id === null ? { limit } : {}), (all) =>
          all.filter((signIn) => id === null || signIn.id === id),
        ),
      removeFound(siteSignIns),
    ),

  sweep: Effect.fnUntraced(function* (now) {
    yield* removeBefore("sweep", begunSignIns.byEnd, [now + 1]);
    yield* removeBefore("sweep", siteSignIns.byEnd, [now + 1]);
  }),
}));
