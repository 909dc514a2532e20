/**
 * The sentences that promise something about the roles and nicknames of members, and what members have after the act
 * that each is about.
 */
import { existsSync, readFileSync } from "node:fs";
import { assert, it } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { BlockStore } from "../../admission/block_store.ts";
import { ImportStore } from "../../imports/import_store.ts";
import { LinkStore } from "../../links/link_store.ts";
import { chatId, gameId, guildId, operator } from "../../test_services.ts";
import { type PlanSettings, unlinkedChoices } from "../role_plan.ts";
import { deployment, memberIds, pass, test, usual, verified } from "./test_deployment.ts";

const english = "packages/pages/languages/en.json";
const dashboard = "packages/pages/languages/dashboard/en.json";
const rolesDocument = "docs/roles.md";
const switching = "docs/switching.md";

const fileOf = (path: string) => new URL(`../../../../${path}`, import.meta.url);

const readText = (path: string): string => readFileSync(fileOf(path), "utf8").replaceAll(/\s+/gu, " ");

/**
 * Ada and bob were linked by an import; zoe was never linked. Bob and zoe have a role of the rules from another service.
 */
const [ada = "", zoe = "", bob = ""] = memberIds;

/** A role that no rule names, and the role of members to leave alone. */
const [own, bypass] = ["2", "10"];

const settings: PlanSettings = {
  ...usual,
  rules: usual.rules.slice(0, 1),
  nickname: "{game.username}",
  bypassRoleIds: [bypass],
};

const write = { ...operator, at: 1 };

/** What a test does with the guild. */
const acts = Effect.gen(function* () {
  const deployed = yield* deployment;
  const { guild, plans, put, roles } = deployed;
  const { pid } = deployed.scope;
  const [blocks, imports, links] = [yield* BlockStore, yield* ImportStore, yield* LinkStore];
  const unlink = deployed.unlink(ada);
  const rows = [
    { chatId: chatId(ada), gameId: gameId("1"), lastVerifiedAt: 0 },
    { chatId: chatId(bob), gameId: gameId("3"), lastVerifiedAt: 0 },
  ];
  const batch = { links: rows, existing: "keep", proof: "import", progress: null } as const;
  const blocked = { gameId: null, hash: "hash", reason: null };
  return {
    ...deployed,
    import: imports.importBatch({
      ...write,
      pid,
      ...batch,
      file: { id: "file", name: "a.csv", isUndoable: true },
    }),
    nothing: Effect.void,
    unlink,
    unlinkRenamed: Effect.andThen(roles.setNickname(guildId, chatId(ada), "mine"), unlink),
    unlinkBypassed: Effect.andThen(roles.addRole(guildId, chatId(ada), bypass), unlink),
    unlinkPaused: Effect.andThen(put({ ...settings, state: "paused" }), unlink),
    unlinkNameBypassed: Effect.flatMap(plans.find(guild), ({ plan: { unlinked } }) =>
      Effect.andThen(put({ ...settings, unlinked, nicknameBypassRoleIds: [own] }), unlink),
    ),
    linkPaused: Effect.andThen(
      Effect.andThen(unlink, pass(3)),
      Effect.andThen(put({ ...settings, state: "paused" }), deployed.link(ada, "1")),
    ),
    withoutRules: Effect.andThen(
      put({ rules: [], nickname: null, unlinked: "remove" }),
      deployed.link(zoe, "2"),
    ),
    block: blocks.set({ ...write, pid, ...blocked, chatId: chatId(ada) }),
    undo: imports.undo({ ...write, pid, id: "file", limit: 100 }),
    deleteData: links.deleteScope({ ...write, pid }),
    deleteDataPaused: Effect.andThen(
      put({ ...settings, state: "paused" }),
      links.deleteScope({ ...write, pid }),
    ),
    deleteRules: plans.remove(guild, operator),
    putBack: Effect.andThen(put({ ...settings, state: "paused" }), plans.putNicknamesBack(guild, operator)),
    putBackRenamed: Effect.andThen(
      Effect.andThen(put({ ...settings, state: "paused" }), roles.setNickname(guildId, chatId(ada), "mine")),
      plans.putNicknamesBack(guild, operator),
    ),
  };
});

