/** Communities in any storage. */
import { Array as Arr, Effect, Schema } from "effect";
import {
  type Community,
  type CommunityPlace,
  CommunitySettings,
  changedIn,
  homeOrder,
  isKnown,
  isLinkingOn,
  type Linking,
  mayLink,
  newCommunity,
  nothingChosen,
  type Pause,
  panelDetails,
  pauseReasons,
  settingDetails,
  turned,
  withPanel,
} from "./communities/community.ts";
import { CommunityStore } from "./communities/community_store.ts";
import type { DataScope } from "./data_scope.ts";
import { followLog, guildLogEntries, guildLogs, logIdOf, retryLog } from "./guild_log/mod.ts";
import { ChatId, GuildId, Pid } from "./ids.ts";
import { type RecordOf, recordType } from "./records/record_type.ts";
import {
  changeSome,
  forEachPart,
  recordStore,
  removeFound,
  type StoreRecords,
  type Tx,
  withScopes,
} from "./records/records.ts";
import { assertStorable } from "./storable_text.ts";

const time = Schema.NullOr(Schema.Int);
const text = Schema.NullOr(Schema.String);

/** @internal */
export const communityRecords = recordType({
  name: "communities",
  fields: {
    pid: Pid,
    guildId: GuildId,
    homeSince: time,
    /** Null unless the rules are paused. */
    pausedAt: time,
    pausedWhy: Schema.NullOr(Schema.Literals(pauseReasons)),
    pausedByType: Schema.NullOr(Schema.Literals(["account", "key", "operator"])),
    pausedBy: text,
    settings: CommunitySettings,
    panels: Schema.Array(Schema.Struct({ channelId: Schema.String, messageId: Schema.String, text })),
  },
  json: ["settings", "panels"],
  key: ["pid", "guildId"],
  indexes: {
    byGuild: { fields: ["guildId", "homeSince"] },
    /** The communities whose rules a member of the team paused. */
    byPauser: {
      fields: ["pausedBy", "pid", "guildId"],
      group: 1,
      only: { field: "pausedByType", values: ["account"] },
    },
    reminding: { fields: ["pid", "guildId"], only: { field: "settings", has: "remindAfterDays" } },
  },
  download: { index: "byPauser", as: "pauses", fields: ["pid", "guildId", "pausedAt"] },
});

type CommunityRecord = RecordOf<typeof communityRecords>;

/** The record of a community without its scope. Settings that are left out have their usual value. @internal */
export const communityRecord = (
  { pid, guildId }: CommunityPlace,
  { homeSince, paused, panels }: Linking & Pick<Community, "panels"> = newCommunity,
  settings: Partial<CommunitySettings> = {},
): CommunityRecord => ({
  pid,
  guildId,
  homeSince,
  ...fieldsOf(paused),
  settings: { ...nothingChosen, ...settings },
  panels,
});

const fieldsOf = (paused: Pause | null) => ({
  pausedAt: paused?.at ?? null,
  pausedWhy: paused?.why ?? null,
  pausedByType: paused?.by?.type ?? null,
  pausedBy: paused?.by?.id ?? null,
});

const pausedOf = ({ pausedAt: at, pausedWhy: why, pausedByType: type, pausedBy: id }: CommunityRecord) =>
  at === null ? null : { at, why, by: type === null ? null : { type, id } };

const communityOf = (stored: CommunityRecord, scope: DataScope): Community => {
  const { guildId, homeSince, settings, panels } = stored;
  return { ...nothingChosen, ...settings, scope, guildId, homeSince, paused: pausedOf(stored), panels };
};

const recordAt = (tx: Tx, place: CommunityPlace) =>
  Effect.map(
    tx.get(communityRecords, place.pid, place.guildId),
    (stored) => stored ?? communityRecord(place),
  );

/** The queue of writes that may make the record of a community. @internal */
export const communityQueue = ({ pid, guildId }: CommunityPlace): string => `community ${pid} ${guildId}`;

/** Stores whether linking is on, in the transaction that changes the plan. @internal */
export const turnLinking = Effect.fnUntraced(function* (
  tx: Tx,
  place: CommunityPlace,
  state: "on" | "paused",
  pause: Pause,
) {
  const stored = yield* recordAt(tx, place);
  const { homeSince, paused } = turned({ ...stored, paused: pausedOf(stored) }, state, pause);
  yield* tx.put(communityRecords, { ...stored, homeSince, ...fieldsOf(paused) });
});

/** Changes settings. The log of the community follows. */
const putSettings = Effect.fnUntraced(function* (
  tx: Tx,
  stored: CommunityRecord,
  update: Partial<CommunitySettings>,
  position: number,
) {
  const settings = { ...stored.settings, ...update };
  yield* tx.put(communityRecords, { ...stored, settings });
  yield* followLog(tx, stored, stored.settings.logChannelId, settings.logChannelId, position);
});

