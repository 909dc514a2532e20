/** The stores of what changes links, with a cache in front that all nodes share. */
import { Context, Effect, Layer } from "effect";
import type { ChatId, Pid } from "../ids.ts";
import type { CacheAgreement } from "../ports/cache_agreement.ts";
import type { LinkCache } from "../ports/link_cache.ts";
import { LinkStore } from "../ports/link_store.ts";
import { SessionStore } from "../ports/session_store.ts";
import { UserStore } from "../ports/user_store.ts";
import { SharedLinks } from "./shared_links.ts";

/** A look-up that has begun, to be gone on with. */
export type BegunLookup = ReturnType<LinkStore["Service"]["findByChatId"]>;

/** Begins to look a chat user up in the cache. It asks nothing of the store. */
export type BeginLookup = (pid: Pid, chatId: ChatId) => Effect.Effect<BegunLookup>;

/** How a look-up can begin before it is certain that its request is let in; null where that saves nothing. */
export const LookAhead = Context.Reference<BeginLookup | null>("@accountlink/core/LookAhead", {
  defaultValue: () => null,
});

const make = Effect.gen(function* () {
  const links = yield* LinkStore;
  const sessions = yield* SessionStore;
  const users = yield* UserStore;
  const shared = yield* SharedLinks;

  const begin: BeginLookup = (pid, chatId) => {
    const name = { pid, chatId };
    return Effect.map(shared.begin(name), (begun) =>
      shared.end(name, begun, links.findByChatId(pid, chatId)),
    );
  };

  const cachedLinks = LinkStore.of({
    ...links,
    findByChatId: (pid, chatId) => Effect.flatten(begin(pid, chatId)),
    setGame: (write) => shared.changing(write.pid, [write.chatId], links.setGame(write)),
    removeGame: (write) => shared.changing(write.pid, [write.chatId], links.removeGame(write)),
    moveChat: (write) =>
      shared.changing(write.pid, [write.oldChatId, write.newChatId], links.moveChat(write)),
    deleteScope: (write) => shared.changingScopes([write.pid], links.deleteScope(write)),
    importBatch: (batch) => shared.changingScopes([batch.pid], links.importBatch(batch)),
  });
  const cachedSessions = SessionStore.of({
    ...sessions,
    complete: (write) => shared.changing(write.pid, [write.chatId], sessions.complete(write)),
  });

  const cachedUsers = UserStore.of({
    ...users,
    erase: (write) => shared.changingScopes(write.scopes, users.erase(write)),
  });

  return Context.make(LinkStore, cachedLinks).pipe(
    Context.add(SessionStore, cachedSessions),
    Context.add(UserStore, cachedUsers),
    Context.add(LookAhead, begin),
  );
});

/**
 * Puts a cache in front of the stores. Only look-ups of one chat user are cached; whoever changes links of the same store
 * has to go past the same cache.
 */
export const layer: Layer.Layer<
  LinkStore | SessionStore | UserStore,
  never,
  LinkStore | SessionStore | UserStore | LinkCache | CacheAgreement
> = Layer.effectContext(make).pipe(Layer.provide(SharedLinks.layer));
