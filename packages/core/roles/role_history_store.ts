/** Which roles the rules gave members and took from them, and what of it is being reversed. */
import { Array as Arr, Context, Effect, Schema } from "effect";
import type { WriteOrigin } from "../audit/audit.ts";
import type { StoreEffect } from "../errors.ts";
import { ChatId, GuildId, Pid } from "../ids.ts";
import { type RecordOf, recordStore, recordType, removeFound, type Tx } from "../records/mod.ts";
import { dayMs, type Millis } from "../timestamp.ts";
import type { PlanPlace } from "./role_plan_store.ts";

/** @internal */
export const roleChangeKinds = ["gave", "took"] as const;
export type RoleChangeKind = (typeof roleChangeKinds)[number];

/**
 * Why a role was changed: the member's link changed or the member joined, a comparison of everybody, `sync` or *Apply
 * now*, a role was put back, or it was taken because no rule names it any more. @internal
 */
export const changeReasons = ["link", "sweep", "sync", "put_back", "take"] as const;
export type ChangeReason = (typeof changeReasons)[number];

const Kind = Schema.Literals(roleChangeKinds);

/** @internal */
export const roleChanges = recordType({
  name: "role_changes",
  fields: {
    pid: Pid,
    guildId: GuildId,
    /** Counts the changes of a community. */
    number: Schema.Int,
    chatId: ChatId,
    roleId: Schema.String,
    change: Kind,
    at: Schema.Int,
    because: Schema.Literals(changeReasons),
    /** `trying` until the platform has answered. If the node dies before, the change may have been made or not. */
    outcome: Schema.Literals(["trying", "made"]),
    /**
     * The `change`, unless a later one of the member's role was made, it is known to be reversed, or it gave a role back
     * that the rules had never given; else null.
     */
    last: Schema.NullOr(Kind),
    /** Null as long as the member has the role by the rules. */
    keptUntil: Schema.NullOr(Schema.Int),
  },
  key: ["pid", "guildId", "number"],
  indexes: {
    newest: { fields: ["pid", "guildId", "-number"], group: 2 },
    lasting: { fields: ["pid", "guildId", "last", "roleId", "at", "number"] },
    byUser: { fields: ["chatId", "pid", "guildId", "roleId", "-number"], group: 1, isNamed: true },
    byEnd: { fields: ["keptUntil", "pid", "guildId", "number"] },
  },
  isOfScope: true,
  ofUser: { index: "byUser", erasedAs: null },
  download: {
    index: "byUser",
    as: "roleChanges",
    fields: ["pid", "guildId", "roleId", "change", "at", "because"],
  },
});

/** A role that the rules gave a member or took. */
export interface KeptRoleChange extends RecordOf<typeof roleChanges> {}

/** What is reversed: all changes of a kind to a role since a time, in the order of their times. @internal */
export const roleReversals = recordType({
  name: "role_reversals",
  fields: {
    pid: Pid,
    guildId: GuildId,
    roleId: Schema.String,
    /** The kind of the changes that are reversed: what was taken is given back, what was given is taken. */
    change: Kind,
    /** The time and the number of the last change that was reversed; at first the time to begin at, and 0. */
    at: Schema.Int,
    number: Schema.Int,
  },
  key: ["pid", "guildId", "roleId", "change"],
  indexes: { all: { fields: ["pid", "guildId", "roleId", "change"], group: 1 } },
  isOfScope: true,
});

export interface RoleReversal extends RecordOf<typeof roleReversals> {}

/** How long changes of roles are kept, in milliseconds. @internal */
export const roleChangeTime = 30 * dayMs;

/** The most changes of a community; the oldest are dropped. @internal */
export const mostRoleChanges = 200_000;

/** Changes of one transaction at most. */
const changesAtOnce = 8;

export type RoleChange = Pick<KeptRoleChange, "roleId" | "change">;

/** How many members a role was given or taken from. */
export interface RoleCount {
  readonly roleId: string;
  readonly count: number;
}

