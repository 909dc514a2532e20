/**
 * The sentences that promise something about the roles and nicknames of members, and what members have after the act
 * that each is about.
 */
import { readFileSync } from "node:fs";
import { assert, it } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { BlockStore } from "../../admission/block_store.ts";
import { ImportStore } from "../../imports/import_store.ts";
import { LinkStore } from "../../links/link_store.ts";
import { ChatPlatform } from "../../platforms/chat_platform.ts";
import { chatId, gameId, guildId, operator, scopes } from "../../test_services.ts";
import { type PlanSettings, unlinkedChoices } from "../role_plan.ts";
import { RolePlans } from "../role_plans.ts";
import { deployment, memberIds, pass, test, usual, verified } from "./test_deployment.ts";

const english = "packages/pages/languages/en.json";
const dashboard = "packages/pages/dashboard";
const dashboardEnglish = "packages/pages/languages/dashboard/en.json";

const readText = (path: string): string =>
  readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8").replaceAll(/\s+/gu, " ");

const keptLater = "They keep the roles that they have, also later.";

/** Ada was linked by an import; zoe was never linked, and has a role of the rules from another service. */
const [ada = "", zoe = ""] = memberIds;

/** A role that no rule names, and the role of members to leave alone. */
const [own, bypass] = ["2", "10"];

const settings: PlanSettings = {
  ...usual,
  rules: usual.rules.slice(0, 1),
  nickname: "{game.username}",
  bypassRoleIds: [bypass],
};

const write = { ...operator, at: 0 };

/** What a test does with the guild. */
const acts = Effect.gen(function* () {
  const guild = yield* deployment;
  const { guild: scope } = yield* scopes;
  const [blocks, imports, links, plans] = [
    yield* BlockStore,
    yield* ImportStore,
    yield* LinkStore,
    yield* RolePlans,
  ];
  const { roles } = yield* ChatPlatform;
  assert(roles !== undefined);
  const { pid } = scope;
  const unlink = guild.unlink(ada);
  const row = { chatId: chatId(ada), gameId: gameId("1"), lastVerifiedAt: 0 };
  const batch = { links: [row], existing: "keep", proof: "import", progress: null } as const;
  const blocked = { gameId: null, hash: "hash", reason: null };
  return {
    ...guild,
    roles,
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
    unlinkPaused: Effect.andThen(guild.put({ ...settings, state: "paused" }), unlink),
    block: blocks.set({ ...write, pid, ...blocked, chatId: chatId(ada) }),
    undo: imports.undo({ ...write, pid, id: "file", limit: 100 }),
    deleteData: links.deleteScope({ ...write, pid }),
    deleteRules: plans.remove(scope, guildId, operator),
    putBack: Effect.andThen(
      guild.put({ ...settings, state: "paused" }),
      plans.putNicknamesBack(scope, guildId, operator),
    ),
    putBackRenamed: Effect.andThen(
      Effect.andThen(
        guild.put({ ...settings, state: "paused" }),
        roles.setNickname(guildId, chatId(ada), "mine"),
      ),
      plans.putNicknamesBack(scope, guildId, operator),
    ),
  };
});

type Act =
  | "nothing"
  | "undo"
  | "block"
  | `unlink${"" | "Renamed" | "Bypassed" | "Paused"}`
  | `delete${"Data" | "Rules"}`
  | `putBack${"" | "Renamed"}`;

const kept = { roleIds: [verified, own], nickname: "game 1" };
const lost = { roleIds: [own], nickname: null };

const promises: ReadonlyArray<
  [sentence: string, file: string, act: Act, expected: typeof kept | typeof lost]
