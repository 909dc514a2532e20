/** What a plan would change for all members of a guild: counted, with examples, and without changing anything. */
import { Schema } from "effect";
import { ChatId } from "../ids.ts";
import type { RoleMember } from "../platforms/chat_platform.ts";
import { isLeftAlone, type MemberChanges } from "./member_changes.ts";
import { changedSettings, PlanSettings } from "./role_plan.ts";

/** The most examples of changed members, and of nicknames. */
const [mostExamples, mostNames] = [20, 10];

/** A count of members with a link, and of members without one. */
const Counts = Schema.Struct({ linked: Schema.Int, unlinked: Schema.Int });
type Counts = typeof Counts.Type;

const Example = Schema.Struct({
  chatId: ChatId,
  add: Schema.Array(Schema.String),
  remove: Schema.Array(Schema.String),
  nickname: Schema.NullOr(Schema.String),
});
type Example = typeof Example.Type;

const Name = Schema.Struct({ chatId: ChatId, before: Schema.NullOr(Schema.String), after: Schema.String });

/**
 * A preview of a plan for all members. The members without a link are counted as if the plan took its roles from them,
 * so that owners can choose. @internal
 */
export const PlanPreview = Schema.Struct({
  id: Schema.String,
  settings: PlanSettings,
  state: Schema.Literals(["running", "done", "failed"]),
  done: Schema.Int,
  /** How many members the guild has; 0 before the platform has told. */
  total: Schema.Int,
  /** The members who have each role of the rules, and who would gain and lose it. */
  roles: Schema.Array(
    Schema.Struct({ roleId: Schema.String, held: Schema.Int, gained: Counts, lost: Counts }),
  ),
  nicknames: Counts,
  /** Members for whom the game platform did not answer, so that they would keep some roles as they are. */
  unknown: Schema.Int,
  /** How many members the plan leaves alone for their role. Bots do not count. */
  bypassed: Schema.Int,
  examples: Schema.Struct({ linked: Schema.Array(Example), unlinked: Schema.Array(Example) }),
  /** How the nicknames of some linked members would change. */
  names: Schema.Array(Name),
});
export type PlanPreview = typeof PlanPreview.Type;

/** A preview as it is stored. */
export interface StoredPreview {
  readonly preview: PlanPreview;
  /** When the progress was stored. */
  readonly savedAt: number;
  /** When the plan was turned on with the settings of the preview; null if it was not. */
  readonly confirmedAt: number | null;
}

/** Returns whether two settings differ in nothing but what a preview leaves to choose. @internal */
export const arePreviewedAs = (one: PlanSettings, other: PlanSettings): boolean =>
  changedSettings(one, other).every((name) => name === "state" || name === "unlinked");

/** What a preview says if members without a link lose what the plan gives, or keep what they have. @internal */
export const shownPreview = (preview: PlanPreview, unlinked = preview.settings.unlinked) => {
  const sum = (counts: Counts) => counts.linked + (unlinked === "keep" ? 0 : counts.unlinked);
  const { state, done, total, roles, nicknames, examples } = preview;
  return {
    state,
    done,
    total,
    roles: roles.map(({ roleId, held, gained, lost }) => ({
      roleId,
      held,
      gained: sum(gained),
      lost: sum(lost),
    })),
    nicknames: sum(nicknames),
    examples: [...examples.linked, ...(unlinked === "keep" ? [] : examples.unlinked)].slice(0, mostExamples),
  };
};

/** Returns whether so many members would lose a role that a sweep asks first. @internal */
export const wouldManyLose = ({ held, lost }: { readonly held: number; readonly lost: number }): boolean =>
  lost >= 20 && lost * 2 > held;

/** Counts what a plan would change, member by member. @internal */
export class PreviewTally {
  readonly #plan: PlanSettings;
  readonly #roles: Map<string, { held: number; gained: Counts; lost: Counts }>;
  #nicknames: Counts = none;
  #unknown = 0;
  #bypassed = 0;
  readonly #examples: { linked: Array<Example>; unlinked: Array<Example> } = { linked: [], unlinked: [] };
  readonly #names: Array<typeof Name.Type> = [];

  constructor(plan: PlanSettings) {
    this.#plan = plan;
    this.#roles = new Map(
      plan.rules.map(({ roleId }) => [roleId, { held: 0, gained: none, lost: none }] as const),
    );
  }

  /** @param changes null if it is unknown what would change */
  add(member: RoleMember, isLinked: boolean, changes: MemberChanges | null): void {
    const { chatId, roleIds, nickname: before } = member;
    for (const roleId of roleIds) {
      const role = this.#roles.get(roleId);
      if (role !== undefined) role.held++;
    }
    if (!member.isBot && isLeftAlone(this.#plan, member, true)) this.#bypassed++;
    if (changes === null) return;
    if (changes.held.length > 0) this.#unknown++;
    const { add, remove, nickname } = changes;
    const kind = isLinked ? "linked" : "unlinked";
    const more = (counts: Counts): Counts => ({ ...counts, [kind]: counts[kind] + 1 });
    for (const roleId of add) {
      const role = this.#roles.get(roleId);
      if (role !== undefined) role.gained = more(role.gained);
    }
    for (const roleId of remove) {
      const role = this.#roles.get(roleId);
      if (role !== undefined) role.lost = more(role.lost);
    }
    if (nickname !== null) this.#nicknames = more(this.#nicknames);
    if (nickname && this.#names.length < mostNames) this.#names.push({ chatId, before, after: nickname });
    const isChanged = add.length + remove.length > 0 || nickname !== null;
    if (isChanged && this.#examples[kind].length < mostExamples)
      this.#examples[kind].push({ chatId, add, remove, nickname });
  }

  get counts(): Pick<PlanPreview, "roles" | "nicknames" | "unknown" | "bypassed" | "examples" | "names"> {
    return {
      roles: Array.from(this.#roles, ([roleId, role]) => ({ roleId, ...role })),
      nicknames: this.#nicknames,
      unknown: this.#unknown,
      bypassed: this.#bypassed,
      examples: { linked: [...this.#examples.linked], unlinked: [...this.#examples.unlinked] },
      names: [...this.#names],
    };
  }
}

const none: Counts = { linked: 0, unlinked: 0 };
