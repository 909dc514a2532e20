import { assert, it } from "@accountlink/test-servers/effect";
import { aGameUser } from "@accountlink/testing";
import * as FastCheck from "fast-check";
import { ChatId } from "../ids.ts";
import type { RoleMember } from "../platforms/chat_platform.ts";
import type { ItemOwnership } from "../platforms/game_platform.ts";
import type { GameProfile } from "../platforms/profile.ts";
import { uncertainNickname } from "./kept_nickname.ts";
import { memberChanges, type StoredMember } from "./member_changes.ts";
import { noPlan, type PlanSettings } from "./role_plan.ts";
import {
  itemKey,
  type LinkedGame,
  type PlainCondition,
  type RoleCondition,
  type SingleCondition,
} from "./rule_kinds.ts";

const now = Date.parse("2026-01-01T00:00:00Z");

/** A linked game user with a profile, or without one. */
const gameOf = (
  profile: GameProfile | null,
  items: LinkedGame["items"] = new Map(),
  proof: LinkedGame["proof"] = "oauth",
): LinkedGame => ({
  proof,
  profile,
  areAgesTold: true,
  groups: profile === null ? [] : profile.groups,
  items,
});

const profileOf = (groups: GameProfile["groups"], created: string | null = null): GameProfile =>
  aGameUser("1", { username: "ada_g", displayName: "Ada", groups, created });

const groupOf = (id: number, rank: number | null, role: string | null = null) => ({
  id,
  name: null,
  memberCount: null,
  hasVerifiedBadge: null,
  role: { id, name: role, rank },
});

const someone: RoleMember = {
  chatId: ChatId.make("100001"),
  username: "ada",
  displayName: null,
  nickname: null,
  roleIds: [],
  isBot: false,
};

const player = gameOf(profileOf([]));

type Settings = Partial<PlanSettings>;

/** Compares a member with a plan that is on. */
const compare = (
  settings: Settings,
  member: Partial<RoleMember>,
  linked: LinkedGame | null,
  stored: Pick<StoredMember, "wasLinked" | "nickname">,
) => {
  const plan: PlanSettings = { ...noPlan, state: "on", ...settings };
  return memberChanges(plan, { ...someone, ...member }, linked, { unlinkedAt: null, ...stored }, now);
};

const never = { wasLinked: false, nickname: null };

const linkedBefore = (nickname: string | null) => ({ wasLinked: true, nickname });

const inGroup = (minRank: number | null = null, maxRank: number | null = null): RoleCondition => ({
  is: "group",
  groupId: "9",
  minRank,
  maxRank,
});

const { constantFrom, array, integer, record, option, oneof, subarray, assert: check, property } = FastCheck;

const [roleIds, groupIds] = [
  ["1", "2", "3", "4", "5"],
  [8, 9],
];
const rank = integer({ min: 0, max: 4 });
const bound = option(rank);
const pass = { item: "gamepass", itemId: "55" } as const;
const plain: FastCheck.Arbitrary<PlainCondition> = oneof(
  constantFrom<PlainCondition>(
    { is: "linked" },
    { is: "proven" },
    { is: "unlinked" },
    { is: "unlinked", days: 7 },
    { is: "role", roleId: "77" },
  ),
  record({
    is: constantFrom("group" as const),
    groupId: constantFrom(...groupIds.map(String)),
    minRank: bound,
    maxRank: bound,
  }),
  constantFrom<PlainCondition>(
    { is: "owner", ...pass },
    { is: "age", minDays: 30 },
    { is: "age", minDays: 31 },
  ),
);
const single: FastCheck.Arbitrary<SingleCondition> = oneof(
  plain,
  record({ is: constantFrom("not" as const), of: plain }),
);
const condition: FastCheck.Arbitrary<RoleCondition> = oneof(
  single,
  record({ is: constantFrom("all" as const), of: array(single, { minLength: 2, maxLength: 5 }) }),
);
const templates = constantFrom(
  null,
  "{game.username}",
  "VIP {game.displayName}",
  "[{group.role}] {chat.username}",
);
const rules = array(record({ roleId: constantFrom(...roleIds), when: condition, nickname: templates }), {
  maxLength: 8,
});
const game = option(
  record({
    ranks: array(rank, { minLength: 2, maxLength: 2 }),
    joined: subarray([0, 1]),
    created: constantFrom(null, "2025-12-02T00:00:00Z", "2025-12-02T00:00:00.001Z", "2025-12-01T00:00:00Z"),
    ownership: constantFrom<ItemOwnership>("owned", "not_owned", "private"),
    proof: constantFrom<LinkedGame["proof"]>("words", "session", "hand", "import", null),
  }).map(({ ranks, joined, created, ownership, proof }) =>
    gameOf(
      profileOf(
        joined.map((index) => groupOf(groupIds[index] as number, ranks[index] as number)),
        created,
      ),
      new Map([[itemKey(pass), ownership]]),
      proof,
    ),
  ),
);