type Acts = Effect.Success<typeof acts>;

type Act = "unlink" | Exclude<keyof Acts, keyof Effect.Success<typeof deployment> | "import">;

const kept = { roleIds: [verified, own], nickname: "game 1" };
const lost = { roleIds: [own], nickname: null };
/** A link that an undone import made was none, so the nickname from before is back. */
const undone = { ...lost, nickname: "Lady Ada" };
const bypassed = { ...kept, roleIds: [verified, bypass, own] };
const before = { ...kept, nickname: "Lady Ada" };

type Shown = { roleIds: Array<string>; nickname: string | null };

/** Each sentence, or the part of it that promises, with where it stands, and what ada has after the act. */
const promises: ReadonlyArray<[sentence: string, file: string, act: Act, expected: Shown]> = [
  ["Members who link their accounts get roles and nicknames at once.", english, "nothing", kept],
  ["The bot gives members their roles and nicknames", english, "nothing", kept],
  ["Give a member the roles that the linked account earns", english, "nothing", kept],
  ["The bot can give roles and nicknames to members who linked.", dashboard, "nothing", kept],
  [
    "let the bot give roles and nicknames to members who linked their accounts.",
    rolesDocument,
    "nothing",
    kept,
  ],
  ["Nobody gets or loses a role.", dashboard, "withoutRules", kept],
  ["and nobody gets or loses a role.", dashboard, "withoutRules", kept],
  ["The bot gives no roles or nicknames.", dashboard, "withoutRules", kept],
  ["members can link, and nobody gets or loses anything.", rolesDocument, "withoutRules", kept],
  ["You lose the roles that need it, and a nickname that the bot gave you.", english, "unlink", lost],
  ["you lose the roles and the nickname that the bot gave you for the link.", english, "unlink", lost],
  ["Who unlinks loses both, within seconds.", rolesDocument, "unlink", lost],
  ["is no longer linked loses the roles and the nickname either way", rolesDocument, "unlink", lost],
  ["the bot takes back the roles and the nickname that it gave for the link", dashboard, "unlink", lost],
  ["and takes them back when a link goes.", dashboard, "unlink", lost],
  ["Roles that no rule names are never touched.", dashboard, "unlink", lost],
  ["Roles that no rule names are never touched.", rolesDocument, "unlink", lost],
  ["A role that a rule names goes when none of its rules holds", switching, "unlink", lost],
  ["the role goes when none of its rules holds", rolesDocument, "unlink", lost],
  [
    "the nickname goes too, unless somebody has changed it since",
    rolesDocument,
    "unlinkRenamed",
    { ...lost, nickname: "mine" },
  ],
  ["who has that role keeps roles and nickname as they are", rolesDocument, "unlinkBypassed", bypassed],
  ["Members with one of these roles keep their roles and nickname.", dashboard, "unlinkBypassed", bypassed],
  ["*Members to leave alone* keep both", switching, "unlinkBypassed", bypassed],
  ["member with a role to leave alone keeps what they have.", dashboard, "unlinkBypassed", bypassed],
  ["get roles, and keep their nickname.", dashboard, "unlinkNameBypassed", { ...kept, roleIds: [own] }],
  [
    "gets and loses roles, and keeps the nickname.",
    rolesDocument,
    "unlinkNameBypassed",
    { ...kept, roleIds: [own] },
  ],
  ["from then on nobody gets or loses a role", rolesDocument, "unlinkPaused", kept],
  ["Nobody gets or loses a role or nickname until you turn the rules on.", dashboard, "unlinkPaused", kept],
  ["nobody gets roles or nicknames by them", dashboard, "linkPaused", lost],
  [", with the roles and nicknames that the bot gave", dashboard, "block", lost],
  ["A block removes the links of the user with their roles", "docs/dashboard.md", "block", lost],
  ["members whose link goes lose the roles that need one.", dashboard, "undo", undone],
  ["members lose the roles that need a link.", dashboard, "deleteData", lost],
  ["members whose nickname the rules set lose it with their roles.", dashboard, "deleteData", lost],
  ["</a>, and members keep their roles.", dashboard, "deleteDataPaused", kept],
  ["The nicknames that they have now are kept for 30 days", dashboard, "putBack", before],
  ["The nicknames from before are put back", dashboard, "putBack", before],
  ["Nicknames of today are kept for 30 days", rolesDocument, "putBack", before],
  ["Nicknames that the rules replace are kept for 30 days", switching, "putBack", before],
  [
    "Members whose nickname has changed since keep the one that they have now.",
    dashboard,
    "putBackRenamed",
    { ...kept, nickname: "mine" },
  ],
  ["Members keep the roles and nicknames that they have.", dashboard, "deleteRules", kept],
  ["Members keep the roles and nicknames that they have}", dashboard, "deleteRules", kept],
];

