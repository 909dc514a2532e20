import type { ChatId, DataScope, GameId, Link } from "@accountlink/core";
import { noSettings, type ScopeSettings } from "@accountlink/core/keys";
import { isLinked, type LinkRecord } from "@accountlink/core/links";
import { getOrInsert } from "../get_or_insert.ts";

/** The link records of a scope, by chat user and by game user. */
export class ScopeLinks {
  scope: DataScope;
  settings: ScopeSettings = noSettings;
  readonly #records = new Map<ChatId, LinkRecord>();
  readonly #byGame = new Map<GameId, Map<ChatId, Link>>();
  /** All chat IDs, sorted. An insert sets this to null, and the next use sorts the IDs again. */
  #sortedIds: ReadonlyArray<ChatId> | null = null;

  constructor(scope: DataScope) {
    this.scope = scope;
  }

  /** The number of link records, including those whose link was removed. */
  get size(): number {
    return this.#records.size;
  }

  get links(): ReadonlyArray<Link> {
    return [...this.#records.values()].filter(isLinked);
  }

  find(chatId: ChatId): LinkRecord | undefined {
    return this.#records.get(chatId);
  }

  /** The links to a game user. */
  linksTo(gameId: GameId): ReadonlyArray<Link> {
    return [...(this.#byGame.get(gameId)?.values() ?? [])];
  }

  /** Up to `limit` links whose chat IDs come after `after`, sorted by chat ID. */
  linksAfter(after: ChatId | null, limit: number): ReadonlyArray<Link> {
    this.#sortedIds ??= [...this.#records.keys()].toSorted();
    const ids = this.#sortedIds;
    const links: Array<Link> = [];
    const start = after === null ? 0 : ids.findIndex((id) => id > after);
    for (let i = start; i >= 0 && i < ids.length && links.length < limit; i++) {
      const record = this.#records.get(ids[i] as ChatId) as LinkRecord;
      if (isLinked(record)) links.push(record);
    }
    return links;
  }

  put(record: LinkRecord): void {
    const { chatId } = record;
    if (this.#records.has(chatId)) this.#unlink(chatId);
    else this.#sortedIds = null;
    this.#records.set(chatId, record);
    if (isLinked(record)) getOrInsert(this.#byGame, record.gameId, () => new Map()).set(chatId, record);
  }

  remove(chatId: ChatId): void {
    this.#unlink(chatId);
    this.#records.delete(chatId);
    this.#sortedIds = null;
  }

  clear(): void {
    this.#records.clear();
    this.#byGame.clear();
    this.#sortedIds = null;
  }

  #unlink(chatId: ChatId): void {
    const gameId = this.#records.get(chatId)?.gameId ?? null;
    if (gameId === null) return;
    const linked = this.#byGame.get(gameId);
    linked?.delete(chatId);
    if (linked?.size === 0) this.#byGame.delete(gameId);
  }
}