/** When members joined who have been in the guild for 7 days, and for a millisecond less. */
const joinedAt = constantFrom("2025-12-25T00:00:00.000Z", "2025-12-25T00:00:00.001Z");

interface Member {
  readonly linked: LinkedGame | null;
  readonly roleIds: ReadonlyArray<string>;
  readonly joined: string;
}

const isMet = (when: SingleCondition, member: Member): boolean => {
  const { linked, roleIds: held, joined } = member;
  if (when.is === "not") return !isMet(when.of, member);
  if (when.is === "role") return held.includes(when.roleId);
  if (when.is === "unlinked") return linked === null && daysSince(joined) >= (when.days ?? 0);
  return linked !== null && isMetBy(linked, when);
};

type OfGame = Exclude<PlainCondition, { readonly is: "role" | "unlinked" }>;

const isMetBy = ({ proof, profile, items }: LinkedGame, when: OfGame): boolean => {
  if (when.is === "proven") return ["words", "session", "oauth"].includes(proof ?? "");
  if (when.is === "owner") return items.get(itemKey(when)) === "owned";
  if (when.is === "age") return daysSince(profile?.created ?? "2999-01-01T00:00:00Z") >= when.minDays;
  if (when.is === "linked") return true;
  return (profile?.groups ?? []).some(({ id, role }) => isBetween(id, role?.rank ?? -1, when));
};

const daysSince = (time: string): number => (now - Date.parse(time)) / 86_400_000;

const isBetween = (
  id: number,
  has: number,
  { groupId, minRank, maxRank }: PlainCondition & { readonly is: "group" },
): boolean => String(id) === groupId && !(has < (minRank ?? 0)) && !(has > (maxRank ?? 255));

const holds = (when: RoleCondition, member: Member): boolean =>
  when.is === "all" ? when.of.every((each) => isMet(each, member)) : isMet(when, member);

it("memberChanges adds roles whose rules hold, removes roles whose rules do not, and ignores other roles", () => {
  check(
    property(rules, game, subarray([...roleIds, "77"]), joinedAt, (chosen, linked, before, joined) => {
      const changes = compare({ rules: chosen }, { roleIds: before, joined }, linked, never);
      const { add, remove } = changes;
      const after = [...before.filter((id) => !remove.includes(id)), ...add];
      const holding = chosen.map(({ when }) => holds(when, { linked, roleIds: before, joined }));
      assert.deepEqual(changes.holding, holding);
      const given = new Set(chosen.filter((_, index) => holding[index]).map(({ roleId }) => roleId));
      const named = new Set(chosen.map(({ roleId }) => roleId));
      const kept = before.filter((id) => !named.has(id));
      assert.deepEqual(new Set(after), new Set([...kept, ...given]));
      assert.equal(new Set(after).size, after.length);
    }),
  );
});

it("a rule that is decided while a platform does not tell something stays so, whatever it tells", () => {
  const told = record({
    ranks: array(rank, { maxLength: 2 }),
    isOld: FastCheck.boolean(),
    owns: FastCheck.boolean(),
  });
  const hidden = subarray(["groups", "profile", "ages", "items"] as const);
  const holdingOf = (chosen: PlanSettings["rules"], linked: LinkedGame) =>
    compare({ rules: chosen }, { roleIds: ["77"] }, linked, never).holding;
  check(
    property(
      rules,
      told,
      hidden,
      array(told, { minLength: 9, maxLength: 9 }),
      (chosen, known, unknown, others) => {
        const hides = (what: (typeof unknown)[number]) => unknown.includes(what);
        const gameWith = ({ ranks, isOld, owns }: typeof known) => ({
          ...gameOf(profileOf([], isOld ? "2020-01-01T00:00:00Z" : "2025-12-31T00:00:00Z")),
          groups: ranks.map((each) => groupOf(9, each)),
          items: new Map([[itemKey(pass), owns ? "owned" : "not_owned"]] as const),
        });
        const seen = holdingOf(chosen, {
          ...gameWith(known),
          ...(hides("groups") && { groups: null }),
          ...(hides("profile") && { profile: undefined }),
          ...(hides("ages") && { areAgesTold: false }),
          ...(hides("items") && { items: new Map() }),
        });
        for (const other of others) {
          const possible = holdingOf(chosen, {
            ...gameWith(known),
            ...(hides("groups") && { groups: gameWith(other).groups }),
            ...((hides("profile") || hides("ages")) && { profile: gameWith(other).profile }),
            ...(hides("items") && { items: gameWith(other).items }),
          });
          for (const [index, holding] of seen.entries())
            if (holding !== null) assert.equal(possible[index], holding);
          if (unknown.length === 0) assert.deepEqual(seen, possible);
        }
      },
    ),
  );
});

