/** Who turned the rules of a community on, and is told when they stop without them. */
import { Context, Effect, Schema } from "effect";
import type { Actor } from "../audit/audit.ts";
import type { CommunityPlace, PauseReason } from "../communities/community.ts";
import type { StoreEffect } from "../errors.ts";
import { ChatId, GuildId, isChatId, KeyId, Pid } from "../ids.ts";
import { type RecordOf, recordStore, recordType, type Tx } from "../records/mod.ts";
import { dayMs, hourMs, type Millis } from "../timestamp.ts";
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
    /** When the problems of the plan changed last. Each change has a later time. */
    problemAt: time,
    /** The same until the problems were looked at, then null. Records of earlier releases lack it. */
    unseenAt: time,
    /** The problems that were known when they were looked at last. */
    problems: Schema.Array(Schema.String),
  },
  json: ["problems"],
  key: ["pid", "guildId"],
  indexes: {
    byUser: { fields: ["chatId", "pid", "guildId"], group: 1 },
    byDue: { fields: ["dueAt", "pid", "guildId"] },
    unseen: { fields: ["unseenAt", "pid", "guildId"] },
  },
  ofUser: { index: "byUser", erasedAs: null },
  download: { index: "byUser", as: "rulesTurnedOn", fields: ["pid", "guildId", "toldAt"] },
});

export interface PlanNotice extends RecordOf<typeof planNotices> {}

const newNotice = {
  chatId: null,
  keyId: null,
  toldAt: null,
  dueAt: null,
  problemAt: null,
  unseenAt: null,
  problems: [],
};

const changedAt = ({ problemAt }: Pick<PlanNotice, "problemAt">, at: Millis) => {
  const changed = problemAt === null ? at : Math.max(at, problemAt + 1);
  return { problemAt: changed, unseenAt: changed };
};

/** At most one message a day of each community. */
const dueFrom = ({ toldAt }: Pick<PlanNotice, "toldAt">, at: Millis): Millis =>
  toldAt === null ? at : Math.max(at, toldAt + dayMs);

const makerOf = (actor: Actor) => ({
  chatId: actor.type === "account" && isChatId(actor.member) ? actor.member : null,
  keyId: actor.type === "key" ? actor.id : null,
});

/**
 * Remembers who turns the rules of a community on, and that the service pauses them. What a person pauses is not told. A
 * turn also changes the problems of the plan. Storages call it in the transaction of the plan.
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
    ...changedAt(notice, at),
    ...(turn === "on" && makerOf(actor)),
    ...(turn === "removed" && { chatId: null, keyId: null }),
    dueAt: why === null ? null : dueFrom(notice, at),
  });
});

/**
 * Remembers that problems of a plan were stored or deleted, or compared with all members. Storages call it in the
 * transaction of the problems, which has locked the plan. @internal
 */
export const noteProblems = Effect.fnUntraced(function* (
  tx: Tx,
  { pid, guildId }: CommunityPlace,
  at: Millis,
) {
  const stored = yield* tx.get(planNotices, pid, guildId);
  const notice = { ...newNotice, ...stored, pid, guildId };
  yield* tx.put(planNotices, { ...notice, ...changedAt(notice, at) });
});

/** A community whose problems may have changed since they were looked at. */
export interface ChangedProblems extends CommunityPlace, Pick<PlanNotice, "unseenAt"> {}

/** A message that is due, and the account of its scope; null if the scope was deleted. */
export interface DueNotice extends PlanNotice {
  readonly account: string | null;
}

/**
 * Stores who hears when the rules of a community stop, and when they were told. `RolePlanStore` stores who turned them on,
 * that the service paused them, and that their problems changed. Erasing a user deletes their notices. Every operation is
 * atomic.
 */
export class PlanNoticeStore extends Context.Service<
  PlanNoticeStore,
  {
    /** Returns the communities whose problems changed since they were looked at, at most `limit`, the earliest first. */
    readonly unseen: (limit: number) => StoreEffect<ReadonlyArray<ChangedProblems>>;

    /**
     * Stores the problems of a community that are told, and that they were looked at, unless they have changed again. New
     * ones among them make a message due.
     */
    readonly setProblems: (
      changed: ChangedProblems & { readonly problems: ReadonlyArray<string>; readonly at: Millis },
    ) => StoreEffect<void>;

    /** Returns messages that are due, at most `limit`: those due for the longest time, or the next ones after `last`. */
    readonly due: (
      at: Millis,
      limit: number,
      last: PlanNotice | null,
    ) => StoreEffect<ReadonlyArray<DueNotice>>;

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
  unseen: (limit) => read("unseen", (tx) => tx.list(planNotices.unseen, [], { limit })),

  setProblems: ({ unseenAt: seen, problems, at, ...place }) =>
    write("setProblems", queueOf(place), function* (tx) {
      const stored = yield* tx.get(planNotices, place.pid, place.guildId);
      if (stored === undefined) return;
      const isNew = problems.some((problem) => !stored.problems.includes(problem));
      const dueAt = stored.dueAt ?? (isNew ? dueFrom(stored, at) : null);
      const unseenAt = stored.unseenAt === seen ? null : stored.unseenAt;
      yield* tx.put(planNotices, { ...stored, unseenAt, problems, dueAt });
    }),

  due: (at, limit, last) =>
    read("due", function* (tx) {
      const after = last === null ? null : [last.dueAt ?? 0, last.pid, last.guildId];
      const isPast = last === null || (last.dueAt ?? 0) <= at;
      const past = isPast
        ? yield* tx.list(planNotices.byDue, [], { before: [at + 1], limit, ...(after && { after }) })
        : [];
      // A notice is due within a day, unless a clock was ahead. An hour more allows for clocks that differ.
      const rest = { after: isPast || after === null ? [at + dayMs + hourMs] : after };
      const count = limit - past.length;
      const ahead = count > 0 ? yield* tx.list(planNotices.byDue, [], { ...rest, limit: count }) : [];
      const found = [...past, ...ahead];
      const scopes = yield* tx.scopes([...new Set(found.map(({ pid }) => pid))]);
      return found.map((each) => ({ ...each, account: scopes.get(each.pid)?.scope.account ?? null }));
    }),

  settle: (notice, next) =>
    write("settle", queueOf(notice), function* (tx) {
      const stored = yield* tx.get(planNotices, notice.pid, notice.guildId);
      if (stored === undefined || stored.dueAt !== notice.dueAt) return false;
      yield* tx.put(planNotices, { ...stored, ...next });
      return true;
    }),
}));
