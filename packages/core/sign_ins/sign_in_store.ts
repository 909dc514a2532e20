/** The port for sign-ins of people in browsers. */
import { Context, type Effect, type Option } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, SignInId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import type { BegunSignIn, SignInSite, SiteSignIn } from "./sign_in.ts";

/**
 * Where sign-ins live. `UserStore.erase` deletes those of its user.
 *
 * An id or `stateHash` that exists, and text that `isStorable` refuses, are defects.
 *
 * @example
 * ```ts
 * import { StorageMemory } from "@accountlink/memory";
 * import { makeBegunSignIn, makeSignIn } from "@accountlink/testing";
 * import { Effect } from "effect";
 *
 * const program = Effect.gen(function* () {
 *   const store = yield* SignInStore;
 *   const begun = makeBegunSignIn();
 *   yield* store.begin(begun);
 *   const taken = yield* store.takeBegun(begun.site, begun.stateHash, 0);
 *   const signIn = makeSignIn();
 *   yield* store.create(signIn, null);
 *   return [taken, yield* store.end(signIn.site, signIn.chatId, null)];
 * });
 * await Effect.runPromise(Effect.provide(program, StorageMemory.layer)); // [true, 1]
 * ```
 */
export class SignInStore extends Context.Service<
  SignInStore,
  {
    readonly begin: (begun: BegunSignIn) => Effect.Effect<void, StoreUnavailable>;

    /** Whether the sign-in has begun at the site and has not expired: true once. */
    readonly takeBegun: (
      site: SignInSite,
      stateHash: string,
      at: Millis,
    ) => Effect.Effect<boolean, StoreUnavailable>;

    /** Stores a sign-in, and deletes the one that the browser had before. */
    readonly create: (signIn: SiteSignIn, replaced: SignInId | null) => Effect.Effect<void, StoreUnavailable>;

    /** The sign-in to the site, unless it was ended or has expired. */
    readonly find: (
      site: SignInSite,
      id: SignInId,
      at: Millis,
    ) => Effect.Effect<Option.Option<SiteSignIn>, StoreUnavailable>;

    /** The sign-ins of a person to the site that have not expired; newest first, ties by id. */
    readonly list: (
      site: SignInSite,
      chatId: ChatId,
      at: Millis,
    ) => Effect.Effect<ReadonlyArray<SiteSignIn>, StoreUnavailable>;

    /** Deletes a sign-in of a person to the site, or all with null, and returns their number. */
    readonly end: (
      site: SignInSite,
      chatId: ChatId,
      id: SignInId | null,
    ) => Effect.Effect<number, StoreUnavailable>;

    /** Deletes what has expired, on all sites. */
    readonly sweep: (at: Millis) => Effect.Effect<void, StoreUnavailable>;
  }
>()("@accountlink/core/SignInStore") {}
