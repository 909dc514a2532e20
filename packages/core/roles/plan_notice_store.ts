/** Who turned the rules of a community on, and is told when they stop without them. */
import { Context, Effect, Schema } from "effect";
import type { Actor } from "../audit/audit.ts";
import type { CommunityPlace, PauseReason } from "../communities/community.ts";
import type { StoreEffect } from "../errors.ts";
import { ChatId, GuildId, isChatId, KeyId, Pid } from "../ids.ts";
import { type RecordOf, recordType } from "../records/record_type.ts";
import { recordStore, type Tx } from "../records/records.ts";
import { dayMs, type Millis } from "../timestamp.ts";
import type { PlanState } from "./role_plan.ts";
import type { PlanWrite } from "./role_plan_store.ts";

const time = Schema.NullOr(Schema.Int);

/** @internal */
export const planNotices = recordType({
  name: "plan_notices",
  fields: {
    pid: Pid,
    guildId: GuildId,
    /** The member who turned the rules on, or the key; both null for the operator. */
    chatId: Schema.NullOr(ChatId),
    keyId: Schema.NullOr(KeyId),
    /** When a message was sent last. */
    toldAt: time,
    /** When to send the next one; null if there is nothing to tell. */
    dueAt: time,
    /** The time of the newest problem that was looked at, and the problems that were known then. */
    problemAt: time,
    problems: Schema.Array(Schema.String),
  },
  json: ["problems"],
  key: ["pid", "guildId"],
  indexes: {
    byUser: { fields: ["chatId", "pid", "guildId"], group: 1 },
    byDue: { fields: ["dueAt", "pid", "guildId"] },
  },
  ofUser: { index: "byUser", erasedAs: null },
});

export interface PlanNotice extends RecordOf<typeof planNotices> {}

const newNotice = { chatId: null, keyId: null, toldAt: null, dueAt: null, problemAt: null, problems: [] };

/** At most one message a day of each community. */
const dueFrom = ({ toldAt }: Pick<PlanNotice, "toldAt">, at: Millis): Millis =>
  toldAt === null ? at : Math.max(at, toldAt + dayMs);

const makerOf = (actor: Actor) => ({
  chatId: actor.type === "account" && isChatId(actor.member) ? actor.member : null,
  keyId: actor.type === "key" ? actor.id : null,
});

/**
 * Remembers who turns the rules of a community on, and that the service pauses them. What a person pauses is not told.
 * Storages call it in the transaction of the plan.
 *
 * @param why null unless the service pauses the rules
 * @internal
 */
export const noteTurn = Effect.fnUntraced(function* (
  tx: Tx,
  { pid, guildId, actor, at }: PlanWrite,
  turn: PlanState | "removed",
  why: PauseReason | null = null,
) {
  const stored = yield* tx.get(planNotices, pid, guildId);
  if (stored === undefined && turn !== "on") return;
  const notice = { ...newNotice, ...stored, pid, guildId };
  yield* tx.put(planNotices, {
    ...notice,
    ...(turn === "on" && makerOf(actor)),
    ...(turn === "removed" && { chatId: null, keyId: null }),
    dueAt: why === null ? null : dueFrom(notice, at),
  });
});

/** A community whose problems may have changed since they were looked at. */
export interface ChangedProblems extends CommunityPlace {
  readonly problemAt: Millis | null;
}

/**
 * Stores whom to tell when the rules of a community stop, and when that was done. `RolePlanStore` stores who turned them
 * on, and that the service paused them. Erasing a user deletes what they are to be told. Every operation is atomic.
 */
export class PlanNoticeStore extends Context.Service<
  PlanNoticeStore,
  {
    /**
     * Looks at the communities after a place, at most `limit`. Returns those whose problems may have changed, and the last
     * place; null after the last community.
     */
    readonly changed: (
      after: CommunityPlace | null,
      limit: number,
    ) => StoreEffect<{
      readonly found: ReadonlyArray<ChangedProblems>;
      readonly last: CommunityPlace | null;
    }>;

    /** Stores the problems of a community that are told. New ones among them make a message due. */
    readonly setProblems: (
      changed: ChangedProblems & { readonly problems: ReadonlyArray<string>; readonly at: Millis },
    ) => StoreEffect<void>;

    /** Returns the message that is due for the longest time; null if none is due. */
    readonly due: (at: Millis) => StoreEffect<PlanNotice | null>;

    /** Stores when a message was sent and when the next one is due, unless that has changed. Returns whether it is stored. */
    readonly settle: (
      notice: CommunityPlace & Pick<PlanNotice, "dueAt">,
      next: Pick<PlanNotice, "toldAt" | "dueAt">,
    ) => StoreEffect<boolean>;
  }
>()("@accountlink/core/PlanNoticeStore") {}

const queueOf = ({ pid, guildId }: CommunityPlace): string => `notices of ${pid} ${guildId}`;

/** Stores notices in any storage. @internal */
export const storedPlanNotices = recordStore(PlanNoticeStore, ({ read, write }) => ({
  changed: (after, limit) =>
    read("changed", function* (tx) {
      const from = after && { after: [after.pid, after.guildId] };
      const listed = yield* tx.list(planNotices.byKey, [], { ...from, limit });
      const times = yield* tx.problemTimes(listed);
      const found = listed.flatMap(({ pid, guildId, problemAt: known }) => {
        const problemAt = times.get(`${pid} ${guildId}`) ?? null;
        return problemAt === known ? [] : [{ pid, guildId, problemAt }];
      });
      return { found, last: listed.length < limit ? null : (listed.at(-1) ?? null) };
    }),

  setProblems: ({ problemAt, problems, at, ...place }) =>
    write("setProblems", queueOf(place), function* (tx) {
      const stored = yield* tx.get(planNotices, place.pid, place.guildId);
      if (stored === undefined) return;
      const isNew = problems.some((problem) => !stored.problems.includes(problem));
      const dueAt = stored.dueAt ?? (isNew ? dueFrom(stored, at) : null);
      yield* tx.put(planNotices, { ...stored, problemAt, problems, dueAt });
    }),

  due: (at) =>
    read("due", function* (tx) {
      const [first] = yield* tx.list(planNotices.byDue, [], { before: [at + 1], limit: 1 });
      return first ?? null;
    }),

  settle: (notice, next) =>
    write("settle", queueOf(notice), function* (tx) {
      const stored = yield* tx.get(planNotices, notice.pid, notice.guildId);
      if (stored === undefined || stored.dueAt !== notice.dueAt) return false;
      yield* tx.put(planNotices, { ...stored, ...next });
      return true;
    }),
}));
