import { ChatId } from "@accountlink/core";
import { type Pause, pauseBy, pauseFor, placeOrder } from "@accountlink/core/communities";
import { logIdOf } from "@accountlink/core/guild_log";
import {
  BypassRoles,
  changedSettings,
  confirmPreview,
  type HeldPlan,
  isChangedSince,
  logProblems,
  noPlan,
  noteTurn,
  type PlanPlace,
  type PlanSettings,
  type PlanState,
  type PlanWrite,
  planEntryDetails,
  problemOrder,
  type RolePlan,
  RolePlanStore,
  RoleRule,
  type Sweep,
  shownProblems,
} from "@accountlink/core/roles";
import { assertStorable } from "@accountlink/core/storable_text";
import { closeCommunity, communityQueue, turnLinking } from "@accountlink/core/storage";
import { Array as Arr, Effect, Schema } from "effect";
import { insertEntry } from "../journal/records.ts";
import { communityFields, withCommunityScope } from "../keys/accounts.ts";
import { withTx } from "../records.ts";
import { leasesOn } from "../statements/leases.ts";
import {
  columnReader,
  literalSql,
  literalsOf,
  OptionalInt,
  OptionalText,
  tableOf,
  type ValuesOf,
} from "../statements/row.ts";
import { storeLayer } from "../statements/store_operation.ts";
import { ChangedDays } from "./changed_days.ts";
import { deleteMembers, isPlan } from "./is_plan.ts";
import { countReplaced, nicknameOperations } from "./replaced_nicknames.ts";
import { memberOperations, sharedProblems, sweepStart } from "./role_members.ts";

