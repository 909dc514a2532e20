/**
 * Random commands for a store, as data. They choose from few chat users, games, keys and scopes, so that one command
 * often affects another.
 */
import type { ApiKey, ChatId, GameId } from "@accountlink/core";
import type {
  AccountStatus,
  KeyAccess,
  KeyStatus,
  KeyUpdate,
  Tier,
  UpdateAccount,
} from "@accountlink/core/keys";
import type { KeyKind } from "@accountlink/core/limits";
import type { PortableLink } from "@accountlink/core/links";
import type { Millis } from "@accountlink/core/timestamp";
import * as FastCheck from "fast-check";
import { ada, bob, chess, dan, poker, type ScopeName } from "../scopes.ts";
import {
  challengeWalk,
  sweepCommand,
  type VerificationCommand,
  verificationCommand,
  verificationWalk,
} from "./verification_command.ts";

export type LinkCommand = { readonly scope: ScopeName } & (
  | { readonly op: "findByChatId"; readonly chatId: ChatId }
  | { readonly op: "findByChatIds"; readonly chatIds: ReadonlyArray<ChatId> }
  | { readonly op: "findGamesByChatIds"; readonly chatIds: ReadonlyArray<ChatId> }
  | { readonly op: "findByGameIds"; readonly gameIds: ReadonlyArray<GameId> }
  | { readonly op: "setGame"; readonly chatId: ChatId; readonly gameId: GameId; readonly at: Millis }
  | { readonly op: "moveChat"; readonly oldChatId: ChatId; readonly newChatId: ChatId; readonly at: Millis }
  | { readonly op: "removeGame"; readonly chatId: ChatId; readonly at: Millis }
  | { readonly op: "deleteScope"; readonly at: Millis }
  | {
      readonly op: "importBatch";
      readonly links: ReadonlyArray<PortableLink>;
      readonly existing: "keep" | "replace" | "newest";
      readonly position: number | null;
      readonly at: Millis;
    }
  | { readonly op: "exportPage"; readonly after: ChatId | null; readonly limit: number }
);

/** `key` is an index into `keyIds`, and `hash` an index into `hashes`. */
export type KeyCommand =
  | { readonly op: "findByHash"; readonly hash: number }
  | { readonly op: "findById"; readonly key: number }
  | { readonly op: "findDetails"; readonly key: number; readonly at: Millis }
  | { readonly op: "listKeys"; readonly at: Millis }
  | {
      readonly op: "insertKey";
      readonly scope: ScopeName;
      readonly key: number;
      readonly hash: number;
      readonly parts: Pick<ApiKey, "name" | "tier" | "kind" | "status" | "expiresAt" | "createdAt">;
      readonly maxKeys: number | null;
    }
  | {
      readonly op: "rotateKey";
      readonly key: number;
      readonly hash: number;
      readonly at: Millis;
      readonly previousUntil: Millis;
    }
  | { readonly op: "updateKey"; readonly key: number; readonly update: KeyUpdate; readonly at: Millis }
  | { readonly op: "updateAccount"; readonly update: UpdateAccount["update"]; readonly at: Millis };

export type Command = LinkCommand | KeyCommand | VerificationCommand;

export const keyCount = 3;
export const hashCount = 8;

const { array, constant, constantFrom, nat, oneof, option, record } = FastCheck;

const scope = constantFrom<ScopeName>("global", "guild");
const chatId = constantFrom(ada, bob, dan);
const gameId = constantFrom(chess, poker);
// Few distinct times, so that many commands have the same time.
const at = nat(3);

const link: FastCheck.Arbitrary<PortableLink> = record({ chatId, gameId, lastVerifiedAt: at });

const read: FastCheck.Arbitrary<LinkCommand> = oneof(
  record({ op: constant("findByChatId"), scope, chatId }),
  record({ op: constant("findByChatIds"), scope, chatIds: array(chatId, { maxLength: 4 }) }),
  record({ op: constant("findGamesByChatIds"), scope, chatIds: array(chatId, { maxLength: 4 }) }),
  record({ op: constant("findByGameIds"), scope, gameIds: array(gameId, { maxLength: 3 }) }),
  record({ op: constant("exportPage"), scope, after: option(chatId), limit: constantFrom(1, 2, 10) }),
);

