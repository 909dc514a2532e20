/** Communities, and what changes of plans and erasures do to them. */
import type { ChatId } from "@accountlink/core";
import {
  type Community,
  type CommunityPlace,
  type CommunitySettings,
  isKnown,
  type Linking,
  newCommunity,
  nothingChosen,
  type Panel,
  pauseWithoutUser,
} from "@accountlink/core/communities";
import { followLog, guildLogEntries, guildLogs, logIdOf } from "@accountlink/core/guild_log";
import { Effect } from "effect";
import { kvTable, txOf } from "../records.ts";
import { changeSome, removeInSteps } from "../steps.ts";
import { table } from "../table.ts";
import type { Database, Transaction } from "../transaction.ts";
import { isOn, type KeptPlan, plans } from "./role_plans.ts";
import { refOf, type ScopeRef, scopeAt, withScope } from "./scopes.ts";

export interface KeptCommunity extends CommunityPlace, Linking {
  readonly scope: ScopeRef;
  /** Settings that an earlier release did not have are left out. */
  readonly settings: Partial<CommunitySettings>;
  readonly panels: ReadonlyArray<Panel>;
}

export const communities = table<KeptCommunity>()("community", ({ pid, guildId }) => [pid, guildId], {
  /** The communities whose rules a member of the team paused. */
  byPauser: {
    keys: ({ paused, pid, guildId }) =>
      paused?.by?.type === "account" && paused.by.id !== null ? [[paused.by.id, pid, guildId]] : [],
    group: 1,
  },
  /** The communities that remind their members. */
  reminding: {
    keys: ({ settings: { remindAfterDays = null }, pid, guildId }) =>
      remindAfterDays === null ? [] : [[pid, guildId]],
  },
});

/** The last panel of a channel, as releases before 0.1.0 kept it. */
interface EarlierPanel extends CommunityPlace {
  readonly channelId: string;
  readonly messageId: string;
}

export const earlierPanels = table<EarlierPanel>()(
  "panel",
  ({ pid, guildId, channelId }) => [pid, guildId, channelId],
  {},
  2,
);

/** What plans held before communities had records of their own. */
interface EarlierPlan extends Omit<KeptPlan, "settings"> {
  readonly settings: KeptPlan["settings"] & { readonly logChannelId?: string | null };
  /** Null while the plan is on, and if it was never on. */
  readonly pausedAt?: number | null;
}

/** Nobody knows who paused an earlier plan, and the text of an earlier panel. */
const earlierCommunity = Effect.fnUntraced(function* (tx: Transaction, { pid, guildId }: CommunityPlace) {
  const plan: EarlierPlan | undefined = yield* tx.get(plans, pid, guildId);
  const panels = yield* tx.scan(earlierPanels, [pid, guildId]);
  const { sweep = null, sweptAt = null, pausedAt = null, settings } = plan ?? {};
  const onSince = isOn(plan) ? (sweep?.startedAt ?? sweptAt ?? 0) : null;
  const kept: KeptCommunity = {
    pid,
    guildId,
    scope: refOf(yield* scopeAt(tx, pid)),
    homeSince: onSince ?? pausedAt,
    paused: onSince !== null || pausedAt === null ? null : { at: pausedAt, why: null, by: null },
    settings: { logChannelId: settings?.logChannelId ?? null },
    panels: panels.map(({ channelId, messageId }) => ({ channelId, messageId, text: null })),
  };
  return kept;
});

/** Returns the record of a community; of an unknown one, what a new record would have. */
export const communityAt = Effect.fnUntraced(function* (tx: Transaction, { pid, guildId }: CommunityPlace) {
  return (yield* tx.get(communities, pid, guildId)) ?? (yield* earlierCommunity(tx, { pid, guildId }));
});

export const communityOf = Effect.fnUntraced(function* (
  tx: Transaction,
  { scope, guildId, homeSince, paused, settings, panels }: KeptCommunity,
) {
  return {
    ...nothingChosen,
    ...settings,
    scope: yield* withScope(tx, scope),
    guildId,
    homeSince,
    paused,
    panels,
  } satisfies Community;
});

/** Stores whether linking is on, in the transaction that changes the plan. */
export const putLinking = Effect.fnUntraced(function* (
  tx: Transaction,
  place: CommunityPlace,
  turn: (before: Linking) => Linking,
) {
  const stored = yield* communityAt(tx, place);
  yield* tx.put(communities, { ...stored, ...turn(stored) });
});

/** Changes settings. The log of the community follows. */
export const putSettings = Effect.fnUntraced(function* (
  tx: Transaction,
  stored: KeptCommunity,
  update: Partial<CommunitySettings>,
  position: number,
) {
  const [before, after] = [
    { ...nothingChosen, ...stored.settings },
    { ...stored.settings, ...update },
  ];
  yield* tx.put(communities, { ...stored, settings: after });
  yield* followLog(txOf(tx), stored, before.logChannelId, after.logChannelId ?? null, position);
});

/** Forgets that linking was on, and what was chosen. Returns whether anything was. */
export const closeCommunity = Effect.fnUntraced(function* (tx: Transaction, place: CommunityPlace) {
  const stored = yield* communityAt(tx, place);
  if (!isKnown({ ...(yield* communityOf(tx, stored)), panels: [] })) return false;
  const { homeSince, paused } = newCommunity;
  yield* putSettings(tx, { ...stored, homeSince, paused }, nothingChosen, 0);
  return true;
});

/** Takes an erased user out of pauses until the step ends. Returns whether more may be left. */
export const forgetInCommunities = (tx: Transaction, chatId: ChatId, isAtEnd: (tx: Transaction) => boolean) =>
  changeSome(
    tx,
    communities.byPauser,
    [chatId],
    (stored) => tx.put(communities, { ...stored, paused: stored.paused && pauseWithoutUser(stored.paused) }),
    isAtEnd,
  );

/** The log of a community. */
export const logAt = (tx: Transaction, place: CommunityPlace) => tx.get(kvTable(guildLogs), logIdOf(place));

/** Deletes the entries of a log that is turned off. */
export const deleteEntries = Effect.fnUntraced(function* (db: Database, place: CommunityPlace) {
  const log = yield* db.read((tx) => logAt(tx, place));
  if (log?.channelId === null) yield* removeInSteps(db, kvTable(guildLogEntries).byLog, [log.id]);
});