export interface BeginRoleChanges extends PlanPlace {
  readonly chatId: ChatId;
  readonly changes: ReadonlyArray<RoleChange>;
  readonly because: ChangeReason;
  readonly at: Millis;
}

export interface EndedRoleChange {
  readonly change: KeptRoleChange;
  readonly isMade: boolean;
}

export interface BeginReversals extends WriteOrigin, PlanPlace {
  readonly at: Millis;
  readonly change: RoleChangeKind;
  readonly roleIds: ReadonlyArray<string>;
  /** Changes from this time on are reversed. */
  readonly since: Millis;
  /** How many changes they are. */
  readonly count: number;
}

/**
 * Stores which roles the rules gave and took. Every operation is atomic. `LinkStore.deleteScope` deletes the changes of a
 * scope, `UserStore.erase` the changes of a user.
 */
export class RoleHistoryStore extends Context.Service<
  RoleHistoryStore,
  {
    /** Stores changes before they are made. One that was tried before, without an answer, is replaced. */
    readonly begin: (write: BeginRoleChanges) => StoreEffect<ReadonlyArray<KeptRoleChange>>;

    /** Stores which changes were made, and drops those that were not. */
    readonly end: (ended: ReadonlyArray<EndedRoleChange>) => StoreEffect<void>;

    /** Returns changes of a community before a number, the newest first. */
    readonly page: (
      place: PlanPlace,
      before: number | null,
      limit: number,
    ) => StoreEffect<ReadonlyArray<KeptRoleChange>>;

    /** Returns the roles that the rules gave a member and have not taken since. */
    readonly givenTo: (place: PlanPlace, chatId: ChatId) => StoreEffect<ReadonlySet<string>>;

    /** Counts changes of a role since a time that were not reversed. */
    readonly count: (place: PlanPlace, change: RoleChange, since: Millis) => StoreEffect<number>;

    /** Counts them for each role that has any, sorted by role. */
    readonly countByRole: (
      place: PlanPlace,
      change: RoleChangeKind,
      since: Millis,
    ) => StoreEffect<ReadonlyArray<RoleCount>>;

    /** Returns the next changes to reverse, the oldest first. */
    readonly toReverse: (reversal: RoleReversal, limit: number) => StoreEffect<ReadonlyArray<KeptRoleChange>>;

    /** Stores that somebody else has reversed a change. */
    readonly close: (change: KeptRoleChange) => StoreEffect<void>;

    /**
     * Begins to reverse changes, with a `roles.put_back` entry if roles are given back, else a `roles.updated` entry. Those
     * that are being reversed already begin at the earlier time. Ends the reversals that take the given back roles, or
     * any role besides the taken ones. Many roles are given back in several transactions, of which the first has the entry.
     */
    readonly reverse: (write: BeginReversals) => StoreEffect<void>;

    /** Returns the open reversals of a community, or of all. */
    readonly reversals: (place: PlanPlace | null) => StoreEffect<ReadonlyArray<RoleReversal>>;

    /** Stores the progress, unless the reversal was ended or begun again. */
    readonly progress: (before: RoleReversal, after: RoleReversal) => StoreEffect<boolean>;

    /** Ends a reversal, unless it was begun again. */
    readonly stop: (reversal: RoleReversal) => StoreEffect<void>;

    /** Deletes the changes that are kept no longer. */
    readonly forget: (at: Millis) => StoreEffect<void>;
  }
>()("@accountlink/core/RoleHistoryStore") {}

type OfMember = Pick<KeptRoleChange, "pid" | "guildId" | "chatId" | "roleId">;

const changesOfRole = (tx: Tx, { pid, guildId, chatId, roleId }: OfMember) =>
  tx.list(roleChanges.byUser, [chatId, pid, guildId, roleId]);

const changeOf = (tx: Tx, { pid, guildId, number, chatId, roleId }: KeptRoleChange) =>
  Effect.map(tx.get(roleChanges, pid, guildId, number), (found) =>
    found?.chatId === chatId && found.roleId === roleId ? found : undefined,
  );