const write: FastCheck.Arbitrary<LinkCommand> = oneof(
  { weight: 4, arbitrary: record({ op: constant("setGame"), scope, chatId, gameId, at }) },
  {
    weight: 3,
    arbitrary: record({ op: constant("moveChat"), scope, oldChatId: chatId, newChatId: chatId, at }),
  },
  { weight: 2, arbitrary: record({ op: constant("removeGame"), scope, chatId, at }) },
  { weight: 1, arbitrary: record({ op: constant("deleteScope"), scope, at }) },
  {
    weight: 3,
    arbitrary: record({
      op: constant("importBatch"),
      scope,
      links: array(link, { maxLength: 4 }),
      existing: constantFrom("keep", "replace", "newest"),
      // One position has more than 32 bits.
      position: option(constantFrom(3, 7, 2 ** 40)),
      at,
    }),
  },
);

/** Mostly writes. */
export const linkCommand: FastCheck.Arbitrary<LinkCommand> = oneof(
  { weight: 2, arbitrary: write },
  { weight: 1, arbitrary: read },
);

const key = nat(keyCount - 1);
const hash = nat(hashCount - 1);
const status = constantFrom<KeyStatus>("active", "disabled", "revoked");
const tier = constantFrom<Tier>("free", "premium");
const kind = constantFrom<KeyKind>("normal", "partner");
const keyParts = record({
  name: constantFrom("one", "two"),
  tier,
  kind,
  status,
  expiresAt: option(at),
  createdAt: at,
});

const keyUpdate: FastCheck.Arbitrary<KeyUpdate> = record(
  {
    name: constantFrom("one", "two"),
    tier,
    kind,
    access: constantFrom<KeyAccess>("full", "read"),
    limits: constantFrom<ApiKey["limits"]>({}, "none", { perWindow: 3, daily: 0 }),
    allowIps: constantFrom([], ["203.0.113.7"]),
    denyIps: constantFrom([], ["2001:db8::/32"]),
    redirectOrigins: constantFrom([], ["https://example.com"]),
    expiresAt: option(at),
    status,
  },
  { requiredKeys: [] },
);

const accountUpdate: FastCheck.Arbitrary<UpdateAccount["update"]> = oneof(
  record({ tier }),
  record({ status: constantFrom<AccountStatus>("active", "suspended") }),
);

// Null and Infinity set no maximum.
const maxKeys = oneof(nat(3), constantFrom(null, Infinity));

export const keyCommand: FastCheck.Arbitrary<KeyCommand> = oneof(
  { weight: 2, arbitrary: record({ op: constant("insertKey"), scope, key, hash, parts: keyParts, maxKeys }) },
  { weight: 3, arbitrary: record({ op: constant("rotateKey"), key, hash, at, previousUntil: at }) },
  { weight: 1, arbitrary: record({ op: constant("updateKey"), key, update: keyUpdate, at }) },
  { weight: 1, arbitrary: record({ op: constant("updateAccount"), update: accountUpdate, at }) },
  { weight: 1, arbitrary: record({ op: constant("findByHash"), hash }) },
  { weight: 1, arbitrary: record({ op: constant("findById"), key }) },
  { weight: 1, arbitrary: record({ op: constant("findDetails"), key, at }) },
  { weight: 1, arbitrary: record({ op: constant("listKeys"), at }) },
);

export const anyCommand: FastCheck.Arbitrary<Command> = oneof(
  { weight: 3, arbitrary: linkCommand },
  { weight: 3, arbitrary: keyCommand },
  { weight: 4, arbitrary: verificationCommand },
);

export const commandsInOrder = (maxLength: number): FastCheck.Arbitrary<ReadonlyArray<Command>> =>
  array(
    oneof(
      { weight: 12, arbitrary: anyCommand.map((command): ReadonlyArray<Command> => [command]) },
      { weight: 3, arbitrary: verificationWalk },
      { weight: 1, arbitrary: challengeWalk },
      { weight: 1, arbitrary: sweepCommand.map((command) => [command]) },
    ),
    { maxLength, size: "max" },
  ).map((commands) => commands.flat());