export const layer = storeLayer(RolePlanStore)((parts) => {
  const { sql, operation, transaction, bulkTransaction, forUpdateOf, onlyOne, wrote } = parts;

  const plans = sql`SELECT ${planColumns} FROM ${planTables}`;
  const isPlace = ({ pid, guildId }: PlanPlace) =>
    sql`role_plans.pid = ${pid} AND role_plans.guild_id = ${guildId}`;
  const isOn = sql`role_plans.state = 'on' AND accounts.status = 'active'`;
  const ofPlan = sql`pid = role_plans.pid AND guild_id = role_plans.guild_id`;

  const findForUpdate = (place: PlanPlace) =>
    readPlans(sql`${plans} WHERE ${isPlace(place)} ${forUpdateOf("role_plans")}`);

  // `guild_id` can be the key, because a guild has at most one plan with the state 'on'.
  const lease = leasesOn(sql, {
    table: "role_plans",
    key: "guild_id",
    nodes: "role_plan_nodes",
    isNeeded: sql`state = 'on'`,
  });

  const { operations, setPlanProblems } = memberOperations(parts);

  const lockCommunity = (place: PlanPlace) => sql`SELECT locks FROM ${onlyOne(communityQueue(place))}`;

  const turn = (write: PlanWrite, state: PlanState, pause: Pause) =>
    Effect.andThen(
      lockCommunity(write),
      withTx(sql, (tx) => turnLinking(tx, write, state, pause), true),
    );

  const removeMembers = operation("remove", (write: PlanWrite) => deleteMembers(sql, write));

  const removeRest = bulkTransaction("remove", function* (write: PlanWrite) {
    const [stored = noPlan] = yield* findForUpdate(write);
    yield* lockCommunity(write);
    const isCommunity = yield* withTx(sql, (tx) => closeCommunity(tx, write), true);
    yield* sql`DELETE FROM guild_log_entries WHERE log_id = ${logIdOf(write)}`;
    if (stored === noPlan && !isCommunity) return false;
    for (const table of ["role_members", "role_problems", "role_previews", "role_plans"]) {
      yield* sql`DELETE FROM ${sql(table)} WHERE ${isPlan(sql, write)}`;
    }
    yield* withTx(sql, (tx) => noteTurn(tx, write, "removed"), true);
    yield* insertEntry(sql, { ...write, action: "roles.deleted", details: planEntryDetails(write, stored) });
    return true;
  });

  return {
    ...operations,
    ...nicknameOperations(parts),

    find: operation("find", (place) =>
      Effect.map(readPlans(sql`${plans} WHERE ${isPlace(place)}`), Arr.head),
    ),

    list: operation("list", (pid) =>
      readPlans(sql`${plans} WHERE role_plans.pid = ${pid} ORDER BY role_plans.guild_id`),
    ),

    put: transaction("put", function* (write) {
      const { pid, guildId, settings, position, at } = write;
      assertStorable([settings.nickname ?? ""]);
      yield* sql`SELECT locks FROM ${onlyOne(`role plans of guild ${guildId}`)}`;
      const others = yield* sql`
        SELECT pid FROM role_plans WHERE guild_id = ${guildId} AND pid <> ${pid} AND state = 'on'`;
      const [stored] = yield* findForUpdate(write);
      const before = stored ?? noPlan;
      if (isChangedSince(write.edited, before)) return "plan_changed";
      if (settings.state === "on" && others.length > 0) return "guild_has_plan";
      yield* withTx(sql, (tx) => confirmPreview(tx, write), true);
      const changed = changedSettings(before, settings);
      if (changed.length === 0) return null;
      const values = { ...settingColumns(settings), ...(before.state === "on" ? {} : { position }) };
      if (stored === undefined) {
        const progress = { position, revision: 0, sweep_done: 0 };
        yield* sql`INSERT INTO role_plans ${sql.insert({ pid, guild_id: guildId, ...values, ...progress })}`;
      } else yield* sql`UPDATE role_plans SET ${sql.update(values)} WHERE ${isPlan(sql, write)}`;
      yield* turn(write, settings.state, pauseBy(write.actor, at));
      if (before.state !== settings.state) {
        yield* withTx(sql, (tx) => noteTurn(tx, write, settings.state), true);
      }
      const details = planEntryDetails(write, before, settings);
      yield* insertEntry(sql, { ...write, action: "roles.updated", details });
      const sweep =
        settings.state === "on" ? sweepStart(sql, 0, at) : sql`revision = revision + 1, sweep_total = NULL`;
      yield* sql`UPDATE role_plans SET ${sweep} WHERE ${isPlan(sql, write)}`;
      yield* setPlanProblems(write, []);
      return null;
    }),

    pause: transaction("pause", function* (write) {
      const [stored] = yield* findForUpdate(write);
      if (stored?.state !== "on") return false;
      yield* sql`
        UPDATE role_plans
        SET state = 'paused', revision = revision + 1, sweep_total = NULL WHERE ${isPlan(sql, write)}`;
      yield* turn(write, "paused", pauseFor(write.why, write.at));
      yield* withTx(sql, (tx) => noteTurn(tx, write, "paused", write.why), true);
      yield* setPlanProblems(write, write.problems ?? []);
      const details = planEntryDetails(write, stored, { ...stored, state: "paused" });
      yield* insertEntry(sql, { ...write, action: "roles.updated", details });
      return true;
    }),

    remove: (write) => Effect.andThen(removeMembers(write), removeRest(write)),

    startSweep: operation("startSweep", (place, at) =>
      wrote(
        sql`UPDATE role_plans SET ${sweepStart(sql, 0, at)} WHERE ${isPlan(sql, place)} AND state = 'on'`,
      ),
    ),

    changedDays: operation("changedDays", (place) =>
      Effect.map(
        readChangedDays(sql`SELECT changed_days FROM role_plans WHERE ${isPlan(sql, place)}`),
        ([days]) => days ?? [],
      ),
    ),

    putNicknamesBack: transaction("putNicknamesBack", function* (write) {
      const { guildId, at } = write;
      const begin = sql`
        UPDATE role_plans SET putting_back_since = ${at}
        WHERE ${isPlan(sql, write)} AND putting_back_since IS NULL`;
      if (!(yield* wrote(begin))) return false;
      const details = { guildId, count: yield* countReplaced(sql, write) };
      yield* insertEntry(sql, { ...write, action: "nicknames.put_back", details });
      return true;
    }),

    puttingBack: operation("puttingBack", () =>
      // SQLite would read all plans to sort by their key.
      Effect.map(
        readPlans(sql`
          ${plans} JOIN accounts ON accounts.name = scopes.account
          WHERE putting_back_since IS NOT NULL AND accounts.status = 'active'`),
        (found) => found.toSorted((one, other) => placeOrder(placeOf(one), placeOf(other))),
      ),
    ),

    endPuttingBack: operation("endPuttingBack", function* (place) {
      yield* sql`
        UPDATE role_plans SET putting_back_since = NULL
        WHERE ${isPlan(sql, place)} AND putting_back_since IS NOT NULL`;
    }),

    status: operation("status", function* (place) {
      const [found] = yield* readStatuses(sql`
        SELECT ${sweepColumns},
          (SELECT COUNT(*) FROM role_members WHERE ${isPlan(sql, place)} AND due_at IS NOT NULL) AS pending
        FROM role_plans WHERE ${isPlan(sql, place)}`);
      const problems = yield* sharedProblems(sql, place);
      const closed = yield* readClosed(sql`SELECT closed_at FROM guild_logs WHERE ${isPlan(sql, place)}`);
      const all = [...logProblems(closed[0] ?? null), ...problems].toSorted(problemOrder);
      const status = found ?? { pending: 0, sweptAt: null, sweep: null };
      return { ...status, problems: all.slice(0, shownProblems) };
    }),

    hold: operation("hold", function* (write) {
      assertStorable([write.node]);
      if (!(yield* lease(write))) return [];
      return yield* readHeldPlans(sql`
        SELECT ${planColumns}, ${sweepColumns}, role_plans.position, role_plans.revision,
          (SELECT MIN(due_at) FROM role_members WHERE ${ofPlan} AND due_at IS NOT NULL) AS next_due_at,
          (SELECT MIN(since) FROM role_members WHERE ${ofPlan} AND since IS NOT NULL) AS oldest_since
        FROM ${planTables} JOIN accounts ON accounts.name = scopes.account
        WHERE role_plans.holder = ${write.node} AND ${isOn}
        ORDER BY role_plans.pid, role_plans.guild_id`);
    }),

    firstNode: operation("firstNode", (prefix, at) => {
      const nodes = sql`
        SELECT id FROM role_plan_nodes
        WHERE lives_until > ${at} AND substr(id, 1, ${prefix.length}) = ${prefix} ORDER BY id LIMIT 1`;
      return Effect.map(readNodes(nodes), Arr.head);
    }),
  };
});

