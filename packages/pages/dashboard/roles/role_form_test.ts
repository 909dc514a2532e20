import { noPlan } from "@accountlink/core/roles";
import { expect, test } from "vitest";
import { changedRules, focusAfter, formOfPlan, ranksWithoutRole, rulesOfRanks } from "./role_form.ts";

const composed = "Déjà";
const decomposed = composed.normalize("NFD");

test("a rank and a role have the same name, however their accents are written", () => {
  const group = { id: "9", name: "Makers", memberCount: null, ranks: [{ rank: 1, name: `${decomposed} ` }] };
  const role = { id: "7", name: composed.toUpperCase(), assignable: true };
  expect(decomposed).not.toBe(composed);
  expect(rulesOfRanks(group, [role], []).map(({ roleId }) => roleId)).toEqual(["7"]);
  expect(ranksWithoutRole(group, [role])).toEqual([]);
  const other = { ...role, name: decomposed };
  expect(ranksWithoutRole({ ...group, ranks: [{ rank: 1, name: composed }] }, [other])).toEqual([]);
});

test("rank 0, whose users are not in the group, gets no rule, which would take the role from everybody", () => {
  const group = { id: "9", name: "Makers", memberCount: null, ranks: [{ rank: 0, name: "Guest" }] };
  expect(rulesOfRanks(group, [{ id: "7", name: "Guest", assignable: true }], [])).toEqual([]);
});

test("the focus stays with the rule that a button moves, and goes to what is beside a removed one", () => {
  const [empty] = formOfPlan(noPlan).rules;
  if (empty === undefined) throw new Error("A new plan has no rule");
  const rules = [empty, { ...empty, conditions: [...empty.conditions, ...empty.conditions] }, empty];
  const after = (button: string) => focusAfter(changedRules(rules, button) ?? [], button);
  expect(["add", "up-3", "up-2", "down-1", "down-2"].map(after)).toEqual([
    "when-4",
    "up-2",
    "when-1",
    "down-2",
    "when-3",
  ]);
  expect(["condition-2", "drop-2-2", "remove-1", "remove-3"].map(after)).toEqual([
    "when-2-3",
    "when-2",
    "when-1",
    "when-2",
  ]);
});
