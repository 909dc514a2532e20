/**
 * The law of undo on the platform: after an act and its undo, members have the roles and nicknames of before, and what a
 * page promised of the act is what happened.
 */
import { randomRuns } from "@accountlink/test-servers";
import { assert, it } from "@accountlink/test-servers/effect";
import { check } from "@accountlink/testing";
import { Clock, Context, Effect, Layer } from "effect";
import * as FastCheck from "fast-check";
import { ImportStore } from "../../imports/import_store.ts";
import { makeUndoPreview } from "../../imports/undo_preview.ts";
import { LinkWriter } from "../../links/link_writer.ts";
import { chatId, gameId, guildId, operator } from "../../test_services.ts";
import { OwnLinks } from "../../users/own_data.ts";
import { makeLostWithLink } from "../lost_with_link.ts";
import { shownPreview } from "../plan_preview.ts";
import type { PlanSettings } from "../role_plan.ts";
import { deployment, guest, memberIds, pass, servicesWith, verified } from "./test_deployment.ts";

const { boolean, constantFrom, oneof, record, constant, array } = FastCheck;

const members = memberIds.slice(0, 6);
const users = members.slice(1);
const user = constantFrom(...users);
const game = constantFrom("1", "2", "101");

/** What may have happened before: by the community, or by its moderators and other bots on the platform. */
const happened = oneof(
  record({ is: constant("link"), user, game }),
  record({ is: constant("unlink"), user }),
  record({ is: constant("role"), user, has: boolean() }),
  record({ is: constant("nickname"), user, nickname: constantFrom(null, "Own") }),
  constant({ is: "time" } as const),
);
type Happened = typeof happened extends FastCheck.Arbitrary<infer A> ? A : never;

const rules: FastCheck.Arbitrary<Pick<PlanSettings, "rules" | "nickname" | "unlinked">> = record({
  rules: constantFrom<PlanSettings["rules"]>(
    [{ roleId: verified, when: { is: "linked" }, nickname: null }],
    [
      { roleId: verified, when: { is: "linked" }, nickname: "{game.username}" },
      { roleId: guest, when: { is: "unlinked" }, nickname: null },
    ],
    [{ roleId: guest, when: { is: "proven" }, nickname: null }],
  ),
  nickname: constantFrom(null, "{game.username}"),
  unlinked: constantFrom("keep", "remove"),
});

const team = { actor: { type: "account", id: "acme", member: "10001" }, requestId: null } as const;

const world = Effect.gen(function* () {
  const deployed = yield* deployment;
  const { roles } = deployed;
  /** Lets the node follow links and rules. */
  const settled = pass(10, 1);
  const happens = (event: Happened) => {
    if (event.is === "time") return settled;
    const who = chatId(event.user);
    switch (event.is) {
      case "link":
        return deployed.link(event.user, event.game);
      case "unlink":
        return Effect.ignore(deployed.unlink(event.user));
      case "role":
        return event.has ? roles.addRole(guildId, who, verified) : roles.removeRole(guildId, who, verified);
      case "nickname":
        return roles.setNickname(guildId, who, event.nickname);
    }
  };
  const state = Effect.forEach(members, (each) =>
    Effect.map(deployed.member(each), ({ roleIds, nickname }) => ({
      roles: [...roleIds].toSorted(),
      nickname,
    })),
  );
  return { ...deployed, happens, state, settled };
});

type World = Effect.Success<typeof world>;

/** Holds a law after random histories, each on a platform of its own, with rules that are on and followed. */
const law = <Input>(
  title: string,
  inputs: FastCheck.Arbitrary<Input>,
  body: (world: World, input: Input) => Generator<Effect.Effect<unknown, unknown, unknown>, void, never>,
) =>
  it.effect(title, () =>
    check(
      record({ history: array(happened, { maxLength: 6 }), settings: rules, input: inputs }),
      ({ history, settings, input }) =>
        Effect.gen(function* () {
          const made = yield* world;
          yield* made.put({ ...settings, state: "on" });
          yield* made.startNode();
          yield* made.settled;
          for (const event of history) yield* made.happens(event);
          yield* made.startSweep;
          yield* made.settled;
          yield* Effect.gen(() => body(made, input));
        }).pipe(Effect.scoped, Effect.provide(servicesWith(members), { local: true })) as Effect.Effect<void>,
      randomRuns(3, 40),
    ),
  );