const planFields = {
  ...communityFields,
  rules: Schema.fromJsonString(Schema.Array(RoleRule)),
  nickname: OptionalText,
  nicknameGroupId: OptionalText,
  bypassRoleIds: Schema.fromJsonString(BypassRoles),
  nicknameBypassRoleIds: Schema.fromJsonString(BypassRoles),
  unlinked: literalsOf<PlanSettings["unlinked"]>({ remove: true, keep: true }),
  state: literalsOf<PlanState>({ on: true, paused: true }),
};

// Nodes of releases that know one bypass role store it in `bypass_role_id` alone.
const placeOf = ({ scope, guildId }: RolePlan) => ({ pid: scope.pid, guildId });

const planColumns = literalSql(`
  role_plans.pid, scopes.account, scopes.guild_id AS scope_guild, role_plans.guild_id, role_plans.rules,
  role_plans.nickname, role_plans.nickname_group_id, role_plans.unlinked, role_plans.state,
  COALESCE(role_plans.bypass_role_ids, '["' || role_plans.bypass_role_id || '"]', '[]') AS bypass_role_ids,
  COALESCE(role_plans.nickname_bypass_role_ids, '[]') AS nickname_bypass_role_ids`);

const planTables = literalSql("role_plans JOIN scopes ON scopes.pid = role_plans.pid");

const settingColumns = (settings: PlanSettings) => ({
  rules: JSON.stringify(settings.rules),
  nickname: settings.nickname,
  nickname_group_id: settings.nicknameGroupId,
  bypass_role_id: settings.bypassRoleIds[0] ?? null,
  bypass_role_ids: JSON.stringify(settings.bypassRoleIds),
  nickname_bypass_role_ids: JSON.stringify(settings.nicknameBypassRoleIds),
  unlinked: settings.unlinked,
  state: settings.state,
});

const readPlans = tableOf("role_plans", planFields).reader((plan): RolePlan => withCommunityScope(plan));

const sweepFields = {
  sweptAt: OptionalInt,
  sweepAfter: Schema.NullOr(ChatId),
  sweepDone: Schema.Int,
  sweepTotal: OptionalInt,
};

const { columns: sweepColumns } = tableOf("role_plans", sweepFields);

const withSweep = <Values extends ValuesOf<typeof sweepFields>>({
  sweepAfter: after,
  sweepDone: done,
  sweepTotal: total,
  ...values
}: Values) => ({ ...values, sweep: total === null ? null : ({ after, done, total } satisfies Sweep) });

const readHeldPlans = tableOf("role_plans", {
  ...planFields,
  ...sweepFields,
  position: Schema.Int,
  revision: Schema.Int,
  nextDueAt: OptionalInt,
  oldestSince: OptionalInt,
}).reader((plan): HeldPlan => withSweep(withCommunityScope(plan)));

const readStatuses = tableOf("role_plans", { ...sweepFields, pending: Schema.Int }).reader((plan) =>
  withSweep(plan),
);

const readClosed = columnReader("guild_logs", "closed_at", OptionalInt);

const readChangedDays = columnReader("role_plans", "changed_days", ChangedDays);

const readNodes = columnReader("role_plan_nodes", "id", Schema.String);
