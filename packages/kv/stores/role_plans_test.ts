import { noPlan } from "@accountlink/core/roles";
import { Struct } from "effect";
import { expect, it } from "vitest";
import { settingsOf } from "./role_plans.ts";

const rest = Struct.omit(noPlan, ["bypassRoleIds", "nicknameBypassRoleIds"]);
const linked = { roleId: "1", when: { is: "linked" } } as const;

it("plans of releases with one bypass role, and with rules without nicknames, are read", () => {
  const read = settingsOf({ ...rest, rules: [linked], bypassRoleId: "3" });
  expect(read).toEqual({ ...noPlan, rules: [{ ...linked, nickname: null }], bypassRoleIds: ["3"] });
  expect(settingsOf({ ...rest, bypassRoleId: null })).toEqual(noPlan);
  expect(settingsOf(read)).toBe(read);
});
