/** Previews of role plans, and the members who would gain or lose a role. */
import { Array as Arr, Context, Effect, Option, Schema, Struct } from "effect";
import type { StoreEffect } from "../errors.ts";
import { ChatId, GuildId, Pid } from "../ids.ts";
import { keyOf, type RecordOf, recordStore, recordType, removeFound, type Tx } from "../records/mod.ts";
import type { Millis } from "../timestamp.ts";
import { areLossesShown, arePreviewedAs, PlanPreview, type PreviewExample } from "./plan_preview.ts";
import { roleChangeKinds } from "./role_history_store.ts";
import { PlanSettings } from "./role_plan.ts";
import type { PlanPlace, PutPlan } from "./role_plan_store.ts";

/** How long a preview is kept, in milliseconds, and how long a sweep relies on a confirmed one. @internal */
export const previewTime = 86_400_000;

/** What a preview said, and when the plan was turned on with its settings. */
const ConfirmedPreview = Schema.Struct({
  settings: PlanSettings,
  roles: PlanPreview.fields.roles,
  at: Schema.Int,
});
export type ConfirmedPreview = typeof ConfirmedPreview.Type;

/** The last preview of each plan. @internal */
export const rolePreviews = recordType({
  name: "role_previews",
  fields: {
    pid: Pid,
    guildId: GuildId,
    id: Schema.String,
    /** With what was last confirmed of the previews before. */
    preview: Schema.Struct({ ...PlanPreview.fields, confirmed: Schema.optional(ConfirmedPreview) }),
    /** When the progress was stored, or else when the preview was first confirmed. */
    savedAt: Schema.Int,
    /** When the plan was turned on with the settings of the preview; null if it was not. */
    confirmedAt: Schema.NullOr(Schema.Int),
  },
  json: ["preview"],
  key: ["pid", "guildId"],
  indexes: { byTime: { fields: ["savedAt", "pid", "guildId"], group: 0 } },
  isLarge: true,
});

export interface StoredPreview {
  readonly preview: PlanPreview;
  readonly savedAt: Millis;
  /** Which preview of the plan was confirmed last, this one or one before; null if none was. */
  readonly confirmed: ConfirmedPreview | null;
}

/**
 * The users named by previews, one record each, so that the erasure of a user finds the previews. A preview may run for
 * hours before it is kept for a day, and for another once it is confirmed. @internal
 */
export const previewUsers = recordType({
  name: "preview_users",
  fields: { pid: Pid, guildId: GuildId, chatId: ChatId, keptUntil: Schema.Int },
  key: ["pid", "guildId", "chatId"],
  indexes: {
    byUser: { fields: ["chatId", "pid", "guildId"], group: 1 },
    byEnd: { fields: ["keptUntil", "pid", "guildId", "chatId"] },
  },
  ofUser: { index: "byUser", erasedAs: null },
});

/** @internal */
export const previewMembers = recordType({
  name: "preview_members",
  fields: {
    pid: Pid,
    guildId: GuildId,
    /** The ID of the preview. */
    preview: Schema.String,
    roleId: Schema.String,
    chatId: ChatId,
    change: Schema.Literals(roleChangeKinds),
    /** `unlinked` members were never linked: they lose the role only if the owner chooses that. */
    kind: Schema.Literals(["linked", "unlinked"]),
    keptUntil: Schema.Int,
  },
  key: ["pid", "guildId", "preview", "roleId", "chatId"],
  indexes: {
    byRole: { fields: ["pid", "guildId", "preview", "change", "roleId", "chatId"], group: 2 },
    byUser: { fields: ["chatId", "pid", "guildId", "preview", "roleId"], group: 1 },
    byEnd: { fields: ["keptUntil", "pid", "guildId", "preview", "roleId", "chatId"] },
  },
  isOfScope: true,
  ofUser: { index: "byUser", erasedAs: null },
  download: { index: "byUser", as: "previewedRoles", fields: ["pid", "guildId", "roleId", "change"] },
});

/** A member who would gain or lose a role. */
export interface PreviewMember extends RecordOf<typeof previewMembers> {}

/** What a preview says of a chat user. */
export interface UserPreview extends PlanPlace, Pick<PlanPreview, "names"> {
  readonly examples: ReadonlyArray<PreviewExample>;
}

/** The most members and roles that are listed of a preview. @internal */
export const mostPreviewMembers = 100_000;

