import { Clock, Context, Effect, Layer } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import { SessionSettings } from "../sessions/session_settings.ts";
import type { Millis } from "../timestamp.ts";
import { UserStore } from "./user_store.ts";

/**
 * A browser in which a user confirmed a link.
 *
 * @internal
 */
export interface OwnBrowser {
  readonly lastSeenAt: Millis;
  /** When the browser will be forgotten, unless the user confirms in it again. */
  readonly rememberedUntil: Millis;
}

/**
 * Shows users which of their browsers are remembered, and forgets these browsers.
 *
 * @internal
 */
export class OwnBrowsers extends Context.Service<
  OwnBrowsers,
  {
    /** Returns each browser once over all scopes, the latest first. */
    readonly list: (chatId: ChatId) => Effect.Effect<ReadonlyArray<OwnBrowser>, StoreUnavailable>;

    /** Forgets all of the user's browsers in every scope. */
    readonly forget: (chatId: ChatId) => Effect.Effect<void, StoreUnavailable>;
  }
>()("@accountlink/core/OwnBrowsers") {
  static readonly layer = Layer.effect(
    OwnBrowsers,
    Effect.gen(function* () {
      const users = yield* UserStore;
      const { sightingRetention } = yield* SessionSettings;

      return OwnBrowsers.of({
        list: Effect.fn("OwnBrowsers.list")(function* (chatId) {
          const now = yield* Clock.currentTimeMillis;
          const lastSeenAt = new Map<string, Millis>();
          for (const { sighting } of yield* users.findBrowsers(chatId)) {
            const { browser, seenAt } = sighting;
            lastSeenAt.set(browser, Math.max(seenAt, lastSeenAt.get(browser) ?? seenAt));
          }
          return [...lastSeenAt.values()]
            .map((seenAt) => ({ lastSeenAt: seenAt, rememberedUntil: seenAt + sightingRetention }))
            .filter(({ rememberedUntil }) => rememberedUntil > now)
            .toSorted((one, other) => other.lastSeenAt - one.lastSeenAt);
        }),
        forget: (chatId) => Effect.asVoid(users.forgetBrowsers(chatId)),
      });
    }),
  );
}
