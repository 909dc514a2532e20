/** What a plan would change for all members of a guild: counted, with examples, and without changing anything. */
import { Schema } from "effect";
import { ChatId } from "../ids.ts";
import { changedSettings, PlanSettings } from "./role_plan.ts";

/** The most examples of changed members. @internal */
export const mostExamples = 20;

/** The most members that are named for what happens with a role. @internal */
export const shownOfRole = 3;

/** A count of members who are or were linked, and of members who were never linked. */
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
 * A preview of a plan for all members. The members who were never linked are counted as if the plan took its roles from
 * them, so that owners can choose. @internal
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
  /** How many members have a role by the rules that no rule names any more. Earlier releases stored none. */
  unnamed: Schema.optional(Schema.Array(Schema.Struct({ roleId: Schema.String, count: Schema.Int }))),
  /** The linked members who would get another nickname, and the members without a link who would lose theirs. */
  nicknames: Counts,
  /** Members with unknown changes, because the game platform did not answer. */
  unknown: Schema.Int,
  /** How many members the plan leaves alone for their role. Bots do not count. */
  bypassed: Schema.Int,
  examples: Schema.Struct({ linked: Schema.Array(Example), unlinked: Schema.Array(Example) }),
  /** How the nicknames of some linked members would change. */
  names: Schema.Array(PreviewName),
});
export type PlanPreview = typeof PlanPreview.Type;

/** Returns whether two settings differ in nothing but what a preview leaves to choose. @internal */
export const arePreviewedAs = (one: PlanSettings, other: PlanSettings): boolean =>
  changedSettings(one, other).every((name) => chosenLater.has(name));

/** Returns whether a preview with some settings shows all losses of other settings that it was made for. @internal */
export const areLossesShown = (previewed: PlanSettings, { unlinked }: PlanSettings): boolean =>
  unlinked === "keep" || previewed.unlinked === "remove";

const chosenLater: ReadonlySet<keyof PlanSettings> = new Set(["state", "unlinked"]);

const sum = ({ linked, unlinked }: Counts): number => linked + unlinked;

/** What a preview says of roles if members who were never linked lose them, or keep those that they have. @internal */
export const shownRoles = (roles: PlanPreview["roles"], unlinked: PlanSettings["unlinked"]) =>
  roles.map(({ roleId, held, gained, lost }) => ({
    roleId,
    held,
    gained: sum(gained),
    lost: unlinked === "keep" ? lost.linked : sum(lost),
  }));

/** What a preview says by the choice for members who were never linked, as of `shownRoles`. @internal */
export const shownPreview = (preview: PlanPreview, unlinked = preview.settings.unlinked) => {
  const isKept = unlinked === "keep";
  const { state, done, total, unknown, roles, unnamed = [], nicknames, examples } = preview;
  const kept = examples.unlinked.map((example) => ({ ...example, remove: [] }));
  return {
    state,
    done,
    total,
    unknown,
    roles: shownRoles(roles, unlinked),
    unnamed,
    nicknames: sum(nicknames),
    examples: [
      ...examples.linked,
      ...(isKept ? kept.filter(({ add }) => add.length > 0) : examples.unlinked),
    ].slice(0, mostExamples),
  };
};

/** Returns how many single changes of roles and nicknames a plan would make. @internal */
export const changesIn = ({
  roles,
  nicknames,
}: Pick<ReturnType<typeof shownPreview>, "roles" | "nicknames">): number =>
  roles.reduce((all, { gained, lost }) => all + gained + lost, nicknames);

/** Returns whether so much is unknown that the owner has to be told before the plan is turned on. @internal */
export const isLargelyUnknown = ({ unknown, done }: Pick<PlanPreview, "unknown" | "done">): boolean =>
  unknown * 10 >= done && unknown > 0;

/** Returns whether so many members would lose a role that a sweep asks first. @internal */
export const wouldManyLose = ({ held, lost }: { readonly held: number; readonly lost: number }): boolean =>
  lost >= 20 && lost * 2 > held;