/** The promises about members who were never linked, under rules that leave such members as they are. */
const ofTheNeverLinked = [
  "They keep all their roles, also later.",
  "Members who never linked keep their roles.",
  "Members who never linked keep their roles with *Leave them as they are*",
];

/** Promises about what the bot may not do, or what the game does not answer: other tests hold them. */
const heldElsewhere: Readonly<Record<string, string>> = {
  "changes until the bot may give it": "test/contract/role_problems_test.ts",
  "keep their nickname: {platform} lets no bot change it.": "test/contract/role_problems_test.ts",
  "is listed for 30 days.": "packages/testing/conformance/roles/role_history_store_suite.ts",
  "Pause the rules and give the roles back": "packages/core/roles/courier/put_back_test.ts",
  "Who has left, or has the role by now, stays as they are.": "packages/core/roles/courier/put_back_test.ts",
  "are paused first, since they would take the roles again.": "packages/core/roles/courier/put_back_test.ts",
  "Roles that were taken do not come back by themselves": "packages/core/roles/courier/put_back_test.ts",
  "“What the rules did” gives them back.": "packages/core/roles/courier/put_back_test.ts",
  "of these members loses roles in": "packages/core/roles/courier/undo_law_test.ts",
  "to be given back, at most ten a second.": "packages/core/roles/courier/put_back_test.ts",
  "the roles are given back, at most ten a second.": "packages/core/roles/courier/put_back_test.ts",
  "are taken from the members who have them by the rules. Others keep them.":
    "packages/core/roles/courier/put_back_test.ts",
  "*What the rules did* lists each role (the last 200,000) that they gave or took":
    "packages/testing/conformance/roles/role_history_store_suite.ts",
  "*Give back what was taken* there pauses the rules": "packages/core/roles/courier/put_back_test.ts",
  "unless you choose on the preview that it is taken": "packages/core/roles/courier/put_back_test.ts",
  "nobody was changed and the rules were paused.": "packages/core/roles/courier/role_couriers_test.ts",
  "nobody is changed and the rules pause": "packages/core/roles/courier/role_couriers_test.ts",
  "nobody gets the role by it.": "packages/core/roles/member_changes_test.ts",
  "with several ranks in a group gets the roles of each": "packages/core/roles/member_changes_test.ts",
  "gives the role to who is not in it": "packages/core/roles/member_changes_test.ts",
  "a nickname goes with the rule that set it": "packages/core/roles/member_changes_test.ts",
  "nobody gains or loses it": "packages/core/roles/courier/held_roles_test.ts",
  "Lookups for it are refused, and nobody gets roles or nicknames.": "test/contract/troubles_test.ts",
  "The bot gives no role above its own": "test/contract/role_problems_test.ts",
};

/** Messages that name roles and nicknames, and promise nothing: what an owner may do, and what a preview found. */
const noPromises =
  /^(?:audit|steps|roles\.try|rule)\.|^(?:chat\.sync\.removed|reason\.(?:rule\.role|own_role|other_role)|team\.give_up|unlinked\.remove|community\.doneText\.hint|roles\.paused\.(?:many_would_lose|role_rights)|roles\.delete\.before|roles\.before\.(?:text|first|button)|preview\.(?:renamed|remove|members\.(?:gave|took))|remedy\.(?:role_missing|item_unknown)|(?:state\.rules|trouble(?:\.paused)?)\.(?:many_would_lose|role_rights))$/u;

