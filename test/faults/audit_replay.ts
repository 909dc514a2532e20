/**
 * The audit log as the account of everything that happened: played from the start, it has to give what is stored.
 */
import { AuditLog } from "@accountlink/core";
import type { AuditEntry } from "@accountlink/core/audit";
import { Effect, type Layer } from "effect";

/** What is known of a chat user: the game link, and how often it changed. */
export interface Replayed {
  readonly gameId: string | null;
  readonly version: number;
}

/** The state after all entries so far, by chat user. */
export type Replay = Map<string, Replayed>;

const unheardOf: Replayed = { gameId: null, version: 0 };

/** The state of a chat user. */
export const stateOf = (replay: Replay, chatId: string): Replayed => replay.get(chatId) ?? unheardOf;

/** Plays one entry. Throws when it replaced something else than what was there. */
export const play = (replay: Replay, { action, details, sequence }: AuditEntry): void => {
  const idAt = (name: string): string | null => {
    const value = details[name] ?? null;
    if (typeof value === "number") throw new Error(`Cannot go on at entry ${sequence}: "${name}" is no text`);
    return value;
  };
  const replace = (chat: string, from: string | null, to: string | null) => {
    const chatId = idAt(chat) ?? "";
    const { gameId, version } = stateOf(replay, chatId);
    if (gameId !== from) {
      throw new Error(
        `Cannot go on at entry ${sequence}: it replaced the game user "${from}" of chat user "${chatId}", expected "${gameId}"`,
      );
    }
    replay.set(chatId, { gameId: to, version: version + 1 });
  };
  switch (action) {
    case "link.set":
      return replace("chatId", idAt("previousGameId"), idAt("gameId"));
    case "link.removed":
      return replace("chatId", idAt("removedGameId"), null);
    case "link.moved":
      replace("chatId", idAt("gameId"), null);
      return replace("newChatId", null, idAt("gameId"));
    default:
      throw new Error(`Cannot go on at entry ${sequence}: nobody asked for "${action}"`);
  }
};

const pageSize = 500;

/**
 * The entries of an account after a sequence, oldest first, read beside the servers.
 *
 * @param stores those that the servers use
 */
export const entriesAfter = (
  stores: Layer.Layer<AuditLog, unknown>,
  account: string,
  sequence: number,
): Promise<ReadonlyArray<AuditEntry>> =>
  Effect.gen(function* () {
    const log = yield* AuditLog;
    const found: Array<AuditEntry> = [];
    for (;;) {
      const page = yield* log.list(account, found.at(-1)?.sequence ?? null, pageSize);
      const wanted = page.filter((entry) => entry.sequence > sequence);
      found.push(...wanted);
      if (wanted.length < pageSize) return found.toReversed();
    }
  }).pipe(Effect.provide(stores), Effect.runPromise);
