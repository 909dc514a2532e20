/** Tests the stores on a database that something else has changed: damaged rows are refused, refused writes undone. */
import { ChatId, GameId } from "@accountlink/core";
import {
  type Command,
  newSubjects,
  runCommand,
  storeSubjects,
} from "@accountlink/testing/conformance/commands";
import { Effect } from "effect";
import { expect } from "vitest";
import { refuseWritesTo, Tampering, test } from "./test_tampering.ts";

const [chatId, newChatId, gameId, newGameId] = [
  ChatId.make("10001"),
  ChatId.make("10002"),
  GameId.make("1"),
  GameId.make("2"),
];
const write = { scope: "global", at: 1 } as const;

const insertKey: Command = {
  op: "KeyStore.insertKey",
  ...write,
  key: 0,
  hash: 0,
  parts: { name: "one", tier: "free", kind: "normal", status: "active", expiresAt: null },
  maxKeys: null,
};
const set: Command = { op: "LinkStore.setGame", ...write, chatId, gameId };
const remove: Command = { op: "LinkStore.removeGame", ...write, chatId };
const deleteScope: Command = { op: "LinkStore.deleteScope", ...write, keepsBlocks: false };
const session: Command = {
  op: "SessionStore.create",
  scope: "global",
  session: 0,
  chatId: null,
  gameId: null,
  isLimited: true,
  code: null,
  at: 0,
};
const begin: Command = { op: "FlowStore.begin", flow: 0, session: 0, scope: "global" };
const step = { op: "FlowStore.prove", flow: 0, nextFlow: 0, at: 0 } as const;
const proveGame: Command = { ...step, proof: { step: "game", game: { gameId, gameProof: "oauth" } } };
const proven = [session, begin, { ...step, proof: { step: "chat", chatId } }, proveGame] as const;
const findFlow: Command = { op: "FlowStore.find", flow: 0, at: 0 };

/** Runs commands after some others, and then something between them. Returns the answers of the last ones. */
const runAfter = Effect.fnUntraced(function* (before: ReadonlyArray<Command>, tamper: () => void) {
  const subjects = newSubjects();
  yield* storeSubjects(subjects);
  for (const command of before) yield* runCommand(subjects, command);
  tamper();
  return (command: Command) => runCommand(subjects, command);
});

const texts = ["'one'", "''", "CAST(x'31ff' AS TEXT)", "'1' || char(0)", "'\u0661'"];
const ofText = (column: string) => texts.map((text) => `${column} = ${text}`);

test.each<
  readonly [
    damages: ReadonlyArray<string>,
    table: string,
    before: ReadonlyArray<Command>,
    uses: ReadonlyArray<Command>,
  ]