/** The same of documents: parts of sentences. */
const noPromisesInDocuments = [
  "above the roles that it may give.",
  "- Rules can ask for",
  "<picture>",
  "changes nobody: how many get and lose each role",
  "choose: *Leave them as they are*",
  "Nobody loses a role on the way",
  "| *Members who linked* gets the role",
  "| roles that a bind removes (B) |",
  "| Premium, friend, allied or enemy group",
  "rules would no longer say who has a role",
  "let a rule's role open the channels",
  "`GET` and `PUT /dashboard/api/roles` with",
];

/** The sentences of a text that say what becomes of roles or nicknames. */
const promisingIn = (text: string): ReadonlyArray<string> =>
  text
    .split(/(?<=[.!?])\s+(?=[A-Z*`{<])/u)
    .filter(
      (sentence) =>
        /\b(?:roles?|nicknames?)\b/iu.test(sentence) &&
        /\b(?:loses?|lost|keeps?|gets?|gives?|gave|gains?|takes?|removed?|removes|goes|stays?|touched|overwrites?|restored|back)\b/iu.test(
          sentence,
        ),
    );

const isHeld = (sentence: string): boolean =>
  [...promises.map(([part]) => part), ...ofTheNeverLinked, ...Object.keys(heldElsewhere)].some((part) =>
    sentence.includes(part),
  );

it.each([english, dashboard])("every message that promises something about roles is held: %s", (file) => {
  const messages = Object.entries(JSON.parse(readText(file)) as Readonly<Record<string, string>>);
  const unheld = messages.flatMap(([key, text]) =>
    noPromises.test(key) ? [] : promisingIn(text).filter((sentence) => !isHeld(sentence)),
  );
  assert.deepEqual(unheld, []);
});

it.each([rolesDocument, switching])(
  "every sentence that promises something about roles is held: %s",
  (file) => {
    const paragraphs = readFileSync(fileOf(file), "utf8").split(/\n\n|\n(?=- |\d+\. |\|)/u);
    const sentences = paragraphs.flatMap((text) => promisingIn(text.replaceAll(/\s+/gu, " ")));
    const unheld = sentences.filter(
      (sentence) => !isHeld(sentence) && !noPromisesInDocuments.some((part) => sentence.includes(part)),
    );
    assert.deepEqual(unheld, []);
  },
);

it("every promise that is held still stands where it was, and its test is there", () => {
  for (const [sentence, file] of promises) assert.include(readText(file), sentence);
  const everywhere = [english, dashboard, rolesDocument, switching].map(readText).join(" ");
  for (const part of [...ofTheNeverLinked, ...Object.keys(heldElsewhere), ...noPromisesInDocuments])
    assert.include(everywhere, part);
  for (const file of Object.values(heldElsewhere)) assert.isTrue(existsSync(fileOf(file)), file);
});

for (const unlinked of unlinkedChoices) {
  for (const act of new Set(promises.map(([, , each]) => each))) {
    const told = promises.filter(([, , each]) => each === act);
    test(`${unlinked}, ${act}: ${told.map(([sentence]) => `"${sentence}"`).join(", ")}`, function* () {
      const guild = yield* acts;
      for (const [user, roleId] of [
        [ada, own],
        [zoe, verified],
        [bob, verified],
      ] as const)
        yield* guild.roles.addRole(guildId, chatId(user), roleId);
      yield* guild.roles.setNickname(guildId, chatId(ada), "Lady Ada");
      yield* guild.import;
      yield* guild.put({ ...settings, unlinked });
      yield* guild.startNode();
      yield* pass(3);
      assert.deepInclude(yield* shown(guild, ada), kept);
      yield* guild[act];
      yield* pass(5);
      for (const [sentence, , , expected] of told)
        assert.deepInclude(yield* shown(guild, ada), expected, sentence);
      // A link that an undone import made was none: the rules take back what they gave for it, and nothing else.
      if (act === "undo") assert.deepEqual(yield* guild.rolesOf(bob), unlinked === "keep" ? [verified] : []);
      // Holds for `ofTheNeverLinked`.
      assert.deepEqual(yield* guild.rolesOf(zoe), unlinked === "keep" ? [verified] : []);
    });
  }
}

const shown = (guild: Effect.Success<typeof acts>, user: string) =>
  Effect.map(guild.member(user), ({ roleIds, nickname }) => ({ roleIds: roleIds.toSorted(), nickname }));
