import { expect, it } from "vitest";
import { inEnglish } from "../test_english.ts";
import type { TypedRule } from "./role_form.ts";
import { type RuleView, ruleFieldset } from "./rule_fieldset.ts";

const view: RuleView = {
  roles: [{ id: "1", name: "VIP", assignable: true }],
  things: new Map(),
  kinds: ["linked", "group"],
  itemKinds: [],
};

const fieldsOf = (nickname: string, kinds = view.kinds) => {
  const condition = { when: "linked", whether: "" } as TypedRule["conditions"][number];
  const rule = { roleId: "1", nickname, conditions: [condition] };
  return inEnglish(ruleFieldset({ ...view, kinds }, rule, [1, 1]));
};

it("a rule's form shows how its own nickname reads, or an example of one", () => {
  expect(fieldsOf("{group.role} | {game.username}")).toContain(
    "Lady Ada, an Officer who plays as ada_g, is called <strong>Officer | ada_g</strong>.",
  );
  const empty = fieldsOf("");
  expect(empty).toContain("<code>{group.role} | {game.username}</code>");
  expect(empty).not.toContain("Lady Ada");
  expect(fieldsOf("", ["linked"])).not.toContain("{group.role}");
});