export type PreviewedRole = Pick<PreviewMember, "preview" | "roleId" | "change">;

export interface SavePreview extends PlanPlace {
  readonly preview: PlanPreview;
  readonly at: Millis;
}

/**
 * Stores previews, and the members that they found, for a day. `LinkStore.deleteScope` deletes the members, and
 * `UserStore.erase` the members and the previews that name the user. `RolePlanStore.put` of a plan that is on confirms a
 * preview of its settings that is done, and `RolePlanStore.remove` deletes the preview.
 */
export class PreviewStore extends Context.Service<
  PreviewStore,
  {
    /** Stores a new preview in place of an earlier one, whose ID is returned. */
    readonly start: (write: SavePreview) => StoreEffect<string | null>;

    /** Stores the progress of a preview. Returns false if another preview has replaced it. */
    readonly save: (write: SavePreview) => StoreEffect<boolean>;

    readonly find: (place: PlanPlace) => StoreEffect<Option.Option<StoredPreview>>;

    /** Stores members of a community. One that is stored is replaced. */
    readonly add: (
      place: PlanPlace,
      members: ReadonlyArray<Pick<PreviewMember, "preview" | "roleId" | "chatId" | "change" | "kind">>,
      at: Millis,
    ) => StoreEffect<void>;

    /** Returns the members after a chat ID, sorted by chat ID as text. */
    readonly page: (
      place: PlanPlace,
      role: PreviewedRole,
      after: ChatId | null,
      limit: number,
    ) => StoreEffect<ReadonlyArray<PreviewMember>>;

    /** Deletes the members of a preview. */
    readonly drop: (place: PlanPlace, preview: string) => StoreEffect<void>;

    /** Deletes previews that have expired. */
    readonly forget: (at: Millis) => StoreEffect<void>;
  }
>()("@accountlink/core/PreviewStore") {}

/**
 * Remembers that a plan is on with the settings of its preview, in the transaction of the plan. The preview is kept for a
 * day from then on, but not at every further time, since the records of its users end. @internal
 */
export const confirmPreview = Effect.fnUntraced(function* (
  tx: Tx,
  { pid, guildId, settings, previewed, at }: PutPlan,
) {
  if (settings.state !== "on") return;
  const stored = yield* tx.get(rolePreviews, pid, guildId);
  if (stored?.preview.state !== "done" || !arePreviewedAs(stored.preview.settings, settings)) return;
  const { preview } = stored;
  // The page of a preview shows the losses of both choices. The API shows the losses of one choice.
  const isShown = areLossesShown(preview.settings, settings);
  if (previewed !== stored.id && !isShown) return;
  const shown = isShown ? preview.settings : settings;
  const savedAt = stored.confirmedAt === null ? at : stored.savedAt;
  yield* tx.put(rolePreviews, {
    ...stored,
    preview: { ...preview, settings: shown },
    savedAt,
    confirmedAt: at,
  });
});

const confirmedOf = ({ preview, confirmedAt }: RecordOf<typeof rolePreviews>) =>
  confirmedAt === null
    ? preview.confirmed
    : { settings: preview.settings, roles: preview.roles, at: confirmedAt };

const namedIn = ({ examples, names }: PlanPreview): ReadonlySet<ChatId> =>
  new Set([...examples.linked, ...examples.unlinked, ...names].map(({ chatId }) => chatId));

/** Finds what previews say of a user. @internal */
export const previewsOf = Effect.fnUntraced(function* (tx: Tx, chatId: ChatId) {
  const found: Array<UserPreview> = [];
  for (const { pid, guildId } of yield* tx.list(previewUsers.byUser, [chatId])) {
    const stored = yield* tx.get(rolePreviews, pid, guildId);
    if (stored === undefined || !namedIn(stored.preview).has(chatId)) continue;
    const { examples, names } = stored.preview;
    found.push({
      pid,
      guildId,
      examples: [...examples.linked, ...examples.unlinked].filter((example) => example.chatId === chatId),
      names: names.filter((name) => name.chatId === chatId),
    });
  }
  return found;
});

/**
 * Deletes up to `limit` previews that name a user, or that run and may be about to. Returns whether more may be left.
 * @internal
 */