it("a second sync changes nothing, neither roles nor the nickname", () => {
  const nickname = constantFrom(
    null,
    "{game.username}",
    "[{group.role}] {chat.displayName}",
    "{chat.username}",
  );
  const shown = constantFrom(null, "ada", "ada_g", "mine");
  const stored = constantFrom(null, "", "ada_g", "old");
  check(
    property(
      rules,
      nickname,
      game,
      subarray(roleIds),
      shown,
      stored,
      (chosen, template, linked, had, own, set) => {
        const plan: Settings = { rules: chosen, nickname: template, nicknameGroupId: "9" };
        const before = { roleIds: had, nickname: own };
        const first = compare(plan, before, linked, linkedBefore(set));
        const after = {
          roleIds: [...had.filter((id) => !first.remove.includes(id)), ...first.add],
          nickname: first.nickname === null ? before.nickname : first.nickname || null,
        };
        const second = compare(plan, after, linked, linkedBefore(first.setNickname.after));
        assert.deepEqual([second.add, second.remove, second.nickname], [[], [], null]);
        assert.equal(second.setNickname.after, first.setNickname.after);
      },
    ),
  );
});

it("a member with a bypass role never changes", () => {
  check(
    property(rules, game, subarray(roleIds), (chosen, linked, before) => {
      const plan: Settings = { rules: chosen, nickname: "{game.username}", bypassRoleIds: ["7", "8"] };
      const changes = compare(plan, { roleIds: [...before, "8"] }, linked, linkedBefore("old"));
      assert.deepEqual([changes.add, changes.remove, changes.nickname], [[], [], null]);
    }),
  );
});

it("a member with a nickname's bypass role gets roles, and keeps the nickname", () => {
  const plan: Settings = {
    rules: [{ roleId: "1", when: { is: "linked" }, nickname: null }],
    nickname: "{game.username}",
    nicknameBypassRoleIds: ["7", "8"],
  };
  const unknown = { ...gameOf(null), profile: undefined };
  for (const linked of [player, unknown, null]) {
    const member = { roleIds: ["8"], nickname: "mine" };
    const { add, nickname, setNickname, held } = compare(plan, member, linked, linkedBefore("mine"));
    assert.deepEqual(
      [add, nickname, setNickname.after, held],
      [linked === null ? [] : ["1"], null, "mine", []],
    );
  }
});

it.each<[what: string, linked: LinkedGame, nickname: string | null, held: ReadonlyArray<string | null>]>([
  ["of the first rule that holds and has one", gameOf(profileOf([groupOf(9, 2)])), "Rank ada_g", []],
  ["of a later rule if the first does not hold", gameOf(profileOf([])), "Proven ada_g", []],
  ["of the plan if no rule with one holds", gameOf(profileOf([]), new Map(), "hand"), "ada_g", []],
  ["held back while the first rule is unknown", gameOf(profileOf(null)), null, ["2", null]],
])("the nickname of a linked member is %s", (_, linked, nickname, held) => {
  const plan: Settings = {
    nickname: "{game.username}",
    rules: [
      { roleId: "1", when: { is: "linked" }, nickname: null },
      { roleId: "2", when: inGroup(1), nickname: "Rank {game.username}" },
      { roleId: "3", when: { is: "proven" }, nickname: "Proven {game.username}" },
    ],
  };
  const changes = compare(plan, {}, linked, never);
  assert.deepEqual([changes.nickname, changes.held], [nickname, held]);
});

it.each([
  ["goes if it is the one that the rule set", "Rank ada_g", ""],
  ["stays if somebody has changed it", "Boss", null],
])("the nickname of a rule that no longer holds, where no other has one, %s", (_, nickname, change) => {
  const rule = { roleId: "2", when: inGroup(1), nickname: "Rank {game.username}" };
  const before = linkedBefore("Rank ada_g");
  const changes = compare({ rules: [rule] }, { nickname }, gameOf(profileOf([])), before);
  assert.deepEqual([changes.nickname, changes.setNickname.after], [change, null]);
});

