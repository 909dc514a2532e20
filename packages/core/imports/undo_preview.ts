/** What the undo of an import would do: how many links it takes back, and who loses roles by it. */
import { Effect, Option, Stream } from "effect";
import type { ChatId, GuildId } from "../ids.ts";
import { makeGivenMembers } from "../roles/given_members.ts";
import { givesSomething } from "../roles/role_plan.ts";
import { RolePlanStore } from "../roles/role_plan_store.ts";
import { bounds, Turns, turnOwner } from "../turns/mod.ts";
import { ImportStore, type UndoableImport, undoableFor } from "./import_store.ts";

/** How many links of an import one read takes. */
const pageSize = 1_000;

interface UndoPreview {
  readonly removed: number;
  readonly restored: number;
  /** The number of the other links, which stay as they are. */
  readonly kept: number;
  /** Who would lose roles that the rules have given them since the import, by guild. Some may have left it. */
  readonly lost: ReadonlyArray<{ readonly guildId: GuildId; readonly members: ReadonlyArray<ChatId> }>;
}

const pagesOf = ({ undoablePage }: Pick<ImportStore["Service"], "undoablePage">, id: string) =>
  Stream.paginate(null as ChatId | null, (after) =>
    Effect.map(undoablePage(id, after, pageSize), (page) => [[page], Option.fromNullOr(page.next)] as const),
  );

/** Whether an undo would take back a link of an import, or give it to a later one: not all were changed since. */
export const isLeftToUndo = (imports: ImportStore["Service"], id: string) =>
  Effect.map(
    Stream.runHead(Stream.filter(pagesOf(imports, id), ({ links, given }) => links.length + given > 0)),
    Option.isSome,
  );

export const makeUndoPreview = Effect.gen(function* () {
  const imports = yield* ImportStore;
  const plans = yield* RolePlanStore;
  const { givenMembers } = yield* makeGivenMembers;
  const turns = new Turns({ resource: "import_files", places: 1, longestRest: bounds.workedAtOnce });

  /** Reads a page, of which there may be hundreds, in the account's turn. */
  const inTurn = <A, E>(page: Effect.Effect<A, E>) =>
    Effect.flatMap(turnOwner, (owner) => turns.step(owner, page));
  const undoablePage: ImportStore["Service"]["undoablePage"] = (...page) =>
    inTurn(imports.undoablePage(...page));

  return Effect.fnUntraced(function* ({
    id,
    pid,
    importedAt,
  }: Pick<UndoableImport, "id" | "pid" | "importedAt">) {
    // The import may have the links of an undone one of the day before it.
    const since = importedAt - undoableFor;
    const guilds: Array<{
      readonly guildId: GuildId;
      readonly given: Set<ChatId>;
      readonly members: Array<ChatId>;
    }> = [];
    for (const plan of yield* plans.list(pid)) {
      if (plan.state !== "on" || !givesSomething(plan)) continue;
      const { guildId, rules } = plan;
      const members = new Set<ChatId>();
      for (const roleId of new Set(rules.map((rule) => rule.roleId)))
        for (const chatId of yield* givenMembers({ pid, guildId }, roleId, since, inTurn))
          members.add(chatId);
      guilds.push({ guildId, given: members, members: [] });
    }
    let [removed, restored, kept] = [0, 0, 0];
    yield* Stream.runForEach(pagesOf({ undoablePage }, id), (page) =>
      Effect.sync(() => {
        const gone = page.links.filter(({ isRemoved }) => isRemoved);
        removed += gone.length;
        restored += page.links.length - gone.length;
        kept += page.kept;
        for (const { given, members } of guilds)
          for (const { chatId } of gone) if (given.has(chatId)) members.push(chatId);
      }),
    );
    const lost = guilds.filter(({ members }) => members.length > 0);
    return { removed, restored, kept, lost } satisfies UndoPreview;
  });
});
