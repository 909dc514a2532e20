import { Clock, Context, Effect, Layer, Option } from "effect";
import { SecureRandom } from "effect/crypto";
import { Accounts } from "../accounts/accounts.ts";
import { InvalidSession, type PlatformUnavailable } from "../errors.ts";
import type { SignInId } from "../ids.ts";
import { ChatIdentity, type ProofInvalid, type UserGuild } from "../platforms/mod.ts";
import { randomToken, Secrets } from "../secrets/mod.ts";
import { sweepOldEvery } from "../storage_use.ts";
import { deviceOf } from "./device.ts";
import {
  beginLifetime,
  maxSignInGuilds,
  SignInRefused,
  type SignInSite,
  SignInStore,
  type SiteSignIn,
  signInLifetime,
} from "./sign_in_store.ts";

/** The data that a browser brings back from the platform. */
export interface ReturnedBrowser {
  readonly site: SignInSite;
  /** The callback URL, the same as in `begin`. */
  readonly redirectUri: string;
  /** The `state` in the browser's own cookie, or null. */
  readonly state: string | null;
  readonly callback: URLSearchParams;
  /** The cookie of the browser's present sign-in, or null. */
  readonly cookie: string | null;
  /** The header `User-Agent`, of which only the names of the browser and the system are stored. */
  readonly userAgent: string | null;
}

/**
 * Signs users in through the chat platform. A browser's cookie has 256 random bits and is new for every sign-in, so a
 * cookie planted by an attacker is never valid.
 *
 * @example
 * ```ts
 * import { SignInRefused } from "@accountlink/core/sign_ins";
 * import { aChatUser, aFixture, memoryWorld } from "@accountlink/testing";
 * import { Effect } from "effect";
 *
 * const platform = { chatUsers: [aChatUser("100001")] };
 * const world = await memoryWorld(aFixture({ platform }));
 * const redirectUri = "https://links.example/dashboard/callback";
 * const program = Effect.gen(function* () {
 *   const signIns = yield* SignIns;
 *   const { state } = yield* signIns.begin("dashboard", redirectUri);
 *   const callback = new URLSearchParams({ state, code: "100001" });
 *   const browser = { site: "dashboard", redirectUri, state, callback, cookie: null, userAgent: null } as const;
 *   const { cookie } = yield* signIns.finish(browser);
 *   const { chatId } = yield* signIns.find("dashboard", cookie);
 *   return [chatId, yield* Effect.flip(signIns.finish(browser))] as const;
 * });
 * const [chatId, second] = await world.run(program);
 * chatId; // "100001"
 * second instanceof SignInRefused && second.reason; // "invalid"
 * await world.close();
 * ```
 */