it.each([
  ["new", ""],
  ["old", ""],
  ["own", null],
])("after a change without an answer, a link takes its nickname along: %s", (nickname, change) => {
  const before = linkedBefore(uncertainNickname("new", "old"));
  const changes = compare({ nickname: "{game.username}" }, { nickname }, null, before);
  assert.equal(changes.nickname, change);
});

it("a condition that is not met decides about its rule, whatever is unknown about the others", () => {
  const both = (is: "linked" | "unlinked"): RoleCondition => ({
    is: "all",
    of: [{ is }, { is: "age", minDays: 30 }],
  });
  const combined = [
    { roleId: "1", when: both("linked"), nickname: null },
    { roleId: "2", when: both("unlinked"), nickname: null },
  ];
  const linked = { ...gameOf(null), profile: undefined };
  const changes = compare({ rules: combined }, { roleIds: ["1", "2"] }, linked, never);
  assert.deepEqual([changes.add, changes.remove, changes.held], [[], ["2"], ["1"]]);
});

it("a private inventory counts as not owned, and is told", () => {
  const plan: Settings = { rules: [{ roleId: "1", when: { is: "owner", ...pass }, nickname: null }] };
  const linked = gameOf(null, new Map([[itemKey(pass), "private"]]));
  const changes = compare(plan, { roleIds: ["1"] }, linked, never);
  assert.deepEqual([changes.remove, changes.isInventoryPrivate], [["1"], true]);
});

it.each([
  ["the rank in the group", [groupOf(9, 100, "Officer")], "Officer ada_g"],
  ["nothing outside of the group", [groupOf(8, 100, "Officer")], "ada_g"],
  [
    "the highest of several ranks",
    [groupOf(9, 1, "Fan"), groupOf(9, 200, "Chief"), groupOf(9, 10, "Fan")],
    "Chief ada_g",
  ],
  ["nothing where one of several ranks is unknown", [groupOf(9, 1, "Fan"), groupOf(9, null)], null],
  ["nothing for an unknown group list", null, null],
])("{group.role} becomes %s", (_, groups, expected) => {
  const plan: Settings = { nickname: "{group.role} {game.username}", nicknameGroupId: "9" };
  const changes = compare(plan, {}, gameOf(profileOf(groups)), never);
  assert.equal(changes.nickname, expected);
});

it("a rule holds back its role alone if the platform does not report the data that it needs", () => {
  const old: RoleCondition = { is: "age", minDays: 30 };
  const chosen = [
    { roleId: "1", when: inGroup(1), nickname: null },
    { roleId: "2", when: { is: "linked" } as const, nickname: null },
    { roleId: "3", when: { is: "owner", ...pass } as const, nickname: null },
    { roleId: "4", when: old, nickname: null },
  ];
  const member = { roleIds: ["1"] };
  const changesOf = (linked: LinkedGame) => {
    const { add, remove, held } = compare({ rules: chosen }, member, linked, never);
    return [add, remove, held];
  };
  const owned = new Map([[itemKey(pass), "owned"]] as const);
  assert.deepEqual(changesOf(gameOf(profileOf(null), owned)), [["2", "3"], [], ["1"]]);
  assert.deepEqual(changesOf(gameOf(profileOf([groupOf(9, null)]), owned)), [["2", "3"], [], ["1"]]);
  assert.deepEqual(changesOf(gameOf(profileOf([]))), [["2"], ["1"], ["3"]]);
  assert.deepEqual(changesOf({ ...gameOf(null), groups: null, profile: undefined }), [
    ["2"],
    [],
    ["1", "3", "4"],
  ]);
});

it("a rule for ranks holds for any of the ranks in the group", () => {
  const chosen = [
    { roleId: "1", when: inGroup(1, 1), nickname: null },
    { roleId: "2", when: inGroup(10, 10), nickname: null },
    { roleId: "3", when: inGroup(200, 200), nickname: null },
    { roleId: "4", when: inGroup(11, 199), nickname: null },
    { roleId: "5", when: inGroup(), nickname: null },
  ];
  const member = { roleIds: ["2", "4"] };
  const changesOf = (...ranks: ReadonlyArray<number | null>) => {
    const linked = gameOf(profileOf([groupOf(8, 150), ...ranks.map((each) => groupOf(9, each))]));
    const { add, remove, held } = compare({ rules: chosen }, member, linked, never);
    return [add, remove, held];
  };
  assert.deepEqual(changesOf(1, 10, 200), [["1", "3", "5"], ["4"], []]);
  assert.deepEqual(changesOf(200), [["3", "5"], ["2", "4"], []]);
  // A rank that is unknown takes nothing away.
  assert.deepEqual(changesOf(1, null), [["1", "5"], [], ["2", "3", "4"]]);
});

