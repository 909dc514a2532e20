/** Whom a preview found to gain or lose a role. */
import { Array as Arr, Context, Effect, Schema } from "effect";
import type { StoreEffect } from "../errors.ts";
import { ChatId, GuildId, Pid } from "../ids.ts";
import { type RecordOf, recordType } from "../records/record_type.ts";
import { recordStore } from "../records/records.ts";
import type { Millis } from "../timestamp.ts";
import { type RoleChangeKind, roleChangeKinds } from "./role_history_store.ts";
import type { PlanPlace } from "./role_plan_store.ts";
import { previewTime } from "./role_plan_store.ts";

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
});

/** A member who would gain or lose a role. */
export interface PreviewMember extends RecordOf<typeof previewMembers> {}

/** The most members and roles that are listed of a preview. @internal */
export const mostPreviewMembers = 100_000;

export interface PreviewedRole {
  readonly preview: string;
  readonly roleId: string;
  readonly change: RoleChangeKind;
}

/** Stores the members that previews found, for a day. `LinkStore.deleteScope` and `UserStore.erase` delete them. */
export class PreviewMembersStore extends Context.Service<
  PreviewMembersStore,
  {
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

    /** Deletes what is kept no longer. */
    readonly forget: (at: Millis) => StoreEffect<void>;
  }
>()("@accountlink/core/PreviewMembersStore") {}

const queueOf = ({ pid, guildId }: PlanPlace) => `preview members ${pid} ${guildId}`;

/** @internal */
export const storedPreviewMembers = recordStore(PreviewMembersStore, (records) => {
  const { read, write, removeBefore, mostWritten } = records;
  return {
    add: (place, members, at) =>
      Effect.forEach(
        Arr.chunksOf(members, mostWritten),
        (part) =>
          write("add", queueOf(place), (tx) =>
            Effect.forEach(
              part,
              (member) =>
                tx.put(previewMembers, {
                  pid: place.pid,
                  guildId: place.guildId,
                  ...member,
                  keptUntil: at + previewTime,
                }),
              { discard: true },
            ),
          ),
        { discard: true },
      ),

    page: ({ pid, guildId }, { preview, roleId, change }, after, limit) =>
      read("page", (tx) =>
        tx.list(previewMembers.byRole, [pid, guildId, preview, change, roleId], {
          limit,
          ...(after !== null && { after: [after] }),
        }),
      ),

    drop: (place, preview) => {
      const dropSome = write("drop", queueOf(place), function* (tx) {
        const { pid, guildId } = place;
        const prefix = [pid, guildId, preview];
        const found = yield* tx.list(previewMembers.byRole, prefix, { limit: mostWritten });
        for (const { roleId, chatId } of found) {
          yield* tx.remove(previewMembers, pid, guildId, preview, roleId, chatId);
        }
        return found.length < mostWritten;
      });
      return Effect.asVoid(Effect.repeat(dropSome, { until: (isDone) => isDone }));
    },

    forget: (at) => Effect.asVoid(removeBefore("forget", previewMembers.byEnd, [at + 1])),
  };
});