export class SignIns extends Context.Service<SignIns>()("@accountlink/core/SignIns", {
  make: Effect.gen(function* () {
    const store = yield* SignInStore;
    yield* sweepOldEvery("1 minute", "Cannot delete expired sign-ins", store.sweep);
    const accounts = yield* Accounts;
    const secrets = yield* Secrets;
    const identity = yield* ChatIdentity;
    const random = yield* SecureRandom.SecureRandom;

    const prove = Effect.fnUntraced(function* ({ site, redirectUri, state, callback }: ReturnedBrowser) {
      if (state === null || state !== callback.get("state")) {
        return yield* new SignInRefused({ reason: "invalid" });
      }
      const { stateHash, ...derived } = yield* secrets.signIn(state);
      if (!(yield* store.takeBegun(site, stateHash, yield* Clock.currentTimeMillis))) {
        return yield* new SignInRefused({ reason: "invalid" });
      }
      return yield* identity
        .finish({ redirectUri, state, ...derived, ...asked(site, state) }, callback)
        .pipe(Effect.catchTags(refusals));
    });

    return {
      /**
       * Begins a sign-in. The browser must keep the `state` in a cookie until it returns from the platform.
       *
       * @param redirectUri the callback URL
       * @param withGuilds whether the platform is asked for the user's guilds, as it always is for the dashboard
       * @returns the URL of the platform's sign-in
       */
      begin: Effect.fn("SignIns.begin")(function* (
        site: SignInSite,
        redirectUri: string,
        withGuilds: boolean = false,
      ) {
        const state = `${yield* randomToken(random)}${withGuilds ? guildsMark : ""}`;
        const { stateHash, ...derived } = yield* secrets.signIn(state);
        const now = yield* Clock.currentTimeMillis;
        yield* store.begin({ stateHash, site, expiresAt: now + beginLifetime });
        const { url } = yield* identity.begin({ redirectUri, state, ...derived, ...asked(site, state) });
        return { url, state };
      }),

      /**
       * Checks the data that a browser brings back from the platform, and stores a sign-in under a new cookie. The new
       * sign-in replaces the browser's earlier sign-in. At the dashboard, a user without an account gets a new account.
       */
      finish: Effect.fn("SignIns.finish")(function* (browser: ReturnedBrowser) {
        const { userId: chatId, ...proof } = yield* prove(browser);
        const guilds = proof.guilds === undefined ? null : boundedGuilds(proof.guilds);
        const { site } = browser;
        const account = site === "dashboard" ? (yield* accounts.ofChatUser(chatId)).name : null;
        const cookie = yield* randomToken(random);
        const createdAt = yield* Clock.currentTimeMillis;
        const id = yield* secrets.signInId(site, cookie);
        const replaced = browser.cookie === null ? null : yield* secrets.signInId(site, browser.cookie);
        const expiresAt = createdAt + signInLifetime;
        const device = deviceOf(browser.userAgent);
        yield* store.create({ id, site, chatId, account, guilds, device, createdAt, expiresAt }, replaced);
        return { cookie };
      }),

      find: Effect.fn("SignIns.find")(function* (site: SignInSite, cookie: string | null) {
        if (cookie === null) return yield* new InvalidSession();
        const id = yield* secrets.signInId(site, cookie);
        const found = yield* store.find(site, id, yield* Clock.currentTimeMillis);
        return Option.isSome(found) ? found.value : yield* new InvalidSession();
      }),

      /**
       * Returns the token that a browser must send with every write. It belongs to the account too, so that the forms of
       * an older page cannot act in another account that the user has chosen since.
       */
      csrfToken: ({ id, account }: Pick<SiteSignIn, "id" | "account">) => secrets.signInCsrf(id, account),

      /** Returns the user's sign-ins to the same site, newest first. */
      list: ({ site, chatId }: SiteSignIn) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => store.list(site, chatId, now)),

      /**
       * Ends the user's sign-ins to the same site, and returns their number.
       *
       * @param id a single sign-in; null for all
       */
      end: ({ site, chatId }: SiteSignIn, id: SignInId | null) => store.end(site, chatId, id),
    };
  }),
}) {
  /** Deletes expired sign-ins every minute, until its scope closes. */
  static readonly layer = Layer.effect(SignIns, SignIns.make);
}

/** Bounds the stored guilds. The guilds that the user manages come first, because keys are made for them. */
const boundedGuilds = (guilds: ReadonlyArray<UserGuild>): ReadonlyArray<UserGuild> =>
  guilds.length <= maxSignInGuilds
    ? guilds
    : guilds.toSorted((one, other) => Number(other.manager) - Number(one.manager)).slice(0, maxSignInGuilds);

/** The end of a `state` whose sign-in asked for the user's guilds. The callback knows nothing else of the request. */
const guildsMark = ".guilds";

/** The dashboard asks for the user's guilds, because there users choose a guild for their keys. */
const asked = (site: SignInSite, state: string) => ({
  guildId: null,
  withGuilds: site === "dashboard" || state.endsWith(guildsMark),
});

const refusals = {
  ProofDenied: () => new SignInRefused({ reason: "denied" }),
  ProofInvalid: (cause: ProofInvalid) =>
    Effect.andThen(Effect.logDebug(cause.message), new SignInRefused({ reason: "invalid", cause })),
  PlatformUnavailable: (cause: PlatformUnavailable) => new SignInRefused({ reason: "platform_down", cause }),
};
