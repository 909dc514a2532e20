import { ChatId, Pid } from "@accountlink/core";
import type { MemberChanges } from "@accountlink/core/roles";
import { expect, it } from "vitest";
import { userRolesSection } from "../links/user_roles.ts";
import { inEnglish } from "../test_english.ts";
import { changesHtml } from "./member_preview.ts";

const roles = [
  { id: "2", name: "Chief", assignable: false },
  { id: "1", name: "VIP", assignable: true },
];
const none: MemberChanges = {
  chatId: ChatId.make("100001"),
  add: [],
  remove: [],
  nickname: null,
  replaced: null,
  setNickname: { before: null, during: null, after: null },
  isInventoryPrivate: false,
  held: [],
  holding: [],
  withoutItem: [],
};

/** Says what a plan would change for a member. */
const textOf = (
  isInventoryPrivate: boolean,
  remove: ReadonlyArray<string>,
  { isLinked = true, holding = [] as ReadonlyArray<boolean> } = {},
) =>
  inEnglish(changesHtml({ roles }, { isLinked, changes: { ...none, isInventoryPrivate, remove, holding } }));

it("a private inventory is told, since its things count as missing", () => {
  expect(textOf(false, ["1"])).toBe("Would lose: VIP.");
  const told = "The inventory is private, so what is in it counts as missing.";
  expect(textOf(true, ["1"])).toBe(`Would lose: VIP. ${told}`);
  expect(textOf(true, [])).toBe(`Nothing would change. ${told}`);
});

it("rules give nothing without a link, unless one of them holds without it", () => {
  const of = (holds: boolean) => textOf(false, [], { isLinked: false, holding: [false, holds] });
  expect(of(false)).toBe("These rules give nothing without a link.");
  expect(of(true)).toBe("Nothing would change.");
});

it("the page of a user offers to apply what the bot may change, and says what it may not", () => {
  const scope = { kind: "global", pid: Pid.make(`pid_${"1".repeat(20)}`), account: "club" } as const;
  const shown = (add: ReadonlyArray<string>) => {
    const changes = { ...none, add };
    const rules = { roles, changes, details: { status: { problems: [] } }, mayApply: true };
    return inEnglish(userRolesSection({ scope }, none.chatId, null, true, rules));
  };
  expect(shown(["2"])).toContain("The bot may not change the role Chief.");
  expect(shown(["2"])).not.toContain("Apply now");
  expect(shown(["2", "1"])).toContain("Apply now");
});
