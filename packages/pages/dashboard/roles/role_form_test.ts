import { expect, test } from "vitest";
import { ranksWithoutRole, rulesOfRanks } from "./role_form.ts";

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