const lasting = (change: Omit<KeptRoleChange, "last" | "keptUntil">): KeptRoleChange => ({
  ...change,
  last: change.change,
  keptUntil: change.change === "gave" ? null : change.at + roleChangeTime,
});

/** @param at when the time begins for which the change is kept */
const ended = (change: KeptRoleChange, at = change.at): KeptRoleChange => ({
  ...change,
  last: null,
  keptUntil: at + roleChangeTime,
});

/** Whether a change gives a role back that the rules took and never gave: the member has it by hand, as before. */
const isByHand = ({ change, because }: KeptRoleChange, earlier: ReadonlyArray<KeptRoleChange>): boolean =>
  change === "gave" &&
  because === "put_back" &&
  !earlier.some((each) => each.change === "gave" && each.because !== "put_back");

const isSame = (one: RoleReversal | undefined, { at, number }: RoleReversal): boolean =>
  one?.at === at && one.number === number;

const keyOf = ({ pid, guildId, roleId, change }: RoleReversal) => [pid, guildId, roleId, change] as const;

/** @internal */
export const roleChangesQueue = ({ pid, guildId }: PlanPlace) => `role changes ${pid} ${guildId}`;

/**
 * The body of `RoleHistoryStore.reverse`, for the transaction of a plan.
 *
 * @param isTold whether the entry is written
 * @internal
 */
export const beginReversals = Effect.fnUntraced(function* (
  tx: Tx,
  { roleIds, change, since, count, ...origin }: BeginReversals,
  isTold = true,
) {
  const { pid, guildId } = origin;
  // Reversals that wait would go on once the plan is on again.
  const gave = (yield* tx.list(roleReversals.all, [pid, guildId])).filter(
    (reversal) => reversal.change === "gave" && roleIds.includes(reversal.roleId) === (change === "took"),
  );
  yield* removeFound(roleReversals)(tx, gave);
  for (const roleId of roleIds) {
    const running = yield* tx.get(roleReversals, pid, guildId, roleId, change);
    const at = Math.min(since, running?.at ?? since);
    yield* tx.put(roleReversals, { pid, guildId, roleId, change, at, number: 0 });
  }
  if (!isTold) return;
  if (change === "took") yield* tx.journal(origin, "roles.put_back", { guildId, count });
  else if (roleIds.length > 0)
    yield* tx.journal(origin, "roles.updated", { guildId, taken: roleIds.join(", ") });
});

