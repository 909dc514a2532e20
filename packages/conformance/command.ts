/**
 * Commands as data: what can be asked of a store, made at random, and run against one. They name chat users, games and
 * keys of a small world, so that commands meet each other.
 */
import type { ApiKey, ChatId, GameId, KeyStatus, Millis, PortableLink } from "@accountlink/core";
import * as FastCheck from "fast-check";
import {
  sweepCommand,
  type VerificationCommand,
  verificationCommand,
  verificationWalk,
} from "./verification_command.ts";
import { ada, bob, chess, cyd, poker } from "./world.ts";

/** Which of the two scopes of a world. */
export type ScopeName = "global" | "guild";

/** What can be asked about links. */
export type LinkCommand = { readonly scope: ScopeName } & (
  | { readonly op: "findByChatId"; readonly chatId: ChatId }
  | { readonly op: "findByChatIds"; readonly chatIds: ReadonlyArray<ChatId> }
  | { readonly op: "findByGameIds"; readonly gameIds: ReadonlyArray<GameId> }
  | { readonly op: "setGame"; readonly chatId: ChatId; readonly gameId: GameId; readonly at: Millis }
  | { readonly op: "moveChat"; readonly oldChatId: ChatId; readonly newChatId: ChatId; readonly at: Millis }
  | { readonly op: "removeGame"; readonly chatId: ChatId; readonly at: Millis }
  | { readonly op: "deleteScope"; readonly at: Millis }
  | {
      readonly op: "importBatch";
      readonly links: ReadonlyArray<PortableLink>;
      readonly existing: "keep" | "replace";
      readonly position: number | null;
      readonly at: Millis;
    }
  | { readonly op: "exportPage"; readonly after: ChatId | null; readonly limit: number }
);

/** What can be asked about keys. `key` and `hash` are numbers of the world's keys and hashes. */
export type KeyCommand =
  | { readonly op: "findByHash"; readonly hash: number }
  | { readonly op: "findById"; readonly key: number }
  | { readonly op: "listKeys" }
  | {
      readonly op: "insertKey";
      readonly scope: ScopeName;
      readonly key: number;
      readonly hash: number;
      readonly parts: Pick<ApiKey, "name" | "status" | "expiresAt" | "createdAt">;
      readonly maxKeys: number | null;
    }
  | {
      readonly op: "rotateKey";
      readonly key: number;
      readonly hash: number;
      readonly at: Millis;
      readonly previousUntil: Millis;
    }
  | { readonly op: "setKeyStatus"; readonly key: number; readonly status: KeyStatus; readonly at: Millis };

export type Command = LinkCommand | KeyCommand | VerificationCommand;

/** How many keys and hashes the commands name. */
export const keyCount = 3;
export const hashCount = 5;

const { array, constant, constantFrom, nat, oneof, option, record } = FastCheck;

const scope = constantFrom<ScopeName>("global", "guild");
const chatId = constantFrom(ada, bob, cyd);
const gameId = constantFrom(chess, poker);
// Few times, so that ties are common.
const at = nat(3);

const link: FastCheck.Arbitrary<PortableLink> = record({ chatId, gameId, lastVerifiedAt: at });

const read: FastCheck.Arbitrary<LinkCommand> = oneof(
  record({ op: constant("findByChatId"), scope, chatId }),
  record({ op: constant("findByChatIds"), scope, chatIds: array(chatId, { maxLength: 4 }) }),
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
    weight: 1,
    arbitrary: record({
      op: constant("importBatch"),
      scope,
      links: array(link, { maxLength: 4 }),
      existing: constantFrom("keep", "replace"),
      position: option(nat(9)),
      at,
    }),
  },
);

/** A random command about links: a write, or less often a read. */
export const linkCommand: FastCheck.Arbitrary<LinkCommand> = oneof(
  { weight: 3, arbitrary: write },
  { weight: 1, arbitrary: read },
);

const key = nat(keyCount - 1);
const hash = nat(hashCount - 1);
const status = constantFrom<KeyStatus>("active", "disabled", "revoked");
const keyParts = record({ name: constantFrom("one", "two"), status, expiresAt: option(at), createdAt: at });

// Sometimes for a key that does not count, or in an account that may have any number.
const maxKeys = oneof(nat(3), constantFrom(null, Infinity));

/** A random command about keys. */
export const keyCommand: FastCheck.Arbitrary<KeyCommand> = oneof(
  record({ op: constant("insertKey"), scope, key, hash, parts: keyParts, maxKeys }),
  record({ op: constant("rotateKey"), key, hash, at, previousUntil: at }),
  record({ op: constant("setKeyStatus"), key, status, at }),
  record({ op: constant("findByHash"), hash }),
  record({ op: constant("findById"), key }),
  record({ op: constant("listKeys") }),
);

/** A random command of any kind. */
export const anyCommand: FastCheck.Arbitrary<Command> = oneof(
  { weight: 3, arbitrary: linkCommand },
  { weight: 2, arbitrary: keyCommand },
  { weight: 4, arbitrary: verificationCommand },
);

/** Random commands, one after the other. */
export const commandsInOrder = (maxLength: number): FastCheck.Arbitrary<ReadonlyArray<Command>> =>
  array(
    oneof(
      { weight: 12, arbitrary: anyCommand.map((command): ReadonlyArray<Command> => [command]) },
      { weight: 3, arbitrary: verificationWalk },
      { weight: 1, arbitrary: sweepCommand.map((command) => [command]) },
    ),
    { maxLength, size: "max" },
  ).map((commands) => commands.flat());