it("a rule with an unknown answer does not matter for a role that another rule gives", () => {
  const chosen = [
    { roleId: "1", when: inGroup(1), nickname: null },
    { roleId: "1", when: { is: "linked" } as const, nickname: null },
  ];
  const changes = compare({ rules: chosen }, {}, gameOf(profileOf(null)), never);
  assert.deepEqual([changes.add, changes.held], [["1"], []]);
});

it("a nickname is held back if its names or its group are unknown", () => {
  const held = (nickname: string, linked: LinkedGame) => {
    const plan: Settings = { nickname, nicknameGroupId: "9" };
    const changes = compare(plan, { nickname: "old" }, linked, linkedBefore("old"));
    return [changes.nickname, changes.held, changes.setNickname.after];
  };
  assert.deepEqual(held("{game.username}", { ...gameOf(null), profile: undefined }), [null, [null], "old"]);
  assert.deepEqual(held("{group.role}", gameOf(profileOf(null))), [null, [null], "old"]);
});

it.each([
  ["was never linked gains roles and loses none", never, { add: ["2"], remove: [] }],
  ["was linked loses the roles of the rules", linkedBefore(null), { add: ["2"], remove: ["1"] }],
])("where members without a link keep their roles, a member who %s", (_, stored, expected) => {
  const chosen = [
    { roleId: "1", when: { is: "linked" } as const, nickname: null },
    { roleId: "2", when: { is: "unlinked" } as const, nickname: null },
  ];
  const member = { roleIds: ["1", "77"], nickname: "mine" };
  const changes = compare({ rules: chosen, unlinked: "keep" }, member, null, stored);
  assert.deepInclude(changes, { ...expected, nickname: null });
});

it("memberChanges does not change bots", () => {
  const plan: Settings = {
    rules: [{ roleId: "1", when: { is: "unlinked" }, nickname: null }],
    nickname: "x",
  };
  const changes = compare(plan, { isBot: true }, null, never);
  assert.deepEqual([changes.add, changes.nickname], [[], null]);
});

const byName = "{game.username}";

it.each<
  [
    what: string,
    template: string | null,
    own: string | null,
    linked: LinkedGame | null,
    before: string | null,
    nickname: string | null,
    after: string | null,
  ]
>([
  ["is set", byName, null, player, null, "ada_g", "ada_g"],
  ["replaces another", byName, "mine", player, "old", "ada_g", "ada_g"],
  ["stays if it is right", byName, "ada_g", player, null, null, "ada_g"],
  ["stays if its names are unavailable", byName, "a", gameOf(null), "a", null, "a"],
  ["stays if the plan has no template", null, "a", gameOf(null), "a", null, "a"],
  ["goes with the link if it is still the one that was set", byName, "ada_g", null, "ada_g", "", null],
  ["stays without a link if the member chose another", byName, "mine", null, "ada_g", null, null],
  ["stays as the platform keeps it", byName, "ada", player, "ada_g\nada", null, "ada_g\nada"],
  ["stays none if the platform keeps none", byName, null, player, "ada_g\n", null, "ada_g\n"],
  ["is set if the plan gives another one", byName, "ada", player, "old\nada", "ada_g", "ada_g"],
  ["goes with the link as the platform keeps it", byName, "ada", null, "ada_g\nada", "", null],
  ["stays without a link if the platform kept none", byName, "mine", null, "ada_g\n", null, null],
  ["stays without a link if the plan set none", byName, "ada_g", null, null, null, null],
])("the nickname of a member %s", (_, template, own, linked, before, nickname, after) => {
  const changes = compare({ nickname: template }, { nickname: own }, linked, linkedBefore(before));
  // A new nickname is stored before it is set, beside the one that it replaces if the plan has set that.
  const during = nickname === "ada_g" ? uncertainNickname(nickname, own === "ada" ? own : null) : null;
  assert.deepEqual([changes.nickname, changes.setNickname], [nickname, { before, during, after }]);
});