/** Stores the history of roles in any storage. @internal */
export const storedRoleHistory = recordStore(RoleHistoryStore, (records) => {
  const { read, write, removeBefore, mostWritten } = records;
  const size = Math.min(changesAtOnce, mostWritten);
  const beginSome = Effect.fnUntraced(function* (
    tx: Tx,
    { pid, guildId, chatId, changes, because, at }: BeginRoleChanges,
  ) {
    const place = { pid, guildId };
    const [newest] = yield* tx.list(roleChanges.newest, [pid, guildId], { limit: 1 });
    let number = newest?.number ?? 0;
    const begun: Array<KeptRoleChange> = [];
    for (const { roleId, change } of changes) {
      const earlier = yield* changesOfRole(tx, { ...place, chatId, roleId });
      const [before] = earlier;
      if (before?.outcome === "trying" && before.change === change) {
        yield* tx.remove(roleChanges, pid, guildId, before.number);
      }
      number++;
      const made = { ...place, number, chatId, roleId, change, at, because } as const;
      const begins = lasting({ ...made, outcome: "trying" });
      const kept = isByHand(begins, earlier) ? ended(begins) : begins;
      yield* tx.put(roleChanges, kept);
      yield* tx.remove(roleChanges, pid, guildId, number - mostRoleChanges);
      begun.push(kept);
    }
    return begun;
  });

  const endSome = Effect.fnUntraced(function* (tx: Tx, all: ReadonlyArray<EndedRoleChange>) {
    for (const { change, isMade } of all) {
      const kept = yield* changeOf(tx, change);
      if (kept === undefined) continue;
      if (!isMade) {
        yield* tx.remove(roleChanges, kept.pid, kept.guildId, kept.number);
        continue;
      }
      yield* tx.put(roleChanges, { ...kept, outcome: "made" });
      for (const before of yield* changesOfRole(tx, kept)) {
        if (before.number >= kept.number || before.last === null) continue;
        // What the rules gave stays as long as what they took, so that giving it back finds who had it by the rules.
        yield* tx.put(roleChanges, ended(before, before.change === "gave" ? kept.at : before.at));
      }
    }
  });

  return {
    begin: (all) =>
      Effect.map(
        Effect.forEach(Arr.chunksOf(all.changes, size), (changes) =>
          write("begin", roleChangesQueue(all), (tx) => beginSome(tx, { ...all, changes })),
        ),
        (parts) => parts.flat(),
      ),

    end: (all) =>
      Effect.forEach(
        Arr.chunksOf(all, size),
        (part) => write("end", roleChangesQueue(part[0].change), (tx) => endSome(tx, part)),
        { discard: true },
      ),

    page: ({ pid, guildId }, before, limit) =>
      read("page", (tx) =>
        tx.list(roleChanges.newest, [pid, guildId], { limit, ...(before !== null && { after: [before] }) }),
      ),

    givenTo: ({ pid, guildId }, chatId) =>
      read("givenTo", function* (tx) {
        const changes = yield* tx.list(roleChanges.byUser, [chatId, pid, guildId]);
        return new Set(changes.filter(({ last }) => last === "gave").map(({ roleId }) => roleId));
      }),

    count: ({ pid, guildId }, { roleId, change }, since) =>
      read("count", (tx) =>
        tx.count(roleChanges.lasting, [pid, guildId, change, roleId], { after: [since, 0] }),
      ),

    countByRole: ({ pid, guildId }, change, since) =>
      read("countByRole", function* (tx) {
        const counts: Array<RoleCount> = [];
        let after: ReadonlyArray<string | number> = ["", 0, 0];
        for (;;) {
          const prefix = [pid, guildId, change];
          const [next] = yield* tx.list(roleChanges.lasting, prefix, { after, limit: 1 });
          if (next === undefined) return counts;
          const { roleId } = next;
          const count = yield* tx.count(roleChanges.lasting, [...prefix, roleId], { after: [since, 0] });
          if (count > 0) counts.push({ roleId, count });
          after = [roleId, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
        }
      }),

    toReverse: ({ pid, guildId, roleId, change, at, number }, limit) =>
      read("toReverse", (tx) =>
        tx.list(roleChanges.lasting, [pid, guildId, change, roleId], { limit, after: [at, number] }),
      ),

    close: (change) =>
      write("close", roleChangesQueue(change), function* (tx) {
        const kept = yield* changeOf(tx, change);
        if (kept !== undefined) yield* tx.put(roleChanges, ended(kept));
      }),

    reverse: ({ roleIds, ...reversals }) =>
      Effect.forEach(
        // A write that takes roles ends all others that do, so it is one transaction.
        reversals.change === "took" ? Arr.chunksOf(roleIds, mostWritten) : [roleIds],
        (some, index) =>
          write("reverse", roleChangesQueue(reversals), (tx) =>
            beginReversals(tx, { ...reversals, roleIds: some }, index === 0),
          ),
        { discard: true },
      ),

    reversals: (place) =>
      read("reversals", (tx) => tx.list(roleReversals.all, place === null ? [] : [place.pid, place.guildId])),

    progress: (before, after) =>
      write("progress", roleChangesQueue(before), function* (tx) {
        if (!isSame(yield* tx.get(roleReversals, ...keyOf(before)), before)) return false;
        yield* tx.put(roleReversals, after);
        return true;
      }),

    stop: (reversal) =>
      write("stop", roleChangesQueue(reversal), function* (tx) {
        const stored = yield* tx.get(roleReversals, ...keyOf(reversal));
        if (isSame(stored, reversal)) yield* tx.remove(roleReversals, ...keyOf(reversal));
      }),

    forget: (at) => Effect.asVoid(removeBefore("forget", roleChanges.byEnd, [at + 1])),
  };
});