export const forgetInPreviews = Effect.fnUntraced(function* (tx: Tx, chatId: ChatId, limit: number) {
  const found = yield* tx.list(previewUsers.byUser, [chatId], { limit });
  for (const { pid, guildId } of found) {
    const stored = yield* tx.get(rolePreviews, pid, guildId);
    yield* tx.remove(previewUsers, pid, guildId, chatId);
    if (stored !== undefined && (stored.preview.state === "running" || namedIn(stored.preview).has(chatId)))
      yield* tx.remove(rolePreviews, pid, guildId);
  }
  return found.length === limit;
});

const queueOf = ({ pid, guildId }: PlanPlace) => `preview members ${pid} ${guildId}`;

/** @internal */
export const storedPreviews = recordStore(PreviewStore, (records) => {
  const { read, write, inSteps, removeBefore, mostWritten } = records;

  /** Stores records of the users who are in the new preview alone, before the preview itself is stored. */
  const name = (
    operation: "start" | "save",
    { pid, guildId, preview, at }: SavePreview,
    stored: PlanPreview | null,
  ) => {
    const known = stored === null ? new Set() : namedIn(stored);
    const users = [...namedIn(preview)]
      .filter((chatId) => !known.has(chatId))
      .map((chatId) => ({ pid, guildId, chatId, keptUntil: at + 3 * previewTime }));
    return Effect.forEach(
      Arr.chunksOf(users, mostWritten),
      (part) => write(operation, queueOf({ pid, guildId }), (tx) => tx.putAll(previewUsers, part)),
      { discard: true },
    );
  };

  return {
    start: Effect.fnUntraced(function* (begun) {
      const { pid, guildId, preview, at } = begun;
      yield* name("start", begun, null);
      return yield* write("start", queueOf(begun), function* (tx) {
        const earlier = yield* tx.get(rolePreviews, pid, guildId);
        const confirmed = earlier && confirmedOf(earlier);
        yield* tx.put(rolePreviews, {
          pid,
          guildId,
          id: preview.id,
          preview: { ...preview, confirmed },
          savedAt: at,
          confirmedAt: null,
        });
        return earlier?.id ?? null;
      });
    }),

    save: Effect.fnUntraced(function* (saved) {
      const { pid, guildId, preview, at } = saved;
      if (namedIn(preview).size > 0) {
        const before = yield* read("save", (tx) => tx.get(rolePreviews, pid, guildId));
        if (before === undefined || before.id !== preview.id) return false;
        yield* name("save", saved, before.preview);
      }
      return yield* write("save", queueOf(saved), function* (tx) {
        const stored = yield* tx.get(rolePreviews, pid, guildId);
        if (stored?.id !== preview.id) return false;
        const { confirmed } = stored.preview;
        yield* tx.put(rolePreviews, { ...stored, preview: { ...preview, confirmed }, savedAt: at });
        return true;
      });
    }),

    find: ({ pid, guildId }) =>
      read("find", (tx) =>
        Effect.map(tx.get(rolePreviews, pid, guildId), (stored) =>
          Option.map(Option.fromUndefinedOr(stored), (found) => ({
            preview: Struct.omit(found.preview, ["confirmed"]),
            savedAt: found.savedAt,
            confirmed: confirmedOf(found) ?? null,
          })),
        ),
      ),

    add: ({ pid, guildId }, members, at) => {
      const stored = members.map((each) => ({ pid, guildId, ...each, keptUntil: at + previewTime }));
      const byKey = new Map(stored.map((each) => [JSON.stringify(keyOf(previewMembers, each)), each]));
      return Effect.forEach(
        Arr.chunksOf(byKey.values(), mostWritten),
        (part) => write("add", queueOf({ pid, guildId }), (tx) => tx.putAll(previewMembers, part)),
        { discard: true },
      );
    },

    page: ({ pid, guildId }, { preview, roleId, change }, after, limit) =>
      read("page", (tx) =>
        tx.list(previewMembers.byRole, [pid, guildId, preview, change, roleId], {
          limit,
          ...(after !== null && { after: [after] }),
        }),
      ),

    drop: (place, preview) =>
      Effect.asVoid(
        inSteps(
          "drop",
          queueOf(place),
          (tx, limit) => tx.list(previewMembers.byRole, [place.pid, place.guildId, preview], { limit }),
          removeFound(previewMembers),
        ),
      ),

    forget: (at) =>
      Effect.all(
        [
          removeBefore("forget", rolePreviews.byTime, [at - previewTime + 1]),
          removeBefore("forget", previewUsers.byEnd, [at + 1]),
          removeBefore("forget", previewMembers.byEnd, [at + 1]),
        ],
        { discard: true },
      ),
  };
});
