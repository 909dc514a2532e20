/** What the undo of an import would do: how many links it takes back, and who loses roles by it. */
import { Effect, Option, Stream } from "effect";
import type { ChatId, GuildId } from "../ids.ts";
import { type KeptRoleChange, RoleHistoryStore } from "../roles/role_history_store.ts";
import { givesSomething } from "../roles/role_plan.ts";
import { type PlanPlace, RolePlanStore } from "../roles/role_plan_store.ts";
import { ImportStore, type UndoableImport } from "./import_store.ts";

/** How many links of an import, and changes of a role, one request reads. */
const pageSize = 1_000;

/** The most links that are counted. */
const mostLinks = 100_000;

interface UndoPreview {
  readonly removed: number;
  readonly restored: number;
  /** How many members would lose roles that the rules have given them since the import, by guild. */
  readonly lost: ReadonlyArray<{ readonly guildId: GuildId; readonly members: number }>;
}

/** Emits the links that an undo of an import would take back. */
const undoableLinks = ({ undoablePage }: ImportStore["Service"], id: string) =>
  Stream.paginate(null as ChatId | null, (after) =>
    Effect.map(
      undoablePage(id, after, pageSize),
      ({ links, next }) => [links, Option.fromNullOr(next)] as const,
    ),
  );

/** Whether an undo would take back a link of an import: not all were changed since. */
export const isLeftToUndo = (imports: ImportStore["Service"], id: string) =>
  Effect.map(Stream.runHead(undoableLinks(imports, id)), Option.isSome);

export const makeUndoPreview = Effect.gen(function* () {
  const imports = yield* ImportStore;
  const plans = yield* RolePlanStore;
  const history = yield* RoleHistoryStore;

  /** Returns the members who got a role from the rules since a time, and still have it. */
  const given = Effect.fnUntraced(function* (place: PlanPlace, roleId: string, since: number) {
    const members: Array<ChatId> = [];
    let from = { at: since, number: 0 };
    let page: ReadonlyArray<KeptRoleChange>;
    do {
      page = yield* history.toReverse({ ...place, roleId, change: "gave", ...from }, pageSize);
      members.push(...page.map(({ chatId }) => chatId));
      from = page.at(-1) ?? from;
    } while (page.length === pageSize);
    return members;
  });

  return Effect.fnUntraced(function* ({
    id,
    pid,
    importedAt,
  }: Pick<UndoableImport, "id" | "pid" | "importedAt">) {
    const removed = new Set<ChatId>();
    let restored = 0;
    yield* Stream.runForEach(Stream.take(undoableLinks(imports, id), mostLinks), ({ chatId, isRemoved }) =>
      Effect.sync(() => (isRemoved ? removed.add(chatId) : restored++)),
    );
    const lost: Array<UndoPreview["lost"][number]> = [];
    for (const plan of yield* plans.list(pid)) {
      if (removed.size === 0 || plan.state !== "on" || !givesSomething(plan)) continue;
      const { guildId, rules } = plan;
      const members = new Set<ChatId>();
      for (const roleId of new Set(rules.map((rule) => rule.roleId)))
        for (const chatId of yield* given({ pid, guildId }, roleId, importedAt))
          if (removed.has(chatId)) members.add(chatId);
      if (members.size > 0) lost.push({ guildId, members: members.size });
    }
    return { removed: removed.size, restored, lost } satisfies UndoPreview;
  });
});
