import { CommunityStore } from "@accountlink/core/communities";
import { Effect, Option } from "effect";
import { roleSteps, start, uniqueGuildId } from "../roles/role_steps.ts";
import { makeScopes, origin } from "../scopes.ts";

/** A community of a new scope, and the operations on it. */
export const newCommunitySteps = Effect.fnUntraced(function* (guildId = uniqueGuildId()) {
  const store = yield* CommunityStore;
  const { global: scope } = yield* makeScopes;
  const place = { pid: scope.pid, guildId };
  return {
    ...(yield* roleSteps(scope, guildId)),
    communities: store,
    found: Effect.map(store.find(place), Option.getOrNull),
    log: Effect.map(store.find(place), (found) => Option.getOrNull(found)?.logChannelId ?? null),
    home: Effect.map(store.findHome(guildId), (home) => Option.getOrNull(home)?.scope.pid ?? null),
    setLog: (logChannelId: string | null) =>
      store.update({ ...origin, ...place, update: { logChannelId }, position: 0, at: start }),
    remind: store.update({ ...origin, ...place, update: { remindAfterDays: 7 }, position: 0, at: start }),
    savePanel: (channelId: string, messageId: string | null, text: string | null = "Hi 🎮") =>
      store.savePanel({ ...origin, ...place, panel: { channelId, messageId, text }, at: start }),
  };
});