/** Forgets that linking was on, and what was chosen. Returns whether anything was. @internal */
export const closeCommunity = Effect.fnUntraced(function* (tx: Tx, place: CommunityPlace) {
  const stored = yield* recordAt(tx, place);
  const { homeSince, settings } = stored;
  if (!isKnown({ ...nothingChosen, ...settings, homeSince, panels: [] })) return false;
  yield* putSettings(tx, { ...stored, homeSince: null, ...fieldsOf(null) }, nothingChosen, 0);
  return true;
});

/** Takes an erased user out of up to `limit` pauses. Returns whether more may be left. @internal */
export const forgetInCommunities = (tx: Tx, chatId: ChatId, limit: number) =>
  changeSome(tx, communityRecords.byPauser, [chatId], limit, { pausedBy: null });

/** Deletes the entries of a log that is turned off. @internal */
export const deleteLogEntries = <Name extends string>(
  { inSteps }: Pick<StoreRecords<Name>, "inSteps">,
  name: Name,
  place: CommunityPlace,
) =>
  inSteps(
    name,
    logIdOf(place),
    Effect.fnUntraced(function* (tx: Tx, limit: number) {
      const log = yield* tx.get(guildLogs, logIdOf(place));
      return log?.channelId === null ? yield* tx.list(guildLogEntries.byLog, [log.id], { limit }) : [];
    }),
    removeFound(guildLogEntries),
  );

/** @internal */
export const storedCommunities = recordStore(CommunityStore, (records) => {
  const { read, write } = records;

  return {
    find: ({ pid, guildId }) =>
      read("find", function* (tx) {
        const stored = yield* tx.get(communityRecords, pid, guildId);
        const found = yield* withScopes(tx, stored === undefined ? [] : [stored], communityOf);
        return Arr.findFirst(found, isKnown);
      }),

    findHome: (guildId) =>
      read("findHome", function* (tx) {
        const stored = yield* tx.list(communityRecords.byGuild, [guildId]);
        return Arr.head((yield* withScopes(tx, stored, communityOf, true)).toSorted(homeOrder));
      }),

    list: (pid) =>
      read("list", function* (tx) {
        const stored = yield* tx.list(communityRecords.byKey, [pid]);
        return (yield* withScopes(tx, stored, communityOf)).filter(isKnown);
      }),

    reminding: () =>
      read("reminding", function* (tx) {
        const reminding: Array<Community> = [];
        const addPart = Effect.fnUntraced(function* (stored: ReadonlyArray<CommunityRecord>) {
          const found = (yield* withScopes(tx, stored, communityOf, true)).filter(mayLink);
          // A guild may have several communities with paused rules. One with rules that are on is its home.
          const guilds = new Set(found.flatMap((each) => (isLinkingOn(each) ? [] : [each.guildId])));
          const ofGuilds = yield* tx.listAll(
            communityRecords.byGuild,
            Array.from(guilds, (id) => [id]),
          );
          const rivals = (yield* withScopes(tx, ofGuilds, communityOf, true)).toSorted(homeOrder);
          const homes = new Map(rivals.toReversed().map(({ guildId, scope }) => [guildId, scope.pid]));
          const isHome = ({ guildId, scope }: Community) => homes.get(guildId) === scope.pid;
          reminding.push(...found.filter((each) => isLinkingOn(each) || isHome(each)));
        });
        yield* forEachPart(tx, communityRecords.reminding, addPart);
        return reminding;
      }),

    update: Effect.fnUntraced(function* ({ update, position, ...change }) {
      const isOfLog = update.logChannelId !== undefined;
      // A process may have ended before the entries were deleted.
      if (isOfLog) yield* deleteLogEntries(records, "update", change);
      yield* write("update", communityQueue(change), function* (tx) {
        assertStorable(Object.values(update).filter((value) => typeof value === "string"));
        const stored = yield* recordAt(tx, change);
        const before = { ...nothingChosen, ...stored.settings };
        if (isOfLog) yield* retryLog(tx, change);
        if (changedIn(before, update).length === 0) return;
        yield* putSettings(tx, stored, update, position);
        const linking = { ...before, ...stored, paused: pausedOf(stored) };
        yield* tx.journal(change, "roles.updated", settingDetails(linking, update));
      });
      if (isOfLog) yield* deleteLogEntries(records, "update", change);
    }),

    savePanel: ({ panel, ...change }) =>
      write("savePanel", communityQueue(change), function* (tx) {
        assertStorable([panel.channelId, panel.messageId ?? "", panel.text ?? ""]);
        const stored = yield* recordAt(tx, change);
        const details = panelDetails(change.guildId, stored.panels, panel);
        if (details === null) return;
        yield* tx.put(communityRecords, { ...stored, panels: withPanel(stored.panels, panel) });
        yield* tx.journal(change, "panel.posted", details);
      }),
  };
});
