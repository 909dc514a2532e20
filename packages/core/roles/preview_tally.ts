/** Counts what a plan would change, member by member. */
import type { ChatId } from "../ids.ts";
import type { RoleMember } from "../platforms/chat_platform.ts";
import type { ComparedMember } from "./guild_comparison.ts";
import { isLeftAlone, type MemberChanges } from "./member_changes.ts";
import {
  type Counts,
  mostExamples,
  type PlanPreview,
  type PreviewExample,
  type PreviewName,
  shownOfRole,
} from "./plan_preview.ts";
import type { PlanSettings } from "./role_plan.ts";

/** The most examples of nicknames. */
const mostNames = 10;

const none: Counts = { linked: 0, unlinked: 0 };

const oneMore = (counts: Counts, kind: keyof Counts): Counts => ({ ...counts, [kind]: counts[kind] + 1 });

const kindOf = ({ stored: { gameId, wasLinked } }: ComparedMember): keyof Counts =>
  gameId !== null || wasLinked ? "linked" : "unlinked";

/** The roles that a compared member would gain or lose. @internal */
export const previewedRoles = (compared: ComparedMember) => {
  const { changes, stored } = compared;
  const kind = kindOf(compared);
  return [
    ...changes.add.map((roleId) => ({ roleId, change: "gave" as const, kind })),
    ...changes.remove.map((roleId) => ({
      roleId,
      change: "took" as const,
      kind: stored.given.includes(roleId) ? ("linked" as const) : kind,
    })),
  ];
};

interface RoleTally {
  /** How many examples change the role. */
  examples: number;
  held: number;
  gained: Counts;
  lost: Counts;
}

/** @internal */
export class PreviewTally {
  readonly #plan: PlanSettings;
  readonly #roles: ReadonlyMap<string, RoleTally>;
  #nicknames = none;
  #unknown = 0;
  #bypassed = 0;
  readonly #examples: Record<keyof Counts, Array<PreviewExample>> = { linked: [], unlinked: [] };
  readonly #names: Array<PreviewName> = [];
  #given: ReadonlyMap<string, ReadonlySet<ChatId>> = new Map();
  readonly #unnamed = new Map<string, number>();

  constructor(plan: PlanSettings) {
    this.#plan = plan;
    this.#roles = new Map(
      plan.rules.map(({ roleId }) => [roleId, { examples: 0, held: 0, gained: none, lost: none }]),
    );
  }

  /** @param given the roles that no rule names any more, each with the members who got it by the rules */
  countUnnamed(given: ReadonlyMap<string, ReadonlySet<ChatId>>): void {
    this.#given = given;
  }

  add(compared: ComparedMember): void {
    const { member, changes } = compared;
    const { gameId } = compared.stored;
    for (const role of this.#named(member.roleIds)) role.held++;
    if (!isLeftAlone(this.#plan, member)) this.#addUnnamed(member);
    else if (!member.isBot) this.#bypassed++;
    const kind = kindOf(compared);
    for (const { roleId, change, kind: of } of previewedRoles(compared))
      for (const role of this.#named([roleId])) {
        if (change === "gave") role.gained = oneMore(role.gained, of);
        else role.lost = oneMore(role.lost, of);
      }
    if (changes.held.length > 0) this.#unknown++;
    if (changes.nickname !== null)
      this.#nicknames = oneMore(this.#nicknames, gameId === null ? "unlinked" : "linked");
    this.#addExample(this.#examples[kind], member, changes);
  }

  get counts(): Pick<
    PlanPreview,
    "roles" | "unnamed" | "nicknames" | "unknown" | "bypassed" | "examples" | "names"
  > {
    return {
      roles: Array.from(this.#roles, ([roleId, { examples: _, ...role }]) => ({ roleId, ...role })),
      unnamed: Array.from(this.#unnamed, ([roleId, count]) => ({ roleId, count })),
      nicknames: this.#nicknames,
      unknown: this.#unknown,
      bypassed: this.#bypassed,
      examples: { linked: [...this.#examples.linked], unlinked: [...this.#examples.unlinked] },
      names: [...this.#names],
    };
  }

  #named(roleIds: ReadonlyArray<string>): ReadonlyArray<RoleTally> {
    return roleIds.flatMap((roleId) => this.#roles.get(roleId) ?? []);
  }

  #addUnnamed({ chatId, roleIds }: RoleMember): void {
    for (const roleId of roleIds)
      if (this.#given.get(roleId)?.has(chatId))
        this.#unnamed.set(roleId, (this.#unnamed.get(roleId) ?? 0) + 1);
  }

  #addExample(
    examples: Array<PreviewExample>,
    { chatId, nickname: before }: RoleMember,
    { add, remove, nickname }: MemberChanges,
  ): void {
    if (nickname && this.#names.length < mostNames) this.#names.push({ chatId, before, after: nickname });
    const isChanged = add.length + remove.length > 0 || nickname !== null;
    const changed = this.#named([...add, ...remove]);
    // The first members may all change other roles.
    const isRare = changed.some((role) => role.examples < shownOfRole);
    if (!isChanged || (examples.length >= mostExamples && !isRare)) return;
    examples.push({ chatId, add, remove, nickname });
    for (const role of changed) role.examples++;
  }
}