> = [
  ["Members who link their accounts get roles and nicknames at once.", english, "nothing", kept],
  ["The bot gives members their roles and nicknames", english, "nothing", kept],
  ["Give a member the roles that the linked account earns", english, "nothing", kept],
  ["You lose the roles that need it.", english, "unlink", lost],
  ["Who unlinks loses both, within seconds.", "docs/roles.md", "unlink", lost],
  [
    "the bot takes back the roles and the nickname that it gave for the link, within seconds.",
    "packages/pages/languages/dashboard/en.json",
    "unlink",
    lost,
  ],
  ["and takes them back when a link goes.", `${dashboard}/roles/roles_page.ts`, "unlink", lost],
  ["Roles that no rule names are never touched.", `${dashboard}/roles/roles_page.ts`, "unlink", lost],
  ["is no longer linked loses the roles and the nickname either way", "docs/roles.md", "unlink", lost],
  [
    "the nickname goes too, unless somebody has changed it since",
    "docs/roles.md",
    "unlinkRenamed",
    { ...lost, nickname: "mine" },
  ],
  [
    "who has that role keeps roles and nickname as they are",
    "docs/roles.md",
    "unlinkBypassed",
    { ...kept, roleIds: [verified, bypass, own] },
  ],
  ["from then on nobody gets or loses a role", "docs/roles.md", "unlinkPaused", kept],
  [
    ", with the roles and nicknames that the bot gave",
    "packages/pages/languages/dashboard/en.json",
    "block",
    lost,
  ],
  ["A block removes the links of the user with their roles", "docs/dashboard.md", "block", lost],
  [
    "members whose link goes lose the roles that need one.",
    `${dashboard}/imports/undo_pages.ts`,
    "undo",
    lost,
  ],
  ["members lose the roles that need a link.", `${dashboard}/communities/deletion.ts`, "deleteData", lost],
  [
    "members whose nickname the rules set lose it with their roles.",
    `${dashboard}/communities/deletion.ts`,
    "deleteData",
    lost,
  ],
  [
    "The nicknames that they have now are kept for 30 days",
    `${dashboard}/roles/preview_page.ts`,
    "putBack",
    { ...kept, nickname: "Lady Ada" },
  ],
  [
    "Members whose nickname has changed since keep the one that they have now.",
    `${dashboard}/roles/nicknames_section.ts`,
    "putBackRenamed",
    { ...kept, nickname: "mine" },
  ],
  [
    "Members keep the roles and nicknames that they have.",
    `${dashboard}/roles/roles_page.ts`,
    "deleteRules",
    kept,
  ],
  [
    "Members keep the roles and nicknames that they have",
    `${dashboard}/account/deletion.ts`,
    "deleteRules",
    kept,
  ],
];

it("every message that promises something about roles or nicknames is listed here", () => {
  const messages = Object.values(JSON.parse(readText(english)) as Readonly<Record<string, string>>);
  const promising = messages.filter(
    (text) => /\b(?:roles?|nicknames?)\b/iu.test(text) && /\b(?:loses?|keeps?|gets?|gives?)\b/iu.test(text),
  );
  const unlisted = promising.filter((text) => !promises.some(([sentence]) => text.includes(sentence)));
  assert.deepEqual(unlisted, []);
  // Pages of the dashboard say a sentence themselves, or by a message.
  for (const [sentence, file] of promises) {
    const texts = file.startsWith(dashboard) ? readText(file) + readText(dashboardEnglish) : readText(file);
    assert.include(texts, sentence);
  }
});

for (const unlinked of unlinkedChoices) {
  for (const act of new Set(promises.map(([, , each]) => each))) {
    const told = promises.filter(([, , each]) => each === act);
    test(`${unlinked}, ${act}: ${told.map(([sentence]) => `"${sentence}"`).join(", ")}`, function* () {
      const guild = yield* acts;
      for (const [user, roleId] of [
        [ada, own],
        [zoe, verified],
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
      assert.include(readText(`${dashboard}/roles/preview_page.ts`) + readText(dashboardEnglish), keptLater);
      assert.deepEqual(yield* guild.rolesOf(zoe), unlinked === "keep" ? [verified] : []);
    });
  }
}

const shown = (guild: Effect.Success<typeof acts>, user: string) =>
  Effect.map(guild.member(user), ({ roleIds, nickname }) => ({ roleIds: roleIds.toSorted(), nickname }));
