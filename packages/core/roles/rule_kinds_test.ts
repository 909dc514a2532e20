import { assert, it } from "@accountlink/test-servers/effect";
import { Option } from "effect";
import type { TypedFields } from "./rule_fields.ts";
import { conditionOf, idIn, kindOf, type RuleKindName, ruleKindNames, typedFields } from "./rule_kinds.ts";
import { conditionForms, formatCondition, parseCondition } from "./rule_text.ts";

const written: ReadonlyArray<[text: string, kind: RuleKindName]> = [
  ["linked", "linked"],
  ["proven", "proven"],
  ["unlinked", "unlinked"],
  ["unlinked:7", "unlinked"],
  ["role:12", "role"],
  ["group:9", "group"],
  ["group:9:100-", "group"],
  ["group:9:0-255", "group"],
  ["gamepass:55", "gamepass"],
  ["badge:56", "badge"],
  ["asset:57", "asset"],
  ["owner:app:57", "owner"],
  ["age:30", "age"],
];

it.each(written)("the command line and the form read and write the condition %s", (text, kind) => {
  const when = Option.getOrThrow(parseCondition(text));
  assert(when.is !== "all" && when.is !== "not");
  assert.equal(kindOf(when), kind);
  assert.equal(formatCondition(when), text);
  assert.deepEqual(conditionOf(kind, typedFields(when)), when);
  const opposite = Option.getOrThrow(parseCondition(`!${text}`));
  assert.deepEqual(opposite, { is: "not", of: when });
  assert.equal(formatCondition(opposite), `!${text}`);
});

it("every kind of rules has a row in these tests, and a form on the command line", () => {
  assert.deepEqual(new Set(written.map(([, kind]) => kind)), new Set(ruleKindNames));
  assert.include(conditionForms, "group:<groupId>:<minRank>-<maxRank>");
});

it("the command line reads and writes conditions that all have to be met", () => {
  const text = "proven&group:9:200-255&gamepass:55";
  const when = Option.getOrThrow(parseCondition(text));
  assert.deepEqual(when, {
    is: "all",
    of: [
      { is: "proven" },
      { is: "group", groupId: "9", minRank: 200, maxRank: 255 },
      { is: "owner", item: "gamepass", itemId: "55" },
    ],
  });
  assert.equal(formatCondition(when), text);
});

it.each([
  "linked&",
  "&",
  Array(6).fill("linked").join("&"),
  "",
  "friends",
  "group:",
  "group:9:2-1",
  "age:0",
  "age:99999",
  "!!linked",
  "!linked&!",
  "unlinked:0",
  "unlinked:366",
  "role:",
  "linked:9",
  "gamepass:x",
])("the command line refuses the condition %j", (text) => {
  assert.isTrue(Option.isNone(parseCondition(text)));
});

const none = typedFields({ is: "linked" });

it.each<[kind: RuleKindName, typed: Partial<TypedFields>, wrong: ReadonlyArray<keyof TypedFields>]>([
  ["group", { groupId: "x", minRank: "1e3", maxRank: "-1" }, ["groupId", "minRank", "maxRank"]],
  ["group", { groupId: "9", minRank: "2", maxRank: "1" }, ["maxRank"]],
  ["badge", {}, ["itemId"]],
  ["owner", { itemKind: "My app" }, ["itemKind", "itemId"]],
  ["age", { minDays: "36501" }, ["minDays"]],
  ["unlinked", { days: "366" }, ["days"]],
  ["role", {}, ["roleId"]],
])("a form's %s %j is refused at its fields", (kind, typed, wrong) => {
  const problems = conditionOf(kind, { ...none, ...typed });
  assert("length" in problems);
  const fields = problems.map(({ field }) => field);
  assert.deepEqual(fields, wrong);
});

const site = "https://www.roblox.com";

it.each<[kind: RuleKindName, address: string, id: string]>([
  ["group", `${site}/communities/7/Roblox#!/about`, "7"],
  ["group", `${site}/de/groups/7/Roblox`, "7"],
  ["group", "roblox.com/groups/group.aspx?gid=7", "7"],
  ["gamepass", `${site}/game-pass/55/VIP`, "55"],
  ["gamepass", "https://create.roblox.com/dashboard/creations/experiences/1/passes/55/overview", "55"],
  ["badge", `${site}/badges/56/First-step`, "56"],
  ["asset", `${site}/catalog/57/Hat`, "57"],
  ["asset", "https://create.roblox.com/store/asset/57/Tree", "57"],
  ["asset", `${site}/bundles/58/Body`, `${site}/bundles/58/Body`],
  ["gamepass", `${site}/badges/56/First-step`, `${site}/badges/56/First-step`],
  ["badge", "56", "56"],
  ["owner", "https://store.steampowered.com/app/570/Dota_2/", "570"],
  ["owner", "https://store.steampowered.com/app/570?l=german", "570"],
  ["owner", "https://shop.example/1/skins/55#red", "55"],
  ["owner", "https://shop.example/skins?id=55", "https://shop.example/skins?id=55"],
  ["group", "https://steamcommunity.com/groups/7", "7"],
])("a rule of the kind %s reads %s as %s", (kind, address, id) => {
  assert.equal(idIn(kind, address), id);
});