>([
  [
    ofText("game_id"),
    "links",
    [set],
    [
      { op: "LinkStore.findByChatId", scope: "global", chatId },
      { op: "LinkStore.findByChatIds", scope: "global", chatIds: [chatId] },
      { op: "LinkStore.findGamesByChatIds", scope: "global", chatIds: [chatId] },
      { op: "LinkStore.exportPage", scope: "global", after: null, limit: 10 },
      remove,
      set,
    ],
  ],
  [
    ofText("chat_id"),
    "links",
    [set],
    [{ op: "LinkStore.findByGameIds", scope: "global", gameIds: [gameId] }],
  ],
  [
    [
      "tier = 'gold'",
      "status = ''",
      "access = 'all'",
      "limits = '{\"daily\":'",
      'limits = \'{"daily":"5"}\'',
      "limits = '\"some\"'",
      "allow_ips = '[203]'",
      "redirect_origins = 'null'",
      "deny_ips = CAST(x'ff' AS TEXT)",
    ],
    "keys",
    [insertKey],
    [
      { op: "KeyStore.findById", key: 0 },
      { op: "KeyStore.findByHash", hash: 0 },
      { op: "KeyStore.listKeys", at: 1, some: "all" },
    ],
  ],
  [
    [
      "state = ''",
      "state = 'open'",
      "error = 'broken'",
      "chat_id = 'ada'",
      "game_id = '-1'",
      "link_changed = 2",
    ],
    "verification_sessions",
    [session],
    [
      { op: "SessionStore.find", session: 0 },
      { op: "SessionStore.advance", session: 0, to: "opened", at: 1 },
    ],
  ],
  [["chat_id = 'ada'", "sid = 'vs_'", "guild_id = '1'"], "verification_flows", proven, [findFlow, proveGame]],
  [["game_id = ''"], "verification_flows", proven, [findFlow]],
  [
    ["step = 'both'"],
    "sign_ins",
    [...proven, { op: "FlowStore.challenge", flow: 0, challenge: 0, expiresAt: 9 }],
    [{ op: "FlowStore.takeChallenge", flow: 0, challenge: 0, at: 1 }],
  ],
  [
    ["chat_id = 'ada'", "guilds = '[{}]'", "guilds = '['"],
    "site_sign_ins",
    [
      {
        op: "SignInStore.create",
        signIn: 0,
        person: 0,
        site: "dashboard",
        of: false,
        at: 0,
        expiresAt: 9,
        replaced: null,
      },
    ],
    [{ op: "SignInStore.find", signIn: 0, site: "dashboard", at: 0 }],
  ],
])("a row is refused when it has one of %j, in %s", function* ([damages, table, before, uses]) {
  const { tamper } = yield* Tampering;
  for (const damage of damages) {
    const run = yield* runAfter(before, () => tamper(`UPDATE ${table} SET ${damage}`));
    for (const use of uses) {
      const error = yield* Effect.flip(run(use));
      expect([damage, error]).toMatchObject([
        damage,
        { _tag: "StoreUnavailable", operation: use.op, cause: { _tag: "UnreadableRow" } },
      ]);
      // The message must not repeat the damaged value, which may be an address.
      expect(JSON.stringify(error)).not.toContain("203");
    }
  }
});

const line = { chatId, gameId: newGameId, lastVerifiedAt: 9 };
const importBatch: Command = {
  op: "ImportStore.importBatch",
  ...write,
  lines: [line, { ...line, chatId: newChatId }],
  existing: "replace",
  proof: "import",
  position: 3,
  file: null,
};
const complete: Command = {
  op: "SessionStore.complete",
  ...write,
  flow: 0,
  chatId,
  gameId,
  gameProof: "oauth",
  keeps: false,
  moves: false,
};

const toLog = refuseWritesTo("journal");
const toSessions = refuseWritesTo("verification_sessions", "UPDATE");

test.each<readonly [attempt: Command, before: ReadonlyArray<Command>, refusal: string]>([
  [{ ...insertKey, key: 1, hash: 1 }, [insertKey], toLog],
  [{ op: "KeyStore.rotateKey", key: 0, hash: 1, at: 2, previousUntil: 3 }, [insertKey], toLog],
  [{ op: "KeyStore.updateKey", key: 0, update: { access: "read" }, at: 2 }, [insertKey], toLog],
  [{ ...set, gameId: newGameId }, [set], toLog],
  [{ op: "LinkStore.moveChat", ...write, oldChatId: chatId, newChatId }, [set], toLog],
  [remove, [set], toLog],
  [deleteScope, [set], toLog],
  [importBatch, [set], toLog],
  // The key of the session may create it again, since a failed creation does not count.
  [session, [], refuseWritesTo("verification_sessions")],
  [complete, proven, toSessions],
  [remove, [set, ...proven], toSessions],
  [deleteScope, [set, ...proven], toSessions],
])("a write rolls back if its last statement fails: %j", function* ([attempt, before, refusal]) {
  const { tamper, look } = yield* Tampering;
  const run = yield* runAfter(before, () => tamper(refusal));
  const stored = () =>
    look("SELECT name FROM sqlite_schema WHERE type = 'table'").map(({ name }) => [
      name,
      look(`SELECT * FROM ${String(name)}`),
    ]);
  const whole = stored();
  expect(yield* run(attempt)).toBe("refused");
  expect(stored()).toEqual(whole);
});
