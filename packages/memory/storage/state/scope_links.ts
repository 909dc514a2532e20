import type { ChatId, DataScope, GameId, Link } from "@accountlink/core";
import { noSettings, type ScopeSettings } from "@accountlink/core/keys";
import {
  type DayRange,
  isLinked,
  type LinkRecord,
  maxChatsOfGame,
  type NewestPosition,
  type PageDirection,
} from "@accountlink/core/links";
import { dayMs, type Millis, startOfDay } from "@accountlink/core/timestamp";
import { getOrInsert } from "./get_or_insert.ts";
import { countFirst, NewestOrder, type Place } from "./newest_order.ts";

/** The link records of a scope, by chat user and by game user. */
export class ScopeLinks {
  scope: DataScope;
  settings: ScopeSettings = noSettings;
  #links = 0;
  readonly #verified = new NewestOrder();
  /** The number of links last verified on each UTC day, by the start of the day. */
  readonly #verifiedOn = new Map<Millis, number>();
  readonly #records = new Map<ChatId, LinkRecord>();
  readonly #byGame = new Map<GameId, { links: number; readonly order: NewestOrder }>();
  /** All chat IDs, sorted. An insert sets this to null, and the next use sorts the IDs again. */
  #sortedIds: ReadonlyArray<ChatId> | null = null;

  constructor(scope: DataScope) {
    this.scope = scope;
  }

  /** The number of link records, including those whose link was removed. */
  get size(): number {
    return this.#records.size;
  }

  get links(): number {
    return this.#links;
  }

  /** The number of links last verified in a range of days. */
  verifiedIn({ from, before }: DayRange): number {
    let links = 0;
    for (let day = from; day < before; day += dayMs) links += this.#verifiedOn.get(day) ?? 0;
    return links;
  }

  /**
   * Returns up to `limit` links, latest verification first: links older than `from`, or newer ones if the direction is
   * "newer". If `from` is null, returns the newest links.
   */
  newest(from: NewestPosition | null, limit: number, direction?: PageDirection): ReadonlyArray<Link> {
    const place = from === null ? null : { chatId: from.chatId, at: from.lastVerifiedAt };
    return place !== null && direction === "newer"
      ? this.#verified.before(place, limit, this.#verifiedAt)
      : this.#verified.after(place, limit, this.#verifiedAt);
  }

  readonly #verifiedAt = ({ chatId, at }: Place): Link | undefined => {
    const record = this.#records.get(chatId);
    return record?.lastVerifiedAt === at && isLinked(record) ? record : undefined;
  };

  find(chatId: ChatId): LinkRecord | undefined {
    return this.#records.get(chatId);
  }

  /** The first `maxChatsOfGame` chat users linked to a game user, newest link first, then by chat ID. */
  chatsOf(gameId: GameId): ReadonlyArray<ChatId> {
    return this.#byGame.get(gameId)?.order.after(null, maxChatsOfGame, this.#linkedTo(gameId)) ?? [];
  }

  #linkedTo(gameId: GameId) {
    return ({ chatId, at }: Place): ChatId | undefined => {
      const record = this.#records.get(chatId);
      return record?.gameId === gameId && record.linkedAt === at ? chatId : undefined;
    };
  }

  /** Up to `limit` links whose chat IDs come after `after`, sorted by chat ID. */
  linksAfter(after: ChatId | null, limit: number): ReadonlyArray<Link> {
    this.#sortedIds ??= [...this.#records.keys()].toSorted();
    const ids = this.#sortedIds;
    const links: Array<Link> = [];
    for (
      let i = after === null ? 0 : countFirst(ids, (id) => id <= after);
      i < ids.length && links.length < limit;
      i++
    ) {
      const record = this.#records.get(ids[i] as ChatId) as LinkRecord;
      if (isLinked(record)) links.push(record);
    }
    return links;
  }

  put(record: LinkRecord): void {
    const replaced = this.#records.get(record.chatId);
    if (replaced === undefined) this.#sortedIds = null;
    else this.#unindex(replaced);
    this.#records.set(record.chatId, record);
    this.#index(record);
  }

  remove(chatId: ChatId): void {
    const removed = this.#records.get(chatId);
    if (removed === undefined) return;
    this.#unindex(removed);
    this.#records.delete(chatId);
    this.#sortedIds = null;
  }

  clear(): void {
    this.#records.clear();
    this.#byGame.clear();
    this.#verified.clear();
    this.#verifiedOn.clear();
    this.#links = 0;
    this.#sortedIds = null;
  }

  #index(record: LinkRecord): void {
    if (!isLinked(record)) return;
    this.#count(record, 1);
    const { chatId, gameId, lastVerifiedAt, linkedAt } = record;
    this.#verified.add({ chatId, at: lastVerifiedAt });
    this.#verified.compact(this.#links, this.#verifiedAt);
    const linked = getOrInsert(this.#byGame, gameId, () => ({ links: 0, order: new NewestOrder() }));
    linked.links++;
    linked.order.add({ chatId, at: linkedAt });
    linked.order.compact(linked.links, this.#linkedTo(gameId));
  }

  #unindex(record: LinkRecord): void {
    if (record.gameId === null) return;
    this.#count(record, -1);
    const linked = this.#byGame.get(record.gameId);
    if (linked !== undefined && --linked.links === 0) this.#byGame.delete(record.gameId);
  }

  #count(record: LinkRecord, more: 1 | -1): void {
    this.#links += more;
    const day = startOfDay(record.lastVerifiedAt);
    const links = (this.#verifiedOn.get(day) ?? 0) + more;
    if (links === 0) this.#verifiedOn.delete(day);
    else this.#verifiedOn.set(day, links);
  }
}