law(
  "a link that is removed and put back leaves its member as before, who lost what was promised",
  user,
  function* ({ guild, link, member, place, settled, state }, who) {
    const writer = yield* LinkWriter;
    const lostWithLink = yield* makeLostWithLink;
    yield* link(who, "1");
    yield* settled;
    const before = yield* state;
    const linked = yield* member(who);
    const [promised] = yield* lostWithLink([place.pid], chatId(who));
    const target = { origin: team, ...guild };
    yield* writer.removeGame(target, chatId(who), { requireMember: false });
    yield* settled;
    const unlinked = yield* member(who);
    const lost = linked.roleIds.filter((roleId) => !unlinked.roleIds.includes(roleId));
    assert.deepEqual(promised?.lost ?? { roles: [], nickname: false }, {
      roles: lost.map((roleId) => (roleId === verified ? "Verified" : "Guest")),
      nickname: linked.nickname !== unlinked.nickname,
    });
    yield* writer.restoreGame(target, chatId(who));
    yield* settled;
    assert.deepEqual(yield* state, before);
  },
);

law(
  "a link that its user removes on /me and makes again leaves its member as before, and a second removal does nothing",
  user,
  function* ({ link, place: { pid }, settled, state }, who) {
    const ownLinks = Context.get(yield* Layer.build(OwnLinks.layer), OwnLinks);
    yield* link(who, "1");
    yield* settled;
    const before = yield* state;
    yield* ownLinks.remove(chatId(who), pid, "request");
    yield* settled;
    const removed = yield* state;
    assert.strictEqual(
      (yield* Effect.flip(ownLinks.remove(chatId(who), pid, "request")))._tag,
      "LinkNotFound",
    );
    yield* settled;
    assert.deepEqual(yield* state, removed);
    yield* link(who, "1");
    yield* settled;
    assert.deepEqual(yield* state, before);
  },
);

law(
  "an import that is undone leaves members as before",
  record({
    of: FastCheck.subarray(users, { minLength: 1 }),
    existing: constantFrom("keep", "replace", "newest"),
  }),
  function* ({ place: { pid }, settled, state }, { of, existing }) {
    const imports = yield* ImportStore;
    const previewUndo = yield* makeUndoPreview;
    const before = yield* state;
    const at = yield* Clock.currentTimeMillis;
    const write = { ...operator, pid, at };
    const file = { id: "file", name: "users.csv", isUndoable: true };
    const lines = of.map((who) => ({ chatId: chatId(who), gameId: gameId("3"), lastVerifiedAt: at }));
    yield* imports.importBatch({ ...write, file, links: lines, existing, proof: "import", progress: null });
    yield* settled;
    const imported = yield* state;
    const promised = yield* previewUndo({ id: file.id, pid, importedAt: at });
    const { removed, restored } = yield* imports.undo({ ...write, id: file.id, limit: 100 });
    yield* settled;
    const after = yield* state;
    assert.deepInclude(promised, { removed, restored });
    const losing = imported.filter(({ roles }, index) =>
      roles.some((role) => after[index]?.roles.includes(role) === false),
    );
    assert.strictEqual(
      promised.lost.reduce((sum, { members: who }) => sum + who.length, 0),
      losing.length,
    );
    assert.deepEqual(yield* state, before);
  },
);

law(
  "rules change as many roles and nicknames as their preview counts, and what they took comes back",
  rules,
  function* ({ guild, plans, preview, put, settled, state }, settings) {
    const before = yield* state;
    const read = yield* preview({ ...settings, state: "on" });
    yield* settled;
    const { roles: promised, nicknames } = shownPreview(yield* read);
    const since = yield* Clock.currentTimeMillis;
    yield* put({ ...settings, state: "on" });
    yield* settled;
    const after = yield* state;
    const differs = (roleId: string, one: typeof before, other: typeof before) =>
      one.filter(
        ({ roles }, index) => roles.includes(roleId) && other[index]?.roles.includes(roleId) === false,
      ).length;
    assert.deepEqual(
      promised.map(({ roleId, gained, lost }) => ({ roleId, gained, lost })),
      promised.map(({ roleId }) => ({
        roleId,
        gained: differs(roleId, after, before),
        lost: differs(roleId, before, after),
      })),
    );
    const renamed = before.filter(({ nickname }, index) => nickname !== after[index]?.nickname);
    assert.lengthOf(renamed, nicknames);
    yield* plans.putRolesBack(guild, since, operator);
    yield* settled;
    const back = yield* state;
    assert.deepEqual(
      [verified, guest].map((roleId) => differs(roleId, before, back)),
      [0, 0],
    );
  },
);
