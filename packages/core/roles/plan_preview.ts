/** What a plan would change for all members of a guild: counted, with examples, and without changing anything. */
import { Schema } from "effect";
import { ChatId } from "../ids.ts";
import { changedSettings, PlanSettings } from "./role_plan.ts";

/** The most examples of changed members. @internal */
export const mostExamples = 20;

/** A count of members with a link, and of members without one. */
const Counts = Schema.Struct({ linked: Schema.Int, unlinked: Schema.Int });
export type Counts = typeof Counts.Type;

const Example = Schema.Struct({
  chatId: ChatId,
  add: Schema.Array(Schema.String),
  remove: Schema.Array(Schema.String),
  nickname: Schema.NullOr(Schema.String),
});
export type PreviewExample = typeof Example.Type;

const PreviewName = Schema.Struct({
  chatId: ChatId,
  before: Schema.NullOr(Schema.String),
  after: Schema.String,
});
export type PreviewName = typeof PreviewName.Type;

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
  /** Members that would keep some roles because the game platform did not answer. */
  unknown: Schema.Int,
  /** How many members the plan leaves alone for their role. Bots do not count. */
  bypassed: Schema.Int,
  examples: Schema.Struct({ linked: Schema.Array(Example), unlinked: Schema.Array(Example) }),
  /** How the nicknames of some linked members would change. */
  names: Schema.Array(PreviewName),
});
export type PlanPreview = typeof PlanPreview.Type;

/** A preview in the store. */
export interface StoredPreview {
  readonly preview: PlanPreview;
  /** When the progress was stored. */
  readonly savedAt: number;
  /** When the plan was turned on with the settings of the preview; null if it was not. */
  readonly confirmedAt: number | null;
}

/** Returns whether two settings differ in nothing but what a preview leaves to choose. @internal */
export const arePreviewedAs = (one: PlanSettings, other: PlanSettings): boolean =>
  changedSettings(one, other).every((name) => chosenLater.has(name));

const chosenLater: ReadonlySet<keyof PlanSettings> = new Set(["state", "unlinked", "logChannelId"]);

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
