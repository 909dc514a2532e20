import { assert, it } from "@accountlink/test-servers/effect";
import { nameableRoles, type RankedRole } from "./role_ranks.ts";

const roles: ReadonlyArray<RankedRole> = [
  { id: "chief", permissions: ["administrator"] },
  { id: "manager", permissions: ["manage_server", "manage_roles"] },
  { id: "hook", permissions: ["manage_roles", "manage_webhooks"] },
  { id: "guard", permissions: ["manage_server"] },
  { id: "fan", permissions: [] },
  { id: "everyone", permissions: [] },
];

it.each<[held: ReadonlyArray<string>, nameable: ReadonlyArray<string>]>([
  [["chief"], ["manager", "hook", "guard", "fan", "everyone"]],
  [
    ["manager", "everyone"],
    ["guard", "fan", "everyone"],
  ],
  [
    ["hook", "guard"],
    ["guard", "fan", "everyone"],
  ],
  [["hook"], ["fan", "everyone"]],
  [["everyone"], []],
  [[], []],
])("a member with the roles %j may name %j", (held, nameable) => {
  assert.deepStrictEqual([...nameableRoles(roles, new Set(held))], nameable);
});

it("a member may pass on a right that comes from no role", () => {
  assert.deepStrictEqual(
    [...nameableRoles(roles, new Set(["hook"]), ["manage_server"])],
    ["guard", "fan", "everyone"],
  );
});
