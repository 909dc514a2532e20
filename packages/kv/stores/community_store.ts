import {
  type Community,
  type CommunityPlace,
  CommunityStore,
  changedIn,
  homeOrder,
  isKnown,
  isLinkingOn,
  panelDetails,
  placeOrder,
  settingDetails,
  withPanel,
} from "@accountlink/core/communities";
import { logged } from "@accountlink/core/journal";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect, Option } from "effect";
import type { Transaction } from "../transaction.ts";
import {
  communities,
  communityAt,
  communityOf,
  deleteEntries,
  earlierPanels,
  putSettings,
} from "./communities.ts";
import { record } from "./journal.ts";
import { plans } from "./role_plans.ts";
import { ofActive, scopes } from "./scopes.ts";
import { storeLayer } from "./store_layer.ts";

/** Reads the communities of these places that are known, each once. */
const known = Effect.fnUntraced(function* (tx: Transaction, places: ReadonlyArray<CommunityPlace>) {
  const found = new Map<string, Community>();
  for (const place of places) {
    const community = yield* communityOf(tx, yield* communityAt(tx, place));
    if (isKnown(community)) found.set(place.guildId, community);
  }
  return found;
});

export const layer = storeLayer(CommunityStore, (db) => ({
  find: (place) =>
    db.read(function* (tx) {
      if ((yield* tx.get(scopes, place.pid)) === undefined) return Option.none();
      return Option.fromUndefinedOr([...(yield* known(tx, [place])).values()][0]);
    }),

  findHome: (guildId) =>
    db.read(function* (tx) {
      const homes: Array<Community> = [];
      // A guild has a home only where it has a plan.
      for (const plan of yield* ofActive(tx, yield* tx.list(plans.byGuild, [guildId]))) {
        const community = yield* communityOf(tx, yield* communityAt(tx, plan));
        if (community.homeSince !== null) homes.push(community);
      }
      return Option.fromUndefinedOr(homes.toSorted(homeOrder)[0]);
    }),

  list: (pid) =>
    db.read(function* (tx) {
      const places = [
        ...(yield* tx.scan(communities, [pid])),
        ...(yield* tx.scan(plans, [pid])),
        ...(yield* tx.scan(earlierPanels, [pid])),
      ];
      const found = yield* known(tx, places);
      return [...found]
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(([, community]) => community);
    }),

  reminding: () =>
    db.read(function* (tx) {
      const active = yield* ofActive(tx, yield* tx.list(communities.reminding, []));
      return yield* Effect.forEach(active.filter(isLinkingOn).toSorted(placeOrder), (stored) =>
        communityOf(tx, stored),
      );
    }),

  pausedBy: (chatId) =>
    db.read(function* (tx) {
      const found = yield* tx.list(communities.byPauser, [chatId]);
      return found
        .toSorted(placeOrder)
        .flatMap(({ pid, guildId, paused }) => (paused === null ? [] : [{ pid, guildId, at: paused.at }]));
    }),

  update: ({ update, position, ...write }) =>
    Effect.gen(function* () {
      // A process may have ended before the entries were deleted.
      yield* deleteEntries(db, write);
      yield* db.write(write.pid, function* (tx) {
        const stored = yield* communityAt(tx, write);
        const before = yield* communityOf(tx, stored);
        if (changedIn(before, update).length === 0) return;
        assertStorable(Object.values(update).filter((value) => typeof value === "string"));
        yield* putSettings(tx, stored, update, position);
        const details = settingDetails(before, update);
        yield* record(tx, write.pid, logged(write, "roles.updated", details));
      });
      yield* deleteEntries(db, write);
    }),

  savePanel: ({ panel, ...write }) =>
    db.write(write.pid, function* (tx) {
      assertStorable([panel.channelId, panel.messageId ?? "", panel.text ?? ""]);
      const stored = yield* communityAt(tx, write);
      const { panels } = yield* communityOf(tx, stored);
      const details = panelDetails(write.guildId, panels, panel);
      if (details === null) return;
      yield* tx.put(communities, { ...stored, panels: withPanel(stored.panels, panel) });
      yield* record(tx, write.pid, logged(write, "panel.posted", details));
    }),
}));
